"""Between two stages of a plan over changes: out of one as they are, into the next in order of time."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.operators.changes import Changes
from windrow.operators.operator import Stateless
from windrow.operators.pending_changes import HoldsPending
from windrow.plan.nodes.regrouped import Regrouped
from windrow.storage.blocks import Blocks, Snapshot


class PartRows(Stateless):
    """Sends on what it gets."""

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        return changes


class RegroupedRows(HoldsPending):
    """Puts the changes that several shards have sent in order. All have settled the same instants, so none is late."""

    def __init__(self, node: Regrouped, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        super().__init__(node.types, family, blocks, snapshot)

    def add(self, changes: Changes) -> None:
        """Changes as they come from one shard."""
        self._waiting.add(changes, changes.times)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        assert not inputs
        return self._waiting.take(clock)[0]
