"""What the answers must be: which events count and which windows are due in plain Python, the values from DuckDB."""

from __future__ import annotations

import atexit
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa

TIME = pa.timestamp("us", tz="UTC")
FIRST_TIME, LAST_TIME = (
    (time - datetime(1970, 1, 1)) // timedelta(microseconds=1) for time in (datetime.min, datetime.max)
)
"""The times that Python has, in microseconds."""

BEFORE = -(1 << 62)
"""Before all clocks."""

Times = Sequence[int | None]

_OPEN = [duckdb.connect(config={"threads": 1})]
atexit.register(_OPEN.clear)  # DuckDB's binding complains of what is left when Python ends


def cursor() -> duckdb.DuckDBPyConnection:
    """A connection whose temporary tables and views no other sees, to the one database: to open one takes long."""
    return _OPEN[0].cursor()


@dataclass(frozen=True)
class Window:
    """A window as it is written, and the rules of it, each from its definition and none from the code."""

    range_us: int | None
    slide_us: int
    offset_us: int = 0

    def __str__(self) -> str:
        reach = "UNBOUNDED" if self.range_us is None else f"{self.range_us} MICROSECONDS"
        offset = f" OFFSET {self.offset_us} MICROSECONDS" if self.offset_us else ""
        return f"[RANGE {reach} SLIDE {self.slide_us} MICROSECONDS{offset}]"

    def next_end(self, time: int) -> int:
        """The first end of a window after `time`."""
        return self._next(self.offset_us, time)

    def next_edge(self, time: int) -> int:
        """The first instant after `time` at which a window begins or ends: there the pane of `time` ends."""
        if self.range_us is None:
            return self.next_end(time)
        return min(self.next_end(time), self._next(self.offset_us - self.range_us, time))

    def ends_over(self, time: int, until: int) -> range:
        """The ends, up to `until`, of the windows that hold an event at `time`."""
        last = until if self.range_us is None else min(until, time + self.range_us)
        return range(self.next_end(time), last + 1, self.slide_us)

    def is_late(self, time: int, clock: int) -> bool:
        """Whether every window that holds an event at `time` has ended at `clock`; one without bound never has."""
        if self.range_us is None:
            return False
        last = self._next(self.offset_us, time + self.range_us) - self.slide_us
        return time < last <= clock

    def _next(self, anchor: int, time: int) -> int:
        return anchor + ((time - anchor) // self.slide_us + 1) * self.slide_us


def shown_start(range_us: int | None, end: int) -> int | None:
    """When a window begins that ends at `end`; before all events there can be, that is no instant."""
    start = FIRST_TIME - 1 if range_us is None else end - range_us
    return None if start < FIRST_TIME else start


@dataclass(frozen=True)
class Verdict:
    """What became of a stream: the rows that count, each with the clock before its batch, how many do not, or not in
    all of their windows, and the clock after each batch."""

    kept: dict[int, int]
    late: list[int]
    in_part: list[int]
    untimed: list[int]
    clocks: list[int | None]
    impossible: list[int] = field(default_factory=list)

    def ends(self, window: Window, times: Times, flush: bool = False) -> list[set[int]]:
        """For each batch, the ends of the windows that are answered in it; with `flush`, one more for the end."""
        before, due = None, []
        held = {(time, came) for row, came in self.kept.items() if (time := times[row]) is not None}
        for clock in [*self.clocks, *([_end(window, [time for time, _ in held])] if flush else [])]:
            if clock is None:
                due.append(set())
                continue
            every = {end for time, came in held for end in window.ends_over(time, min(clock, LAST_TIME)) if end > came}
            due.append({end for end in every if before is None or end > before})
            before = clock if before is None else max(before, clock)
        return due


def _end(window: Window, held: list[int]) -> int | None:
    """When the last window ends that holds an event; a window without bound closes once more."""
    if window.range_us is None:
        return window.next_end(max(held)) if held else None
    return max((time + window.range_us for time in held), default=None)


def judge(window: Window, batches: Sequence[Times], lateness_us: int) -> Verdict:
    """Tell which rows count: not those all of whose windows had been answered when their batch began, nor those
    without a time, or with one that Python does not have. In the gap between two windows nobody is late."""
    kept, late, in_part, untimed, impossible, clocks, clock, newest, row = {}, [], [], [], [], [], None, None, 0
    for batch in batches:
        late.append(0)
        in_part.append(0)
        untimed.append(0)
        impossible.append(0)
        for time in batch:
            if time is None:
                untimed[-1] += 1
            elif not FIRST_TIME <= time <= LAST_TIME:
                impossible[-1] += 1
            elif clock is not None and window.is_late(time, clock):
                late[-1] += 1
            else:
                in_part[-1] += clock is not None and bool(window.ends_over(time, clock))
                kept[row] = BEFORE if clock is None else clock
            row += 1
        seen = [time for time in batch if time is not None and FIRST_TIME <= time <= LAST_TIME]
        seen += [] if newest is None else [newest]
        if seen:
            newest = max(seen)
            clock = newest - lateness_us
        clocks.append(clock)
    return Verdict(kept, late, in_part, untimed, clocks, impossible)


class Oracle:
    """DuckDB over the events that count; `t` is an event's time in microseconds, `seq` its place in the stream.

    `came` is the clock before an event's batch, where `kept` has it: windows that end by then have been answered.
    """

    def __init__(self, events: pa.Table, kept: Sequence[int] | Mapping[int, int]) -> None:
        self._db = cursor()
        times = events["ts"].cast(pa.int64())
        events = events.append_column("t", times).append_column("seq", pa.array(range(events.num_rows), pa.int64()))
        came = kept.values() if isinstance(kept, Mapping) else [BEFORE] * len(kept)
        events = events.take(pa.array(list(kept), pa.int64()))
        self._db.register("given", events.append_column("came", pa.array(list(came), pa.int64())))
        self._db.execute("CREATE TEMP TABLE events AS SELECT * FROM given")

    def grouped(
        self, select: str, keys: Sequence[str], window: Window, ends: Sequence[int], where: str = "true"
    ) -> list[dict]:
        """`select` over the events of each window, for all windows at once."""
        bounds = pa.table({"window_end": pa.array(ends, pa.int64())})
        self._db.register("ends", bounds)
        low = "true" if window.range_us is None else f"t >= window_end - {window.range_us}"
        found = self._db.sql(
            f"SELECT window_end, {select} FROM ends JOIN events ON t < window_end AND came < window_end AND {low}"
            f" WHERE {where} GROUP BY {', '.join(['window_end', *keys])}"
        )
        return plain_rows(found.to_arrow_table())

    def each(self, query: str, window: Window, ends: Sequence[int]) -> list[dict]:
        """`query`, word for word but for the window, over the table `ticks` of exactly one window's events."""
        rows = []
        for end in ends:
            low = "" if window.range_us is None else f" AND t >= {end - window.range_us}"
            inside = f"t < {end} AND came < {end}{low}"
            self._db.execute(f"CREATE OR REPLACE TEMP VIEW ticks AS SELECT * FROM events WHERE {inside}")
            rows += [{"window_end": end} | row for row in plain_rows(self._db.sql(query).to_arrow_table())]
        return rows


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows as Python's own values; times as microseconds, since Python has no year 0 and none after 9999."""
    columns = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
        columns.append(column.to_pylist())
    return [dict(zip(table.column_names, values)) for values in zip(*columns)]


def canonical(value: Any) -> Any:
    """A value by which rows can be matched: one NaN, one zero."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def by_place(rows: Sequence[dict], keys: Sequence[str]) -> dict[tuple, dict]:
    """The rows by window and group, of which none may occur twice."""
    placed = {(row["window_end"], *(canonical(row[key]) for key in keys)): row for row in rows}
    assert len(placed) == len(rows), "a window answered a group twice"
    return placed


def same(mine: Any, theirs: Any, relative: float = 0.0) -> bool:
    """Equal, of the same type; floats up to `relative` and both or none of them NaN."""
    if isinstance(mine, float) and isinstance(theirs, float):
        if math.isnan(mine) or math.isnan(theirs):
            return math.isnan(mine) and math.isnan(theirs)
        return mine == theirs or math.isclose(mine, theirs, rel_tol=relative, abs_tol=relative)
    if isinstance(mine, Decimal) and isinstance(theirs, Decimal):
        return mine == theirs
    return type(mine) is type(theirs) and mine == theirs
