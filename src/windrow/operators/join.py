"""W-Join of two streams of changes: a symmetric hash join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import valid
from windrow.operators.changes import Changes
from windrow.operators.join_side import JoinSide
from windrow.operators.operator import Evaluate
from windrow.operators.pairs import matches
from windrow.operators.row_table import RowTable
from windrow.operators.row_wise import true_rows
from windrow.plan.nodes.changes import Join
from windrow.storage.blocks import Blocks, Snapshot


class JoinRows:
    """Pairs new rows of either side with those of the other side that are there.

    Hammad et al. (2003), section 4.4: a pair has the smaller minTS and the larger maxTS, and ends with the first of
    both to end. Expired rows are only passed over and forgotten: no pair follows from them. A `-` is paired as its `+`
    was, and takes those pairs away.
    """

    def __init__(
        self, node: Join, evaluate: Evaluate, family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        snapshot = snapshot or {"keys": None, "sides": [None, None]}
        self._node, self._evaluate = node, evaluate
        inputs = (node.left, node.right)
        names = [[left for left, _ in node.on], [right for _, right in node.on]]
        self._places = [[side.names.index(name) for name in asked] for side, asked in zip(inputs, names)]
        types = [node.left.columns[place].type for place in self._places[0]]
        self._keys = RowTable(types, (), f"{family}.keys", blocks, snapshot["keys"])
        self._sides = [
            JoinSide([column.type for column in side.columns], f"{family}.{name}", blocks, kept)
            for side, name, kept in zip(inputs, ("left", "right"), snapshot["sides"])
        ]

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + sum(side.nbytes for side in self._sides)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        keyed = [self._keyed(changes, places) for changes, places in zip(inputs, self._places)]
        (left, left_keys), (right, right_keys) = keyed
        parts = []
        rows, entries = self._sides[1].partners(left_keys, left)
        parts.append((left.take(rows), self._sides[1].at(entries)))
        rows, entries = self._sides[0].partners(right_keys, right)
        parts.append((self._sides[0].at(entries), right.take(rows)))
        rows, others = matches(left_keys, right_keys)
        if len(rows):
            parts.append((left.take(rows), right.take(others)))
        for side, (changes, keys) in zip(self._sides, keyed):
            side.add(keys, changes)
        joined = self._joined(parts)
        self._sweep(clock)
        return joined

    def save(self, version: int) -> None:
        self._keys.save(version)
        for side in self._sides:
            side.save(version)

    def snapshot(self) -> Snapshot:
        return {"keys": self._keys.snapshot(), "sides": [side.snapshot() for side in self._sides]}

    def _keyed(self, changes: Changes, places: list[int]) -> tuple[Changes, np.ndarray]:
        """The changes whose key has no NULL, and the number of each key."""
        for place in places:
            known = valid(changes.columns[place])
            if known is not None:
                changes = changes.keep(known)
        columns = [changes.columns[place] for place in places]
        return changes, self._keys.slots_of(columns, len(changes))

    def _joined(self, parts: list[tuple[Changes, Changes]]) -> Changes:
        sides = [_concatenated([part[i] for part in parts]) for i in (0, 1)]
        left, right = sides
        pairs = Changes(
            np.maximum(left.times, right.times),
            np.minimum(left.since, right.since),
            np.minimum(left.until, right.until),
            left.weights * right.weights,
            left.columns + right.columns,
        )
        met = pairs.times < pairs.until
        pairs = pairs.keep(met) if len(pairs) else pairs
        if self._node.residual is not None and len(pairs):
            pairs = pairs.keep(true_rows(self._evaluate(self._node.residual, pairs.batch(self._node.names))))
        return pairs.in_order()

    def _sweep(self, clock: int) -> None:
        for side in self._sides:
            side.sweep(clock)
        if self._keys.crowded:
            width = len(self._keys)
            used = self._sides[0].used_keys(width) | self._sides[1].used_keys(width)
            kept = self._keys.sweep(used)
            if kept is not None:
                numbers = np.full(width, -1)
                numbers[kept] = np.arange(len(kept))
                for side in self._sides:
                    side.renumber(numbers)


def _concatenated(parts: list[Changes]) -> Changes:
    """All rows of `parts` in order; unlike `joined`, both sides of a pair must stay as long as they are."""
    if len(parts) == 1:
        return parts[0]
    columns = [pa.concat_arrays([part.columns[i] for part in parts]) for i in range(len(parts[0].columns))]
    return Changes(
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.since for part in parts]),
        np.concatenate([part.until for part in parts]),
        np.concatenate([part.weights for part in parts]),
        tuple(columns),
    )
