"""LEFT JOIN of two streams of changes: the pairs, and the left rows that have none."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.operators.changes import Changes, merged
from windrow.operators.join import JoinRows
from windrow.operators.operator import Evaluate
from windrow.operators.sets import Rule, SetRows
from windrow.plan.nodes.changes import Join
from windrow.storage.blocks import Blocks, Snapshot


class LeftJoinRows:
    """A join, and beside it the left rows without those that the join has paired.

    A left row without a partner stands there, with NULLs, as often as it came, until the first pair with it is made,
    and again when the last one has gone: the W-MINUS of Hammad et al. (2003), Algorithm 4.3, with the pairs as R.
    """

    def __init__(
        self, node: Join, evaluate: Evaluate, family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        snapshot = snapshot or {"pairs": None, "alone": None}
        self._right = [column.type for column in node.right.columns]
        self._left = len(node.left.columns)
        types = [column.type for column in node.left.columns]
        self._pairs = JoinRows(node, evaluate, f"{family}.pairs", blocks, snapshot["pairs"])
        self._alone = SetRows(Rule.WITHOUT, types, f"{family}.alone", blocks, snapshot["alone"])

    @property
    def nbytes(self) -> int:
        return self._pairs.nbytes + self._alone.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        pairs = self._pairs.process(inputs, clock)
        paired = pairs.with_columns(pairs.columns[: self._left])
        alone = self._alone.process([inputs[0], paired], clock)
        nulls = tuple(pa.nulls(len(alone), type) for type in self._right)
        return merged([pairs, alone.with_columns(alone.columns + nulls)])

    def save(self, version: int) -> None:
        self._pairs.save(version)
        self._alone.save(version)

    def snapshot(self) -> Snapshot:
        return {"pairs": self._pairs.snapshot(), "alone": self._alone.snapshot()}
