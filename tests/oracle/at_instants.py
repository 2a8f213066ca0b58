"""Query texts over random streams, at every instant beside DuckDB: `a {5}` is stream a through a window of 5 microseconds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st

import windrow
from windrow.local.replay import Replay
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard

from .judge import TIME, canonical, cursor, plain_rows

LATENESS = 3
STREAMS = ("a", "b")
_WINDOW = re.compile(r"\b(\w+) \{(\d*)\}(?: AS (\w+))?")
Held = Counter[tuple]


@dataclass(frozen=True)
class Drawn:
    """Streams as they arrive, out of order within the lateness, cut into batches, with or without restarts."""

    tables: dict[str, pa.Table]
    batch_rows: int | None
    restarts: bool

    @property
    def newest(self) -> int:
        return max(int(table["ts"].cast(pa.int64()).to_numpy().max()) for table in self.tables.values())


@st.composite
def drawn(draw: st.DrawFn, most: int = 14) -> Drawn:
    """Two streams with ties, duplicates, NULLs and gaps."""
    tables = {}
    chance = random.Random(draw(st.integers(0, 2**32)))
    for name in STREAMS:
        rows = chance.randint(1, most)
        times = sorted((chance.randint(0, 30) for _ in range(rows)), key=lambda time: time + chance.random() * LATENESS)
        tables[name] = pa.table(
            {
                "ts": pa.array(times, pa.int64()).cast(TIME),
                "k": pa.array([chance.choice(["nut", "bolt", "gear", None]) for _ in times], pa.string()),
                "x": pa.array([chance.choice([0.5, 1.0, 3.0, None]) for _ in times], pa.float64()),
                "n": pa.array([chance.randint(1, 4) for _ in times], pa.int64()),
            }
        )
    return Drawn(tables, draw(st.sampled_from([None, 1, 4])), draw(st.booleans()))


def text_of(query: str, slide: str = "") -> str:
    """The query as Windrow reads it; without a number a stream has no window."""

    def window(found: re.Match) -> str:
        name, reach, alias = found.groups()
        written = f" [RANGE {reach} MICROSECONDS{slide}]" if reach else ""
        return f"{name}{written}" + (f" AS {alias}" if alias else "")

    return _WINDOW.sub(window, query)


def plain_text(query: str, instant: int, before: bool = False) -> str:
    """The query for DuckDB over the events in the windows at an instant; `before` leaves out those of the instant."""

    def events(found: re.Match) -> str:
        name, reach, alias = found.groups()
        low, high = (
            (instant - int(reach or 10**6), instant) if before else (instant - int(reach or 10**6) + 1, instant + 1)
        )
        where = f"epoch_us(ts) >= {low} AND epoch_us(ts) < {high}"
        return f"(SELECT * FROM {name} WHERE {where}) AS {alias or name}"

    return _WINDOW.sub(events, query)


def results(query: str, streams: Drawn, **settings: object) -> Iterator[dict]:
    """What a query sends, row by row, batch by batch, with the state taken out and in between where asked."""
    replay = Replay(query, lateness=f"{LATENESS} microseconds", **settings, **streams.tables)
    for batch in [*replay.batches(streams.batch_rows), None]:
        payloads = [Payload(0, 0, 0, None, FLUSH, b"")]
        found = replay._finished(replay._outcome(payloads)) if batch is None else replay.step(batch)
        for table in found:
            yield from plain_rows(table)
        if streams.restarts:
            replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())


def wanted(query: str, streams: Drawn, instant: int, before: bool = False) -> Held:
    """DuckDB's answer over the events in the windows at an instant."""
    with cursor() as database:
        database.execute("SET TimeZone = 'UTC'")
        for name, table in streams.tables.items():
            database.register(name, table)
        rows = database.execute(plain_text(query, instant, before)).fetchall()
    return Counter(tuple(map(canonical, row)) for row in rows)


def added_up(rows: list[dict], instant: int) -> Held:
    """What was sent up to an instant: `+` adds a row, `-` takes it away."""
    held: Held = Counter()
    for row in rows:
        if row["time"] <= instant:
            held[row_values(row)] += 1 if row["op"] == "+" else -1
    assert min(held.values(), default=0) >= 0
    return +held


def row_values(row: dict) -> tuple:
    leading = ("op", "time", "window_start", "window_end")
    return tuple(canonical(value) for name, value in row.items() if name not in leading)


def check_at_instants(query: str, streams: Drawn, *, asked: str | None = None, reach: int = 12) -> None:
    """At every instant, what was sent so far is what DuckDB says; `query` is asked as it is, or as `asked`."""
    rows = list(results(text_of(asked or query), streams))
    for instant in range(streams.newest + reach + 2):
        assert added_up(rows, instant) == wanted(query, streams, instant), f"at {instant}"


def check_at_slides(query: str, streams: Drawn, slide: int, *, asked: str | None = None) -> None:
    """At every slide, the answer is what DuckDB says."""
    rows = list(results(text_of(asked or query, f" SLIDE {slide} MICROSECONDS"), streams))
    for end in range(0, streams.newest + slide + 1, slide):
        own = Counter(row_values(row) for row in rows if row["window_end"] == end)
        assert own == wanted(query, streams, end, before=True), f"at {end}"


def replayed(query: str, **tables: object) -> list[dict]:
    """The rows of a query over whole tables."""
    return plain_rows(windrow.replay(query, flush=True, **tables))
