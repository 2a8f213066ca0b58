"""Joins that answer for rows without a partner too: LEFT, RIGHT, FULL, SEMI and ANTI."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.operators.changes import Changes, merged
from windrow.operators.join import JoinRows, waiting_of
from windrow.operators.operator import Evaluate
from windrow.operators.sets import Rule, SetRows
from windrow.plan.nodes.joins import Join, JoinKind
from windrow.storage.blocks import Blocks, Snapshot

ALONE: dict[JoinKind, tuple[str, ...]] = {
    "left": ("left",),
    "right": ("right",),
    "full": ("left", "right"),
    "semi": ("left",),
    "anti": ("left",),
}
"""Of which sides rows are counted against the pairs that they are in."""


class OuterJoinRows:
    """A join, and beside it the rows of a side without those that the join has paired, or only those.

    A row without a partner stands there, with NULLs, as often as it came, until the first pair with it is made, and
    again when the last one has gone: the W-MINUS of Hammad et al. (2003), Algorithm 4.3, with the pairs as R.
    """

    def __init__(
        self,
        node: Join,
        evaluate: Evaluate,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        every_instant: bool = False,
        older: OuterJoinRows | None = None,
    ) -> None:
        snapshot = snapshot or {}
        self._node = node
        self._types = [node.left.types, node.right.types]
        pairs = (f"{family}.pairs", blocks, snapshot.get("pairs"), every_instant)
        self._pairs: JoinRows = JoinRows(node, evaluate, *pairs, None if older is None else older._pairs)
        rule = Rule.WITH if node.kind == "semi" else Rule.WITHOUT
        names = {"left": "alone", "right": "alone_right"}
        self._alone = {
            side: SetRows(
                rule,
                self._types[side == "right"],
                f"{family}.{names[side]}",
                blocks,
                snapshot.get(names[side]),
                waiting=waiting_of(node, int(side == "right")),
            )
            for side in ALONE[node.kind]
        }
        self._names = names

    @property
    def nbytes(self) -> int:
        return self._pairs.nbytes + sum(alone.nbytes for alone in self._alone.values())

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        pairs = self._pairs.process(inputs, clock)
        width = len(self._types[0])
        parts = [] if self._node.kind in ("semi", "anti") else [pairs]
        for side, counted in self._alone.items():
            own = pairs.columns[:width] if side == "left" else pairs.columns[width:]
            alone = counted.process([inputs[side == "right"], pairs.with_columns(own)], clock)
            parts.append(alone if self._node.kind in ("semi", "anti") else self._with_nulls(alone, side))
        return merged(parts)

    def _with_nulls(self, alone: Changes, side: str) -> Changes:
        nulls = tuple(pa.nulls(len(alone), type) for type in self._types[side == "left"])
        return alone.with_columns(alone.columns + nulls if side == "left" else nulls + alone.columns)

    def save(self, version: int) -> None:
        self._pairs.save(version)
        for alone in self._alone.values():
            alone.save(version)

    def snapshot(self) -> Snapshot:
        alone = {self._names[side]: counted.snapshot() for side, counted in self._alone.items()}
        return {"pairs": self._pairs.snapshot(), **alone}
