"""Streams and windows to try: ties, gaps, holes, latecomers, times long before 1970, and batches of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from .judge import FIRST_TIME, LAST_TIME, TIME, Verdict, Window, judge

MICROSECOND, MILLISECOND, SECOND, HOUR, DAY = 1, 10**3, 10**6, 3_600 * 10**6, 86_400 * 10**6
UNITS = (MICROSECOND, MILLISECOND, SECOND, HOUR, DAY)
YEAR_1, YEAR_2023, YEAR_9990 = -62_135_596_800 * 10**6, 1_700_000_000 * 10**6, 253_100_000_000 * 10**6

Column = tuple[pa.DataType, st.SearchStrategy]


@dataclass(frozen=True)
class Stream:
    """Events in the order of their arrival, cut into batches."""

    columns: Mapping[str, tuple[pa.DataType, list[Any]]]
    times: list[int | None]
    sizes: list[int]
    window: Window
    lateness_us: int

    @property
    def events(self) -> pa.Table:
        columns = {name: pa.array(values, type) for name, (type, values) in self.columns.items()}
        return pa.table({"ts": pa.array(self.times, pa.int64()).cast(TIME)} | columns)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where each batch begins and how many events it has."""
        return list(zip(accumulate(self.sizes, initial=0), self.sizes))

    @property
    def lateness(self) -> str:
        return f"{self.lateness_us} microseconds"

    def judged(self) -> Verdict:
        return judge(self.window, [self.times[start : start + size] for start, size in self.bounds], self.lateness_us)


@st.composite
def windows(draw: st.DrawFn, unit: int, unbounded: str = "sometimes") -> Window:
    """Ranges that are multiples of the slide, and not, and shorter than it, with offsets."""
    slide = draw(st.integers(1, 6))
    reach = draw(st.integers(1, 24) | st.sampled_from([slide, 2 * slide, 3 * slide]))
    odd = draw(st.sampled_from([0, 0, 0, 1])) if unit > 1 else 0
    offset = draw(st.just(0) | st.integers(-20, 20))
    if unbounded == "always" or (unbounded == "sometimes" and draw(st.integers(0, 7)) == 7):
        return Window(None, slide * unit, offset * unit)
    return Window(reach * unit + odd, slide * unit, offset * unit)


@st.composite
def streams(
    draw: st.DrawFn,
    columns: Mapping[str, Column],
    max_rows: int = 40,
    unbounded: str = "sometimes",
    holes: bool = True,
    impossible: bool = False,
) -> Stream:
    """Events with `columns`; windows are `unbounded` "never", "sometimes" or "always"; a hole is an event without a time.

    Times are of years 1 to 9999; with `impossible` they may be of any.
    """
    unit = draw(st.sampled_from(UNITS))
    window = draw(windows(unit, unbounded))
    bases = [YEAR_1 - 20 * unit, LAST_TIME - 30 * unit] if impossible else [0, -30 * unit, YEAR_1, YEAR_2023, YEAR_9990]
    base = draw(st.sampled_from(bases))
    jump = draw(st.sampled_from([0, 0, 0, 1_000])) if window.range_us is not None else 0
    step = st.tuples(st.integers(0, 50), st.sampled_from([0, 0, 0, -1, 1]), st.sampled_from([0, 0, 0, 0, 1]))
    if holes:
        step = st.just(None) | step if draw(st.integers(0, 3)) == 3 else step
    count = draw(st.integers(0, max_rows))  # lists of no given size are mostly short
    row = st.tuples(step, *(values for _, values in columns.values()))
    rows = draw(st.lists(row, min_size=count, max_size=count))
    noise = draw(st.sampled_from([0, 3, 60]))
    rows = [row for _, row in sorted(enumerate(rows), key=lambda numbered: _arrival(*numbered, noise))]
    times = [None if step is None else base + _place(step, unit, jump) for step, *_ in rows]
    if not impossible:
        times = [None if time is None else min(max(time, FIRST_TIME), LAST_TIME) for time in times]
    given = {name: (type, [row[i + 1] for row in rows]) for i, (name, (type, _)) in enumerate(columns.items())}
    lateness = draw(st.sampled_from([0, 0, 0, 1, 3, 10, 30])) * unit
    return Stream(given, times, draw(sizes(len(rows))), window, lateness)


def _place(step: tuple[int, int, int], unit: int, jump: int) -> int:
    """A time on an edge, or a microsecond beside it, perhaps far away from the others."""
    units, beside, far = step
    return (units + far * jump) * unit + (beside if unit > 1 else 0)


def _arrival(row: int, values: tuple, noise: int) -> tuple[int, int]:
    """Events arrive nearly in order of time, or, with much noise, in any order."""
    if noise == 60 or values[0] is None:
        return 0, row
    units, _, far = values[0]
    return 100 * far + units + (row * 7919) % (noise + 1), row


@st.composite
def sizes(draw: st.DrawFn, rows: int) -> list[int]:
    """How many events each batch has: all, one each, or anything, also none."""
    match draw(st.sampled_from(["all", "any", "any", "one"])):
        case "all":
            return [rows]
        case "one":
            return [1] * min(rows, 12) + ([rows - 12] if rows > 12 else [])
    cuts = sorted(draw(st.lists(st.integers(0, rows), min_size=2, max_size=6)))
    return [stop - start for start, stop in zip([0, *cuts], [*cuts, rows])]
