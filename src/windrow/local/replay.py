"""Queries over tables of events, batch by batch, in one process and without Spark: the doors `replay` and `Replay`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import pyarrow as pa

from windrow.compile.compile import Compiler, Tables, Wishes, compile_queries
from windrow.compile.read_choose import read_choose
from windrow.errors import SettingsError
from windrow.indexes.choose import MakeStructure
from windrow.language import Query, parse_query
from windrow.local.arrivals import Arrivals, Instant
from windrow.local.local_catalog import as_arrow, local_catalog
from windrow.local.read_batches import Told, batch_by_batch, reader_in
from windrow.local.replay_index import ReplayedIndex, index_in, read_indexes
from windrow.local.replay_stages import StageReplay
from windrow.local.shares import Shares
from windrow.local.spill import blocks_in
from windrow.plan.catalog import Catalog
from windrow.plan.expiry import Expiry, read_expiry
from windrow.plan.idle_clock import IdleClock
from windrow.plan.memory import DEFAULT_BYTES, read_memory
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import Payload
from windrow.storage.blocks import Blocks

if TYPE_CHECKING:
    import pandas as pd


Events: TypeAlias = "pa.Table | pa.RecordBatchReader | pd.DataFrame"


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
    idle_clock: bool | IdleClock = False,
    ahead: str | None = None,
    deduplicate: Mapping[str, tuple[str, str]] | None = None,
    correct_for: str | None = None,
    shares: Shares | None = None,
    aggregates: Mapping[str, type] | None = None,
    clusterings: Mapping[str, type] | None = None,
    functions: Mapping[str, type] | None = None,
    states: Mapping[str, str] | None = None,
    streams: Mapping[str, Events] | None = None,
    tables: Mapping[str, Events] | None = None,
    derived: Mapping[str, str] | None = None,
    views: Mapping[str, str] | None = None,
    indexes: Sequence[str] = (),
    expiry: str | Expiry | None = None,
    choose: Mapping[str, Any] | None = None,
    memory: str | int = DEFAULT_BYTES,
    spill: str | Path | None = None,
    shards: int = 1,
    told: Told | None = None,
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

    Events are tables of Arrow or pandas, given by name or as `streams`, which may have any name; those of one stream
    may be a `pyarrow.RecordBatchReader`, whose batches are worked off one after the other and let go. Then `told` may
    be a function: it is given the name of a query ("query" where it has none) and the rows that a batch has brought,
    as soon as they are there, and none is kept: such a stream may be endless. `time` is the column with each event's
    time, or `times` that of each stream; `batch_rows` cuts the events into batches; `flush`
    closes every window that holds an event at the end, and lets rows of windows without a slide expire. `aggregates`,
    `clusterings` and `functions` (that remember: `FROM f(TABLE s PARTITION BY k)`) are user-defined ones, by name, and
    `states` says "pickle" of those whose states are to be stored as pickles; `tables` do not change and can be joined;
    `derived` are streams whose events are the answers of queries, by name, and `views` queries that others name;
    `indexes` are texts such as "CREATE INDEX ...", which requests are joined with. `deduplicate` says of streams by
    what, and within which time, events are duplicates: {"clicks": ("id", "1 hour")}. With `correct_for`, such as "1
    minute", windows are answered again for late events, as `-` and `+`. With `shares`, streams are shed as those with
    SHED ABOVE: of each batch this share of rows is taken, 1, 1/2, 1/4, ..., the last of several in all batches that
    follow; results have `sampled`. `expiry` is how rows of joins and set operators
    expire, if not as is cheapest; `choose` asks for this and other ways by name, as {"maintenance": "DABA"}. `shards`
    is how many DISTRIBUTE BY may name; here all of them run in one process.

    `memory`, such as "64 MB", is how much of the windows may be in memory, as that of a shard; what is beyond it lies
    in blocks, as bytes in memory, or with `spill` in a file of that folder, which is gone when all is done.

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
    read = reader_in({**(streams or {}), **named}, batch_rows)
    static = {name: as_arrow(table, name) for name, table in (tables or {}).items()}
    plugged: dict[str, Any] = {"aggregates": aggregates or {}, "clusterings": clusterings or {}, "states": states}
    plugged["functions"] = functions
    settings: dict[str, Any] = {"time": time, "lateness": lateness, "idle_clock": idle_clock, "ahead": ahead}
    settings |= {"times": times, "deduplicate": deduplicate, "correct_for": correct_for, "shed": shares is not None}
    catalog = local_catalog(events, static, **settings, **plugged)
    catalog = replace(catalog, views={name: parse_query(query) for name, query in (views or {}).items()})
    known = with_derived(catalog, static.__getitem__, derived or {}) if indexes else catalog
    bound = read_indexes(indexes, known, Compiler(known, static.__getitem__, Wishes()).columns_of)
    catalog = replace(catalog, indexes={index.facts.name: index for index in bound})
    way = read_expiry(expiry)
    wanted = read_choose(choose, expiry=way and way.value)
    wishes = Wishes(read_memory(memory), wanted, in_one=read_shards(shards))
    texts, heartbeats = {"query": text} if isinstance(text, str) else text, list(heartbeats)
    plans = compile_queries(texts, catalog, static.__getitem__, wishes, derived or {})
    found: dict[str, pa.Table] = {}
    if told is not None and read is None:
        raise SettingsError("told= is for events that come batch by batch\nhint: give a pyarrow.RecordBatchReader")
    if read is not None:
        if arrivals is not None or heartbeats:
            raise SettingsError("a reader has no arrivals: give a table")
        found = batch_by_batch(
            *read, plans.values(), catalog.streams, events, flush, spill, shares, _asked(told, texts)
        )
        plans = {}
    for plan in plans.values():
        needless = bool(heartbeats) or (arrivals is not None and ahead is None)
        beats = any(stream.timing.has_heartbeat for stream in plan.read)
        if {query.name for query in plan.changing} & texts.keys() and needless and not beats:
            raise SettingsError("this query needs no arrivals: its streams have times of their own")
        with blocks_in(spill) as blocks:
            replayed = StageReplay(plan, catalog.streams, events, blocks, shares)
            found |= replayed.run_all(batch_rows, flush, arrivals, heartbeats)
    return found["query"] if isinstance(text, str) else {name: found[name] for name in texts}


def with_derived(catalog: Catalog, tables: Tables, derived: Mapping[str, str]) -> Catalog:
    """What is known when there are streams made of answers, too, which may be made of each other."""
    for name, text in derived.items():
        made = Compiler(catalog, tables, Wishes()).derive_stream(name, parse_query(text))
        catalog = catalog.with_stream(made)
    return catalog


def _asked(told: Told | None, texts: Mapping[str, str]) -> Told | None:
    """Who is told of the queries that were asked, and of none that others are made of."""
    return told and (lambda name, rows: told(name, rows) if name in texts else None)


def read_shards(shards: object) -> int:
    """How many shards there are, unless that is no number of them."""
    if not isinstance(shards, int) or isinstance(shards, bool) or shards < 1:
        raise SettingsError(f"shards={shards!r} is not a whole number from 1")
    return shards


class Replay(StageReplay):
    """One query over streams, perhaps joined with `tables`, in one process; the shard's state is in `blocks`.

    `choose` asks for ways by name, and `memory` limits what is in memory, as those of `replay`; for blocks on disk,
    `blocks` may be `FileBlocks(path)` of `windrow.storage.file_blocks`. Instead of a query it may be an index,
    `CREATE INDEX ...`, which is then asked as that of a job is: by `lookup`, `scan`, `aggregate` and `ask`, as of the
    last batch; it may be over one of the `derived` streams, whose events are the answers of queries, by name.
    `structure` names how it keeps its keys, or is a class of your own.
    """

    def __init__(
        self,
        query: str | Query,
        *,
        time: str | None = "ts",
        times: Mapping[str, str | None] | None = None,
        lateness: str = "0 seconds",
        idle_clock: bool | IdleClock = False,
        ahead: str | None = None,
        deduplicate: Mapping[str, tuple[str, str]] | None = None,
        correct_for: str | None = None,
        shares: Shares | None = None,
        aggregates: Mapping[str, type] | None = None,
        clusterings: Mapping[str, type] | None = None,
        functions: Mapping[str, type] | None = None,
        states: Mapping[str, str] | None = None,
        blocks: Blocks | None = None,
        streams: Mapping[str, pa.Table] | None = None,
        tables: Mapping[str, pa.Table] | None = None,
        choose: Mapping[str, Any] | None = None,
        memory: str | int = DEFAULT_BYTES,
        structure: str | MakeStructure | None = None,
        shards: int = 1,
        views: Mapping[str, str] | None = None,
        derived: Mapping[str, str] | None = None,
        **named: pa.Table,
    ) -> None:
        events = {**(streams or {}), **named}
        catalog = local_catalog(
            events,
            tables or {},
            time=time,
            times=times,
            lateness=lateness,
            idle_clock=idle_clock,
            ahead=ahead,
            deduplicate=deduplicate,
            correct_for=correct_for,
            shed=shares is not None,
            aggregates=aggregates or {},
            clusterings=clusterings or {},
            states=states,
            functions=functions,
        )
        wishes = Wishes(read_memory(memory), read_choose(choose), in_one=read_shards(shards))
        catalog = replace(catalog, views={name: parse_query(view) for name, view in (views or {}).items()})
        read = dict(tables or {}).__getitem__
        catalog = with_derived(catalog, read, derived or {})
        bound = index_in(query, catalog, Compiler(catalog, read, wishes).columns_of)
        self._index = None if bound is None else ReplayedIndex(bound, structure)
        asked = query if bound is None else bound.query
        plans = compile_queries({"query": asked}, catalog, read, wishes)
        (plan,) = plans.values()
        super().__init__(plan, catalog.streams, events, blocks, shares)

    def lookup(self, index: str, /, **key: Any) -> pa.Table:
        """The events of one key in the window of an index, in order of time."""
        return self._indexed.named(index).lookup(**key)

    def scan(self, index: str, /, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given; the last column may be a range, (low, high)."""
        return self._indexed.named(index).scan(**key)

    def aggregate(self, index: str, expression: str, /, **key: Any) -> Any:
        """One aggregate, such as "AVG(speed)", of the events that `scan` finds."""
        return self._indexed.aggregate(index, expression, key)

    def ask(self, text: str) -> pa.Table:
        """The answer of a SELECT over what the index holds."""
        return self._indexed.ask(text)

    @property
    def _indexed(self) -> ReplayedIndex:
        if self._index is None:
            raise SettingsError("this replays a query, not an index\nhint: Replay('CREATE INDEX ...', ...)")
        return self._index

    def _outcome(self, payloads: Sequence[Payload]) -> Outcome:
        outcome = super()._outcome(payloads)
        if self._index is not None:
            self._index.take(outcome, self.query.name, self.shard.clock)
        return outcome
