"""Queries that run together, in one process: the same slicers and shards as on Spark, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.local.arrivals import NO_ARRIVALS, Arrivals, Instant, wall_clock
from windrow.local.event_times import microseconds, possible
from windrow.local.finished_alike import FinishedAlike
from windrow.local.shares import Shares, read_shares
from windrow.plan.catalog import Stream
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.runtime.answers.finish import PART_ROWS, finish_part, finish_whole
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


class StageReplay:
    """The queries of a plan over tables of events; the shard's state is in `blocks`.

    A batch has some of the next rows of each stream. `step` works off one for the first query, `run` all of them;
    `run_all` has the results of all queries by name. `shares` are those of the rows that each batch takes: there is no
    delay here that could say it.
    """

    def __init__(
        self,
        plan: StagePlan,
        streams: Mapping[str, Stream],
        events: Mapping[str, pa.Table],
        blocks: Blocks | None = None,
        shares: Shares | None = None,
    ) -> None:
        self._halvings = read_shares(shares)
        self._batch = 0
        self.plan = plan
        self._times = {stream.stream: streams[stream.stream].time for stream in plan.read}
        self._events = {name: events[name] for name in self._times}
        self.queries: dict[str, AnyQuery] = {query.name: query for query in plan.queries}
        self.query = plan.queries[0]
        self.blocks = MemoryBlocks() if blocks is None else blocks
        self.shard = Shard(self.plan, self.blocks)
        self._joins = {stream.stream: TableChunks(stream, dict(stream.static)) for stream in plan.streams}
        self._look_ups = [LookUps(stream, self._joins[stream.stream].hashed) for stream in plan.read]

    def __repr__(self) -> str:
        rows = sum(table.num_rows for table in self._events.values())
        return f"<windrow.Replay over {', '.join(self._events)}: {rows:,} events>"

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
        found: dict[str, list[pa.Table]] = {name: [] for name in self.queries}
        alike = FinishedAlike(self.queries)
        for outcome in self._outcomes(list(self.batches(batch_rows)), arrivals, list(heartbeats), flush):
            told: dict[str, list[pa.RecordBatch]] = {}
            for name, batch in outcome.results:  # once for all: of thousands of queries, few are told something
                told.setdefault(name, []).append(batch)
            for name in told.keys() & found.keys():
                if not alike.takes(name, told[name]):
                    found[name] += self._told(told[name], self.queries[name])
            for name, rows in alike.finished(each=PART_ROWS):
                found[name].append(rows)
        for name, rows in alike.finished():
            found[name].append(rows)
        return {
            name: pa.concat_tables(tables) if tables else alike.empty(name, self.queries[name])
            for name, tables in found.items()
        }

    def _outcomes(
        self,
        batches: Sequence[Mapping[str, pa.Table]],
        arrivals: Arrivals | None,
        heartbeats: Sequence[Instant],
        flush: bool,
    ) -> Iterator[Outcome]:
        """What each batch, each heartbeat and the end of the input gave."""
        if arrivals is None:
            timed = all(not plan.timing.has_heartbeat and plan.ahead_us is None for plan in self.plan.read)
            if not timed or heartbeats:
                raise SettingsError(NO_ARRIVALS)
            for batch in batches:
                yield self._outcome(self._sliced(batch, None))
        else:
            for instant, number in wall_clock(len(batches), arrivals, heartbeats):
                beat = [Payload(0, 0, 0, instant, HEARTBEAT, b"")]
                yield self._outcome(beat if number is None else self._sliced(batches[number], instant))
        if flush:
            yield self._outcome([Payload(0, 0, 0, None, FLUSH, b"")])

    def batches(self, rows: int | None = None) -> Iterator[dict[str, pa.Table]]:
        """The events of each stream, so many at a time; without a number all at once."""
        longest = max(table.num_rows for table in self._events.values())
        step = rows or max(longest, 1)
        for start in range(0, longest, step):
            yield {name: table.slice(start, step) for name, table in self._events.items()}

    def step(self, events: pa.Table | Mapping[str, pa.Table], arrived_us: int | None = None) -> list[pa.Table]:
        """Work off one batch of events, which arrived all at once, and return the results it gave.

        Of several streams the events are given by name.
        """
        batch = {next(iter(self._events)): events} if isinstance(events, pa.Table) else events
        return self._finished(self._outcome(self._sliced(batch, arrived_us)))

    def work_off(
        self, events: Mapping[str, pa.Table], arrived_us: int | None = None
    ) -> tuple[dict[str, pa.Table], Outcome]:
        """Work off one batch of events, by stream, and give the rows of each query that has some, and all of it."""
        outcome = self._outcome(self._sliced(events, arrived_us))
        found = {name: self._finished(outcome, name) for name in self.queries}
        return {name: pa.concat_tables(tables) for name, tables in found.items() if tables}, outcome

    def end(self) -> dict[str, pa.Table]:
        """Say that the input has ended, and give the rows of each query that has some."""
        outcome = self._outcome([Payload(0, 0, 0, None, FLUSH, b"")])
        found = {name: self._finished(outcome, name) for name in self.queries}
        return {name: pa.concat_tables(tables) for name, tables in found.items() if tables}

    def shown(self, name: str) -> pa.Schema:
        """The columns of a query's rows, as its reader sees them."""
        query = self.queries[name]
        return _shown(query.emitted.empty_table(), query).schema

    def beat(self, now_us: int) -> list[pa.Table]:
        """Let the wall clock go on although no event comes, and return the results that gave."""
        return self._finished(self._outcome([Payload(0, 0, 0, now_us, HEARTBEAT, b"")]))

    def state_at(self, length: str) -> StateAt[pa.Table]:
        """What a query with levels holds of the last `length`, up to that of its widest level, as of the last batch."""
        horizon = Horizon.of(self.query, length)
        state = state_at([self.shard.streams[horizon.query.stream]], horizon)
        return StateAt(state.start_us, state.end_us, _shown(pa.Table.from_batches(state.rows), self.query))

    def _sliced(self, events: Mapping[str, pa.Table], arrived_us: int | None) -> list[Payload]:
        payloads: list[Payload] = []
        for task, plan in enumerate(self.plan.read):
            halvings = self._halvings(self._batch)
            slicer = Slicer(plan, task, [0], self._joins[plan.stream], halvings=halvings, compress=False)
            for batch in self._evaluated(plan, events[plan.stream], arrived_us).to_batches():
                slicer.add(batch)
            payloads += slicer.payloads()
        self._batch += 1
        return payloads

    def _outcome(self, payloads: Sequence[Payload]) -> Outcome:
        outcome = self.shard.process(payloads, lambda stream: self._joins[stream.stream])
        self.shard.save()
        for look_ups in self._look_ups:
            outcome.results = look_ups.added(outcome.results)
        return outcome

    def _evaluated(self, plan: StreamPlan, events: pa.Table, arrived_us: int | None) -> pa.Table:
        time = self._times[plan.stream]
        arrived = pa.repeat(pa.scalar(arrived_us, pa.int64()), events.num_rows)
        columns = {TIME: arrived if time is None else microseconds(events[time], time)}
        if time is not None:
            events = possible(events, time, columns[TIME])
        if plan.timing is Timing.IDLE or plan.ahead_us is not None:
            columns[ARRIVED] = arrived
        for i, text in enumerate(plan.expressions):
            columns[expression_column(i)] = evaluate_text(text, events)
        return pa.table(columns)

    def _finished(self, outcome: Outcome, name: str | None = None) -> list[pa.Table]:
        """The rows of one query, of the only one unless it is named."""
        query = self.query if name is None else self.queries[name]
        return self._told([batch for own, batch in outcome.results if own == query.name], query)

    def _told(self, batches: Sequence[pa.RecordBatch], query: AnyQuery) -> list[pa.Table]:
        if not batches:
            return []
        rows = pa.concat_tables([pa.Table.from_batches([batch]) for batch in batches])
        early = isinstance(query, QueryPlan) and "final" in query.leading
        return [_shown(rows.sort_by("due") if early else rows, query)]


def _shown(rows: pa.Table, query: AnyQuery) -> pa.Table:
    return finish_whole(finish_part(rows, query), query)
