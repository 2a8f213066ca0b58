"""All queries over one stream in one process: the shard's work, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.local.arrivals import NO_ARRIVALS, Arrivals, Instant, wall_clock
from windrow.local.event_times import microseconds, possible
from windrow.plan.catalog import Stream
from windrow.plan.nodes.pipeline import QueryPlan, StreamPlan
from windrow.plan.timing import Timing
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.runtime.answers.look_up import LookUps
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import FLUSH, HEARTBEAT, Payload
from windrow.runtime.reject import ARRIVED, TIME
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer
from windrow.runtime.slice.expression_column import expression_column
from windrow.runtime.slice.joined_chunks import TableChunks
from windrow.runtime.time.state_at import state_at
from windrow.storage.blocks import Blocks, MemoryBlocks


class StreamReplay:
    """The queries of a plan over a table of events; the shard's state is in `blocks`.

    `step` works off a batch for the first query, `run` all of it; `run_all` has the results of all queries by name.
    """

    def __init__(self, plan: StreamPlan, stream: Stream, events: pa.Table, blocks: Blocks | None = None) -> None:
        self.plan, self._time, self._events = plan, stream.time, events
        self.queries = {query.name: query for query in plan.queries}
        self.query = plan.queries[0]
        self.blocks = MemoryBlocks() if blocks is None else blocks
        self.shard = Shard(self.plan, self.blocks)
        self._joins = TableChunks(plan, dict(plan.static))
        self._look_ups = LookUps(plan, self._joins.hashed)

    def __repr__(self) -> str:
        return f"<windrow.Replay over {self.query.stream}: {self._events.num_rows:,} events>"

    def run(
        self,
        batch_rows: int | None = None,
        flush: bool = False,
        arrivals: Arrivals | None = None,
        heartbeats: Iterable[Instant] = (),
    ) -> pa.Table:
        """Work off all events and return all results of the only query."""
        return self.run_all(batch_rows, flush, arrivals, heartbeats)[self.query.name]

    def run_all(
        self,
        batch_rows: int | None = None,
        flush: bool = False,
        arrivals: Arrivals | None = None,
        heartbeats: Iterable[Instant] = (),
    ) -> dict[str, pa.Table]:
        """Work off all events and return all results of each query."""
        found = {name: [_shown(query.emitted.empty_table(), query)] for name, query in self.queries.items()}
        for outcome in self._outcomes(list(self._batches(batch_rows)), arrivals, list(heartbeats)):
            for name, tables in found.items():
                tables += self._finished(outcome, name)
        if flush:
            outcome = self._processed([Payload(0, 0, 0, None, FLUSH, b"")])
            for name, tables in found.items():
                tables += self._finished(outcome, name)
        return {name: pa.concat_tables(tables) for name, tables in found.items()}

    def _outcomes(
        self, batches: Sequence[pa.Table], arrivals: Arrivals | None, heartbeats: Sequence[Instant]
    ) -> Iterator[Outcome]:
        """What each batch and each heartbeat gave."""
        if arrivals is None:
            if self.plan.timing.has_heartbeat or self.plan.ahead_us is not None or heartbeats:
                raise SettingsError(NO_ARRIVALS)
            for batch in batches:
                yield self._outcome(self._sliced(batch))
            return
        for instant, number in wall_clock(len(batches), arrivals, heartbeats):
            beat = [Payload(0, 0, 0, instant, HEARTBEAT, b"")]
            yield self._outcome(beat if number is None else self._sliced(batches[number], instant))

    def step(self, events: pa.Table, arrived_us: int | None = None) -> list[pa.Table]:
        """Work off one batch of events, which arrived all at once, and return the results it gave."""
        return self._finished(self._outcome(self._sliced(events, arrived_us)))

    def beat(self, now_us: int) -> list[pa.Table]:
        """Let the wall clock go on although no event comes, and return the results that gave."""
        return self._finished(self._outcome([Payload(0, 0, 0, now_us, HEARTBEAT, b"")]))

    def state_at(self, length: str) -> StateAt[pa.Table]:
        """What a query with levels holds of the last `length`, up to that of its widest level, as of the last batch."""
        state = state_at([self.shard], Horizon.of(self.query, length))
        return StateAt(state.start_us, state.end_us, _shown(pa.Table.from_batches(state.rows), self.query))

    def _sliced(self, events: pa.Table, arrived_us: int | None = None) -> Sequence[Payload]:
        slicer = Slicer(self.plan, 0, [0], self._joins)
        for batch in self._evaluated(events, arrived_us).to_batches():
            slicer.add(batch)
        return slicer.payloads()

    def _outcome(self, payloads: Sequence[Payload]) -> Outcome:
        outcome = self._processed(payloads)
        self.shard.save()
        return outcome

    def _processed(self, payloads: Sequence[Payload]) -> Outcome:
        outcome = self.shard.process(payloads)
        outcome.results = self._look_ups.added(outcome.results)
        return outcome

    def _batches(self, rows: int | None) -> Iterator[pa.Table]:
        step = rows or max(self._events.num_rows, 1)
        for start in range(0, self._events.num_rows, step):
            yield self._events.slice(start, step)

    def _evaluated(self, events: pa.Table, arrived_us: int | None) -> pa.Table:
        arrived = pa.repeat(pa.scalar(arrived_us, pa.int64()), events.num_rows)
        columns = {TIME: arrived if self._time is None else microseconds(events[self._time], self._time)}
        if self._time is not None:
            events = possible(events, self._time, columns[TIME])
        if self.plan.timing is Timing.IDLE or self.plan.ahead_us is not None:
            columns[ARRIVED] = arrived
        for i, text in enumerate(self.plan.expressions):
            columns[expression_column(i)] = evaluate_text(text, events)
        return pa.table(columns)

    def _finished(self, outcome: Outcome, name: str | None = None) -> list[pa.Table]:
        """The rows of one query, of the only one unless it is named."""
        query = self.query if name is None else self.queries[name]
        tables = [pa.Table.from_batches([batch]) for own, batch in outcome.results if own == query.name]
        if not tables:
            return []
        rows = pa.concat_tables(tables)
        early = query.leading[-1] == "final"
        return [_shown(rows.sort_by("due") if early else rows, query)]


def _shown(rows: pa.Table, query: QueryPlan) -> pa.Table:
    return finish_whole(finish_part(rows, query), query)
