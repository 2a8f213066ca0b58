"""A disk that fails at any write: the batch is done again from its checkpoint till all its writes have failed once."""

from __future__ import annotations

from collections.abc import Sequence

from storage.stores import Breakdown, FailingBlocks
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import Payload
from windrow.runtime.shard import Shard


class FailingDisk:
    """One shard over a store that breaks down, opened anew for each try; `failures` counts the breakdowns."""

    def __init__(self, plan: StagePlan) -> None:
        self.plan = plan
        self.blocks, self.snapshot, self.failures = FailingBlocks(), b"", 0
        self.shard = Shard(plan, self.blocks)

    def process(self, payloads: Sequence[Payload], failing: bool) -> Outcome:
        """What the batch is told at last. If `failing`, the first try fails at its first write, the next one at its
        second, and so on, until one gets through."""
        change = 0
        while True:
            self.blocks.fail_at(change if failing else None)
            try:
                self.shard = Shard(self.plan, self.blocks, self.snapshot or None)
                outcome = self.shard.process(payloads)
                saved = self.shard.save()
            except Breakdown:
                self.failures, change = self.failures + 1, change + 1
                self.blocks.rollback()
                continue
            self.snapshot = saved
            self.blocks.fail_at(None)
            self.blocks.commit()
            return outcome
