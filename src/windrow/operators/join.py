"""W-Join of two streams of changes: a symmetric hash join; without an equality, all rows of one side with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from windrow.errors import MemoryLimitError
from windrow.kernels.columns import valid
from windrow.operators.changes import Changes, joined, nothing
from windrow.operators.join_side import JoinSide, Waiting
from windrow.operators.operator import Evaluate
from windrow.operators.pairs import matches
from windrow.operators.repository import range_of
from windrow.operators.row_table import RowTable
from windrow.operators.row_wise import true_rows
from windrow.operators.taken_back import taken_back
from windrow.plan.nodes.joins import MOST_ROWS, Join
from windrow.storage.blocks import Blocks, Snapshot

PAIRS = 1 << 20
"""About so many pairs are looked at together, so that a join of all with all takes no more memory than one of few."""

FAR = 2**62
"""Further apart than any two instants."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Changes of one side that may meet others, the number of each key, and the instants that are compared."""

    changes: Changes
    keys: np.ndarray
    instants: np.ndarray

    def part(self, rows: slice) -> Keyed:
        return Keyed(self.changes.part(rows), self.keys[rows], self.instants[rows])


class JoinRows:
    """Pairs new rows of either side with those of the other side that are there.

    Hammad et al. (2003), section 4.4: a pair has the smaller minTS and the larger maxTS, and ends with the first of
    both to end. Expired rows are only passed over and forgotten: no pair follows from them. A `-` is paired as its `+`
    was, and takes those pairs away. Where a condition says how far apart the instants of a pair may be, rows leave as
    soon as none that comes can meet them.
    """

    def __init__(
        self,
        node: Join,
        evaluate: Evaluate,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        every_instant: bool = False,
        older: JoinRows | None = None,
    ) -> None:
        """With `every_instant` no row comes later than its time, so that those of a stream leave as they came.

        An `older` view of the same gives the rows that it has in memory.
        """
        snapshot = snapshot or {"keys": None, "sides": [None, None]}
        older = older if older is not None and older._keys_are_made and snapshot["keys"] is None else None
        self._node, self._evaluate = node, evaluate
        inputs = (node.left, node.right)
        names = [[left for left, _ in node.on], [right for _, right in node.on]]
        self._places = [[side.names.index(name) for name in asked] for side, asked in zip(inputs, names)]
        types = [node.left.columns[place].type for place in self._places[0]]
        known = None if older is None else older._keys
        self._keys: RowTable = RowTable(types, (), f"{family}.keys", blocks, snapshot["keys"], older=known)
        self._types = [side.types for side in inputs]
        self._sides: list[JoinSide] = []
        for i, (name, kept) in enumerate(zip(("left", "right"), snapshot["sides"])):
            numbered = partial(self._number, i)
            place = (self._types[i], f"{family}.{name}", blocks, numbered, kept, waiting_of(node, i))
            in_turn = every_instant and leaves_in_turn(node, i)
            self._sides.append(JoinSide(*place, in_turn, None if older is None else older._sides[i]))
        between = node.between
        self._low = -FAR if between is None or between.low_us is None else between.low_us
        self._high = FAR if between is None or between.high_us is None else between.high_us
        self._read = [node.residual is not None and name in node.residual for name in node.pair_names]

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + sum(side.nbytes for side in self._sides)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        left, right = (self._keyed(changes, side) for side, changes in enumerate(inputs))
        new_with_new = self._with_others if self._node.on else self._with_all
        parts = [
            *self._with_those_there(left, 1, self._low, self._high),
            *self._with_those_there(right, 0, -self._high, -self._low),
            *new_with_new(left, right.changes, right),
        ]
        for side, keyed in zip(self._sides, (left, right)):
            side.add(keyed.keys, keyed.changes, keyed.instants)
        for side in self._sides:
            side.sweep(clock)
        self._sweep_keys()
        if not self._node.on:
            self._refuse_large(clock)
        return joined(parts).in_order() if parts else nothing([*self._types[0], *self._types[1]])

    def save(self, version: int) -> None:
        if self._keys_are_made:
            self._keys.unsave()
        else:
            self._keys.save(version)
        for side in self._sides:
            side.save(version)

    def snapshot(self) -> Snapshot:
        keys = None if self._keys_are_made else self._keys.snapshot()
        return {"keys": keys, "sides": [side.snapshot() for side in self._sides]}

    @property
    def _keys_are_made(self) -> bool:
        """Whether keys are numbered anew by whoever opens the rows, none of which tells the number of its own."""
        return not (self._keys.in_blocks or any(side.in_blocks for side in self._sides))

    def _number(self, side: int, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The numbers of the keys of rows of one side."""
        return self._keys.slots_of([columns[place] for place in self._places[side]], rows)

    def _keyed(self, changes: Changes, side: int) -> Keyed:
        """The changes whose key, and instant, has no NULL where NULL meets nothing."""
        must = [place for i, place in enumerate(self._places[side]) if i not in self._node.null_safe]
        waiting = waiting_of(self._node, side)
        for place in must if waiting is None else [*must, waiting.place]:
            known = valid(changes.columns[place])
            if known is not None:
                changes = changes.keep(known)
        return Keyed(changes, self._numbers(side, changes), self._sides[side].instants(changes))

    def _numbers(self, side: int, changes: Changes) -> np.ndarray:
        """The number of the key of each change; a row that leaves in turn has had it since it came."""
        comes = changes.weights > 0
        if not self._sides[side].in_turn or comes.all():
            return self._number(side, changes.columns, len(changes))
        keys, new = np.empty(len(changes), np.int64), changes.keep(comes)
        coming = self._number(side, new.columns, len(new))
        keys[comes] = coming
        keys[~comes] = self._sides[side].keys_in_turn(coming, len(changes) - len(coming))
        return keys

    def _with_those_there(self, keyed: Keyed, side: int, low: int, high: int) -> Iterator[Changes]:
        """New rows with those of `side` that are there."""
        others = self._sides[side]
        if not len(keyed.changes) or not len(others):
            return
        if not self._node.on:
            there = others.there(int(keyed.changes.times.min()))
            rows = others.at(there)
            yield from self._with_all(keyed, rows, Keyed(rows, there * 0, others.instants(rows)), flip=side == 0)
            return
        places, entries = others.partners(keyed.keys, keyed.changes, keyed.instants, low, high)
        for start in range(0, len(places), PAIRS):
            chosen = slice(start, start + PAIRS)
            sides = (keyed.changes.take(places[chosen]), others.at(entries[chosen]))
            yield from self._met(*(sides if side == 1 else sides[::-1]))

    def _with_others(self, left: Keyed, rows: Changes, right: Keyed) -> Iterator[Changes]:
        """New rows with new rows of the same key."""
        if not len(left.changes) or not len(rows):
            return
        places, others = matches(left.keys, right.keys)
        if self._node.between is not None and len(places):
            apart = left.instants[places] - right.instants[others]
            near = (apart >= self._low) & (apart <= self._high)
            places, others = places[near], others[near]
        meets = _meet(left, places, right, others)
        places, others = places[meets], others[meets]
        for start in range(0, len(places), PAIRS):
            chosen = slice(start, start + PAIRS)
            yield from self._met(left.changes.take(places[chosen]), rows.take(others[chosen]))

    def _with_all(self, keyed: Keyed, rows: Changes, others: Keyed, flip: bool = False) -> Iterator[Changes]:
        """All with all, of which only what the condition reads is put together before it holds."""
        if not len(keyed.changes) or not len(rows):
            return
        step = max(1, PAIRS // len(rows))
        low, high = (-self._high, -self._low) if flip else (self._low, self._high)
        for start in range(0, len(keyed.changes), step):
            part = keyed.part(slice(start, min(start + step, len(keyed.changes))))
            mine, theirs = part.changes, rows
            times = np.maximum(mine.times[:, None], theirs.times)
            meets = times < np.minimum(mine.until[:, None], theirs.until)
            if self._node.between is not None:
                apart = part.instants[:, None] - others.instants
                meets &= (apart >= low) & (apart <= high)
            places, partners = _all_places(*meets.shape) if meets.all() else np.nonzero(meets)
            if self._node.residual is not None and len(places):
                of_left, of_right = (partners, places) if flip else (places, partners)
                left, right = (theirs, mine) if flip else (mine, theirs)
                holds = self._holds(left.columns, of_left, right.columns, of_right)
                places, partners = places[holds], partners[holds]
            if len(places):
                sides = (mine.take(places), theirs.take(partners))
                yield _pairs(*(sides[::-1] if flip else sides))

    def _met(self, left: Changes, right: Changes) -> Iterator[Changes]:
        """The pairs that are there at once, and for which the condition holds."""
        pairs = _pairs(left, right)
        pairs = pairs.keep(pairs.times < pairs.until) if len(pairs) else pairs
        if self._node.residual is not None and len(pairs):
            pairs = pairs.keep(true_rows(self._evaluate(self._node.residual, pairs.batch(self._node.pair_names))))
        if len(pairs):
            yield pairs

    def _holds(
        self, left: Sequence[pa.Array], of_left: np.ndarray, right: Sequence[pa.Array], of_right: np.ndarray
    ) -> np.ndarray:
        """For which pairs the condition holds; columns that it does not name are not put together."""
        assert self._node.residual is not None
        sides = [(column, places) for columns, places in ((left, of_left), (right, of_right)) for column in columns]
        named = [
            (name, column.take(pa.array(places)))
            for name, read, (column, places) in zip(self._node.pair_names, self._read, sides)
            if read
        ]
        named = named or [("nothing", pa.nulls(len(of_left)))]
        batch = pa.record_batch([column for _, column in named], names=[name for name, _ in named])
        return true_rows(self._evaluate(self._node.residual, batch))

    def _refuse_large(self, clock: int) -> None:
        held = min(side.staying(clock) for side in self._sides)
        if held > MOST_ROWS:
            raise MemoryLimitError(
                f"a join without an equality holds {held} rows on its smaller side, and may hold {MOST_ROWS}: "
                "each row of the other side is compared with all of them; add an equality to ON, or shorten the window"
            )

    def _sweep_keys(self) -> None:
        if self._keys.crowded:
            width = len(self._keys)
            used = self._sides[0].used_keys(width) | self._sides[1].used_keys(width)
            kept = self._keys.sweep(used)
            if kept is not None:
                numbers = np.full(width, -1)
                numbers[kept] = np.arange(len(kept))
                for side in self._sides:
                    side.renumber(numbers)


def waiting_of(node: Join, side: int) -> Waiting | None:
    """The instant that the condition compares on one side, and how long a row waits for partners."""
    if node.between is None:
        return None
    if side == 0:
        return Waiting(node.left.names.index(node.between.left), node.between.left_waits_us)
    return Waiting(node.right.names.index(node.between.right), node.between.right_waits_us)


def leaves_in_turn(node: Join, side: int) -> bool:
    """Whether the rows of one side come as events do and leave as they came, and none is forgotten before."""
    waiting = waiting_of(node, side)
    return range_of(node.children[side]) is not None and (waiting is None or waiting.waits_us is None)


def _meet(left: Keyed, places: np.ndarray, right: Keyed, others: np.ndarray) -> np.ndarray:
    """Which pairs of new rows are there at once, without those that cancel each other.

    What is taken back may be left out on one side: on both, a pair that ends with both its rows would not end.
    """
    mine, theirs = left.changes, right.changes
    times = np.maximum(mine.times[places], theirs.times[others])
    meets: np.ndarray = times < np.minimum(mine.until[places], theirs.until[others])
    undone = taken_back(right.keys, theirs)
    if undone is not None:
        meets &= mine.times[places] < undone[others]
    elif (undone := taken_back(left.keys, mine)) is not None:
        meets &= theirs.times[others] < undone[places]
    return meets


def _all_places(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Every place of a table, row by row."""
    return np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)


def _pairs(left: Changes, right: Changes) -> Changes:
    return Changes(
        np.maximum(left.times, right.times),
        np.minimum(left.since, right.since),
        np.minimum(left.until, right.until),
        left.weights * right.weights,
        left.columns + right.columns,
    )
