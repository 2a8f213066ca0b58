"""A pipeline of operators with queues, a settable clock and settable delays: no thread, no sleep.

It shows how late an answer is, and where it would be wrong, under each of the ways to expire of Hammad et al. (2003).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lab.simulated_stages import Stage, arrivals_of, single_changes, stages_of
from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes
from windrow.operators.operator_for import OperatorNeeds
from windrow.operators.pipeline import Arrivals
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Node
from windrow.storage.blocks import MemoryBlocks

CLOCK_TRIGGERED = "clock-triggered"
"""The schedule that section 2.3 warns of: every operator expires by the system's clock, whatever is still under way."""

Cost = Callable[[Node, Changes], int]
"""How long a stage is busy with what it was given, and gave, in the simulation's ticks."""


@dataclass(frozen=True, slots=True)
class Released:
    """A change of the answer: when it was created (its maxTS), and when it left the pipeline."""

    created: int
    released: int
    since: int
    weight: int
    row: tuple[Any, ...]

    @property
    def delay(self) -> int:
        return self.released - self.created


class Simulation:
    """Operators as nodes with FIFO queues; each works off one change at a time.

    `cost` says how long a stage is busy with a change; with `shared`, all stages share one processor. `period` is how
    often operators look at the clock in time probing. Time goes on by itself from one event to the next.
    """

    def __init__(
        self,
        plan: Node,
        way: Expiry | str,
        *,
        cost: Cost = lambda node, changes: 0,
        shared: bool = False,
        period: int = 1,
        tables: Mapping[str, pa.Table] | None = None,
        user: Mapping[str, type] | None = None,
    ) -> None:
        self.way, self._cost, self._shared, self._period = way, cost, shared, period
        self.plan = place_expiry(plan, way if isinstance(way, Expiry) else Expiry.PROBING)
        around = OperatorNeeds(evaluate_text, MemoryBlocks(), tables or {}, user or {})
        self._stages = stages_of(self.plan, around)
        self._parents: dict[Node, list[tuple[Stage, int]]] = {node: [] for node in self._stages}
        for stage in self._stages.values():
            for i, child in enumerate(stage.inputs):
                self._parents[child].append((stage, i))
        self.now = 0
        self.released: list[Released] = []
        self.runs = 0

    def run(self, arrivals: Mapping[str, Arrivals], until: int) -> list[Released]:
        """Let events arrive at their times and go on until `until`; all changes of the answer, as they left."""
        coming: list[tuple[int, Stage, Changes]] = []
        for stage in self._stages.values():
            if stage.stream is not None and stage.stream in arrivals:
                arrived = arrivals[stage.stream]
                rows = (
                    arrived.rows.combine_chunks().to_batches()[0]
                    if isinstance(arrived.rows, pa.Table)
                    else arrived.rows
                )
                changes = arrivals_of(stage.node, arrived.times.tolist(), rows)
                coming += [(int(change.times[0]), stage, change) for change in single_changes(changes)]
        coming.sort(key=lambda arrival: arrival[0], reverse=True)
        while True:
            while coming and coming[-1][0] <= self.now:
                _, stage, change = coming.pop()
                stage.queues[0].append(change)
            self._finish()
            if self._start():
                continue
            instants = self._instants() + [arrival[0] for arrival in coming[-1:]]
            later = [instant for instant in instants if instant > self.now]
            if not later or min(later) > until:
                return self.released
            self.now = min(later)

    def _finish(self) -> None:
        """Hand on what stages have been busy with until now."""
        for node, stage in self._stages.items():
            if stage.released is not None and stage.busy_until <= self.now:
                changes, stage.released = stage.released, None
                stage.clock = max(stage.clock, stage.next_clock)
                for change in single_changes(changes):
                    for parent, i in self._parents[node]:
                        parent.queues[i].append(change)
                if node == self.plan:
                    self._leave(changes)

    def _leave(self, changes: Changes) -> None:
        rows = list(zip(*(column.to_pylist() for column in changes.columns)))
        for i, row in enumerate(rows):
            created, since, weight = (int(column[i]) for column in (changes.times, changes.since, changes.weights))
            self.released.append(Released(created, self.now, since, weight, row))

    def _start(self) -> bool:
        """Let a stage that is free begin with what it can do now, the nearest to the answer first; whether any did."""
        if self._shared and any(stage.released is not None for stage in self._stages.values()):
            return False
        for stage in reversed(self._stages.values()):
            if stage.released is None:
                work = self._work(stage)
                if work is not None:
                    self._run(stage, *work)
                    return True
        return False

    def _run(self, stage: Stage, given: dict[int, Changes], clock: int) -> None:
        for i in given:
            stage.queues[i].popleft()
        self.runs += 1
        stage.released = stage.run(given, clock)
        stage.next_clock = clock
        stage.busy_until = self.now + self._cost(stage.node, stage.released)

    def _work(self, stage: Stage) -> tuple[dict[int, Changes], int] | None:
        """What a stage can do now: the oldest change that waits, or an expiry that is certain."""
        heads = {i: int(queue[0].times[0]) for i, queue in enumerate(stage.queues) if queue}
        if heads:
            i = min(heads, key=lambda place: heads[place])
            if self._nothing_older(stage, i, heads):
                change = stage.queues[i][0]
                if self.way == CLOCK_TRIGGERED:
                    return {i: _moved(change, self.now)}, self.now
                return {i: change}, int(change.times[0])
            return None
        due = stage.next_due
        if due is None or self.way is Expiry.INPUT or -(-due // self._period) * self._period > self.now:
            return None
        clock = self.now if self.way == CLOCK_TRIGGERED else self._probed(stage)
        return ({}, clock) if clock >= due else None

    def _nothing_older(self, stage: Stage, i: int, heads: dict[int, int]) -> bool:
        """Whether no other input can still send a change that is older than the head of input i."""
        for other, child in enumerate(stage.inputs):
            if other == i or other in heads or self.way == CLOCK_TRIGGERED:
                continue
            if self.way is Expiry.INPUT or self.get_time(self._stages[child]) < heads[i]:
                return False
        return True

    def _probed(self, stage: Stage) -> int:
        """The time that no descendant can send anything older than."""
        if stage.stream is not None:
            return self.now
        return min(self.get_time(self._stages[child]) for child in stage.inputs)

    def get_time(self, stage: Stage) -> int:
        """GetTime: the LocalClock, or, where nothing waits or is under way, that of what is below."""
        if stage.released is not None or stage.waits:
            return stage.clock
        time = self._probed(stage)
        due = stage.next_due
        return max(stage.clock, time if due is None else min(time, due - 1))

    def _instants(self) -> list[int]:
        """When something may happen next without an arrival."""
        instants = [stage.busy_until for stage in self._stages.values() if stage.released is not None]
        if self.way is not Expiry.INPUT:
            dues = (stage.next_due for stage in self._stages.values())
            instants += [-(-due // self._period) * self._period for due in dues if due is not None]
        return instants


def _moved(change: Changes, now: int) -> Changes:
    """A change that counts from now on, whatever its own time."""
    return Changes(change.times * 0 + now, change.since, change.until, change.weights, change.columns)
