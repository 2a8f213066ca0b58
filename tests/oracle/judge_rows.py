"""What windows that count rows must answer: which rows get numbers and which windows are due, from the definition.

The rows are numbered and put into windows in plain Python; the values of each window are DuckDB's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from .judge import canonical, cursor, plain_rows
from .streams import Stream


@dataclass(frozen=True)
class RowsWindow:
    """A window as it is written; ranges and slides in microseconds or in rows, None for a range without bound."""

    rows: int | None = None
    range_us: int | None = None
    slide_rows: int | None = None
    slide_us: int | None = None
    offset_us: int = 0
    partition: tuple[str, ...] = ()

    def __str__(self) -> str:
        keys = f"PARTITION BY {', '.join(self.partition)} " if self.partition else ""
        reach = f"RANGE {self.range_us} MICROSECONDS" if self.range_us else f"ROWS {self.rows or 'UNBOUNDED'}"
        if self.slide_rows:
            return f"[{keys}{reach} SLIDE {self.slide_rows} ROWS]"
        offset = f" OFFSET {self.offset_us} MICROSECONDS" if self.offset_us else ""
        return f"[{keys}{reach} SLIDE {self.slide_us} MICROSECONDS{offset}]"


@dataclass(frozen=True)
class Answered:
    """A window: the places of its rows in the stream, in order, and the number of the last one."""

    members: list[int]
    number: int


def judged(window: RowsWindow, stream: Stream, counted: Sequence[bool], keys: Sequence) -> list[list[Answered]]:
    """For each batch the windows that it makes due, and those of a flush at the end.

    `counted` tells which rows are rows of the window's stream at all, `keys` what each is counted by.
    """
    kept, clocks, newest, clock = [], [], None, None
    for start, size in stream.bounds:
        batch = [(time, row) for row, time in enumerate(stream.times) if start <= row < start + size]
        timed = [(time, row) for time, row in batch if time is not None]
        kept += [(time, row) for time, row in timed if counted[row] and (clock is None or time >= clock)]
        if timed:
            newest = max([time for time, _ in timed] + ([] if newest is None else [newest]))
            clock = newest - stream.lateness_us
        clocks.append(clock)
    end = None
    if newest is not None:
        end = max(clock, newest + 1 if window.slide_rows else _next_instant(window, newest))
    answers: list[list[Answered]] = []
    streams: dict = {}
    for time, row in sorted(kept):
        streams.setdefault(keys[row], []).append((time, row))
    before = None
    for until in [*clocks, end]:
        rows = streams.values() if until is not None else []
        answers.append([answer for one in rows for answer in _due(window, one, before, until)])
        before = until
    return answers


def _next_instant(window: RowsWindow, time: int) -> int:
    return window.offset_us + ((time - window.offset_us) // window.slide_us + 1) * window.slide_us


def _due(window: RowsWindow, rows: list[tuple[int, int]], before: int | None, until: int) -> Iterator[Answered]:
    """The windows of one stream of rows, in order, that become due as the clock goes from `before` to `until`."""
    if window.slide_rows:
        for number in range(window.slide_rows, len(rows) + 1, window.slide_rows):
            time = rows[number - 1][0]
            if time < until and (before is None or time >= before):
                yield _answered(window, rows[:number])
        return
    instant = _next_instant(window, rows[0][0] if before is None else before)
    while instant <= until:
        seen = [row for row in rows if row[0] < instant]
        if seen:
            yield _answered(window, seen)
        instant += window.slide_us


def _answered(window: RowsWindow, seen: list[tuple[int, int]]) -> Answered:
    if window.range_us:
        members = [row for time, row in seen if time > seen[-1][0] - window.range_us]
    else:
        members = [row for _, row in seen][-(window.rows or len(seen)) :]
    return Answered(members, len(seen))


class RowsOracle:
    """DuckDB over exactly the rows of each window; `t` is a row's time in microseconds, `seq` its place in the stream."""

    def __init__(self, events: pa.Table) -> None:
        self._db = cursor()
        times = events["ts"].cast(pa.int64())
        events = events.append_column("t", times).append_column("seq", pa.array(range(events.num_rows), pa.int64()))
        self._db.register("given", events)
        self._db.execute("CREATE TEMP TABLE events AS SELECT * FROM given")
        self._times = times.to_pylist()

    def answers(self, windows: Sequence[Answered], select: str, keys: Sequence[str], where: str) -> list[dict]:
        """`select` over the rows of each of `windows`, with its times and its last row's number before it."""
        members = [(number, row) for number, window in enumerate(windows) for row in window.members]
        self._db.register(
            "members",
            pa.table(
                {
                    "w": pa.array([number for number, _ in members], pa.int64()),
                    "seq": pa.array([row for _, row in members], pa.int64()),
                }
            ),
        )
        found = self._db.sql(
            f"SELECT w, {select} FROM members JOIN events USING (seq) WHERE {where} GROUP BY {', '.join(['w', *keys])}"
        )
        rows = []
        for row in plain_rows(found.to_arrow_table()):
            window = windows[row.pop("w")]
            start, end = self._times[window.members[0]], self._times[window.members[-1]]
            rows.append({"window_start": start, "window_end": end, "window_row": window.number} | row)
        return rows


def sortable(row: dict) -> tuple:
    """Rows in an order that does not depend on who made them."""
    return tuple((value is None, str(type(value)), str(canonical(value))) for value in row.values())
