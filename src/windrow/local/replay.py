"""The same shard runtime in one process: a query over a table of events, batch by batch, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pyarrow as pa
from sqlglot import exp

from windrow.compile.compile import AnyQuery, Compiler, Wishes
from windrow.compile.plan_query import plan_query
from windrow.errors import SettingsError
from windrow.expressions.evaluate import evaluate
from windrow.language import Query, parse_expression, parse_query
from windrow.local.arrivals import NO_ARRIVALS, Arrivals, Instant, wall_clock
from windrow.local.event_times import microseconds, possible
from windrow.local.local_catalog import as_arrow, local_catalog
from windrow.local.replay_changes import ReplayChanges
from windrow.plan.bind.query import bind
from windrow.plan.expiry import read_expiry
from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.plan.nodes.changes import Expiry
from windrow.plan.nodes.pipeline import QueryPlan, StreamPlan
from windrow.plan.timing import Timing
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import FLUSH, HEARTBEAT, Payload
from windrow.runtime.reject import ARRIVED, TIME
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer, expression_column
from windrow.runtime.time.state_at import state_at
from windrow.storage.blocks import Blocks, MemoryBlocks

if TYPE_CHECKING:
    import pandas as pd


Events: TypeAlias = "pa.Table | pd.DataFrame"


@overload
def replay(text: str, /, **named: Any) -> pa.Table: ...


@overload
def replay(text: Mapping[str, str], /, **named: Any) -> dict[str, pa.Table]: ...


def replay(
    text: str | Mapping[str, str],
    /,
    *,
    time: str | None = "ts",
    times: Mapping[str, str | None] | None = None,
    lateness: str = "0 seconds",
    batch_rows: int | None = None,
    flush: bool = False,
    arrivals: Arrivals | None = None,
    heartbeats: Iterable[Instant] = (),
    idle_clock: bool = False,
    ahead: str | None = None,
    aggregates: Mapping[str, type] | None = None,
    clusterings: Mapping[str, type] | None = None,
    states: Mapping[str, str] | None = None,
    streams: Mapping[str, Events] | None = None,
    tables: Mapping[str, Events] | None = None,
    expiry: str | Expiry | None = None,
    **named: Events,
) -> pa.Table | dict[str, pa.Table]:
    """All results of a query over tables of events, as the engine would give them batch by batch.

    >>> from datetime import UTC, datetime
    >>> times = [datetime(2024, 1, 1, 9, 0, second, tzinfo=UTC) for second in (1, 2, 7, 11)]
    >>> ticks = pa.table({"ts": times, "price": [3, 4, 5, 6]})
    >>> totals = replay("SELECT SUM(price) AS total FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]", ticks=ticks)
    >>> totals["total"].to_pylist()
    [7, 12]

    Several queries, by name, run together as in a job, and give a table each:

    >>> ticks = pa.table({"ts": times, "price": [3, 4, 5, 6]})
    >>> found = replay({"n": "SELECT COUNT(*) AS n FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS]",
    ...                 "most": "SELECT MAX(price) AS most FROM time [RANGE 10 SECONDS SLIDE 5 SECONDS]"},
    ...                streams={"time": ticks}, times={"time": "ts"})
    >>> found["n"]["n"].to_pylist(), found["most"]["most"].to_pylist()
    ([2, 3], [4, 5])

    Events are tables of Arrow or pandas, given by name or as `streams`, which may have any name. `time` is the column
    with each event's time, or `times` that of each stream; `batch_rows` cuts the events into batches; `flush` closes
    every window that holds an event at the end, and lets rows of windows without a slide expire. `aggregates` and
    `clusterings` are user-defined ones, by name, and `states` says "pickle" of those whose states are to be stored as
    pickles; `tables` do not change and can be joined. `expiry` is how rows of joins and set operators expire, if not as
    is cheapest.

    `arrivals` sets the wall clock: when each batch arrives, in microseconds or as datetimes, or a function of the
    batch's number. With `time=None` events are timed by it; with `idle_clock` it moves the clock while no event comes;
    with `ahead`, such as "1 hour", an event further ahead of it than that is rejected. `heartbeats` are instants at
    which the wall clock is looked at although no event comes.

    >>> counts = replay("SELECT COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]", ticks=ticks, time=None,
    ...                 batch_rows=2, arrivals=[times[0], times[2]], heartbeats=[datetime(2024, 1, 1, 10, tzinfo=UTC)])
    >>> counts["n"].to_pylist()
    [2, 4, 2]
    """
    if batch_rows is not None and (not isinstance(batch_rows, int) or batch_rows < 1):
        raise SettingsError(f"batch_rows={batch_rows!r} is not a whole number from 1")
    events = {name: as_arrow(table, name) for name, table in {**(streams or {}), **named}.items()}
    static = {name: as_arrow(table, name) for name, table in (tables or {}).items()}
    plugged: dict[str, Any] = {"aggregates": aggregates or {}, "clusterings": clusterings or {}, "states": states}
    settings: dict[str, Any] = {"time": time, "lateness": lateness, "idle_clock": idle_clock, "ahead": ahead}
    settings["times"] = times
    catalog = local_catalog(events, static, **settings, **plugged)
    compiler = Compiler(catalog, static.__getitem__, Wishes(expiry=read_expiry(expiry)))
    texts, heartbeats = {"query": text} if isinstance(text, str) else text, list(heartbeats)
    plans: dict[str, AnyQuery] = {}
    for name, own in texts.items():
        plans[name] = compiler.query(name, parse_query(own), plans.values())
    found: dict[str, pa.Table] = {}
    folded: dict[str, list[QueryPlan]] = {}
    for name, query in compiler.sharing(plans).items():
        if isinstance(query, QueryPlan):
            folded.setdefault(query.stream, []).append(query)
            continue
        if heartbeats or (arrivals is not None and ahead is None):
            raise SettingsError("this query needs no arrivals: its streams have times of their own")
        over_changes = compiler.scan([query])
        assert isinstance(over_changes, ChangesPlan)
        found[name] = ReplayChanges(over_changes, catalog.streams, events).run(batch_rows, flush, arrivals)
    for queries in folded.values():
        replayed = Replay._of(compiler, queries, events)
        found |= replayed.run_all(batch_rows, flush, arrivals, heartbeats)
    return found["query"] if isinstance(text, str) else {name: found[name] for name in texts}


class Replay:
    """Queries over one stream in one process; the shard's state is in `blocks`.

    `step` works off a batch of one query, `run` all of it; `run_all` has the results of several by name.
    """

    def __init__(
        self,
        query: str | Query,
        *,
        time: str | None = "ts",
        times: Mapping[str, str | None] | None = None,
        lateness: str = "0 seconds",
        idle_clock: bool = False,
        ahead: str | None = None,
        aggregates: Mapping[str, type] | None = None,
        clusterings: Mapping[str, type] | None = None,
        states: Mapping[str, str] | None = None,
        blocks: Blocks | None = None,
        streams: Mapping[str, pa.Table] | None = None,
        **named: pa.Table,
    ) -> None:
        events = {**(streams or {}), **named}
        catalog = local_catalog(
            events,
            {},
            time=time,
            times=times,
            lateness=lateness,
            idle_clock=idle_clock,
            ahead=ahead,
            aggregates=aggregates or {},
            clusterings=clusterings or {},
            states=states,
        )
        compiler = Compiler(catalog, _no_table, Wishes())
        asked = bind(parse_query(query) if isinstance(query, str) else query, catalog)
        self._open(compiler, [plan_query("query", asked)], events, blocks)

    @classmethod
    def _of(cls, compiler: Compiler, queries: Sequence[QueryPlan], events: Mapping[str, pa.Table]) -> Replay:
        """Queries that have been compiled, which are all over one stream."""
        made = cls.__new__(cls)
        made._open(compiler, queries, events, None)
        return made

    def _open(
        self, compiler: Compiler, queries: Sequence[QueryPlan], events: Mapping[str, pa.Table], blocks: Blocks | None
    ) -> None:
        plan = compiler.scan(queries)
        assert isinstance(plan, StreamPlan)
        self.plan = plan
        self.queries = {query.name: query for query in queries}
        self.query = queries[0]
        self._events = events[self.query.stream]
        self._time = compiler.catalog.streams[self.query.stream].time
        self.blocks = MemoryBlocks() if blocks is None else blocks
        self.shard = Shard(self.plan, self.blocks)
        self._row_expressions = [_parsed(text) for text in self.plan.expressions]

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
        batches = list(self._batches(batch_rows))
        outcomes: list[Outcome] = []
        if arrivals is None:
            if self.plan.timing.has_heartbeat or self.plan.ahead_us is not None or list(heartbeats):
                raise SettingsError(NO_ARRIVALS)
            outcomes += [self._outcome(self._sliced(batch)) for batch in batches]
        else:
            for instant, number in wall_clock(len(batches), arrivals, heartbeats):
                beat = [Payload(0, 0, 0, instant, HEARTBEAT, b"")]
                outcomes.append(self._outcome(beat if number is None else self._sliced(batches[number], instant)))
        if flush:
            outcomes.append(self.shard.process([Payload(0, 0, 0, None, FLUSH, b"")]))
        found = {name: [_shown(query.emitted.empty_table(), query)] for name, query in self.queries.items()}
        for outcome in outcomes:
            for name in found:
                found[name] += self._finished(outcome, name)
        return {name: pa.concat_tables(tables) for name, tables in found.items()}

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
        slicer = Slicer(self.plan, 0, [0])
        for batch in self._evaluated(events, arrived_us).to_batches():
            slicer.add(batch)
        return slicer.payloads()

    def _outcome(self, payloads: Sequence[Payload]) -> Outcome:
        outcome = self.shard.process(payloads)
        self.shard.save()
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
        for i, expression in enumerate(self._row_expressions):
            columns[expression_column(i)] = evaluate(expression, events)
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


def _no_table(name: str) -> pa.Table:
    raise AssertionError(f"{name!r}: a fold reads no table")


def _parsed(text: str) -> exp.Expr:
    return parse_expression(text)
