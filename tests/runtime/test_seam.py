"""A history and the stream after it, cut anywhere, give the windows of one stream that has it all; the rest is seam."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.plan.instants import AFTER_ALL, BEFORE_ALL
from windrow.runtime.outcome import Outcome
from windrow.runtime.reject import Bounds
from windrow.runtime.slice.events import Slicer

from .core import SECOND, Core, events_of, plan_of, rows_of

TEXTS = [
    "SELECT k, COUNT(*), SUM(x) FROM ticks [RANGE 20 SECONDS SLIDE 3 SECONDS] GROUP BY k",
    "SELECT k, COUNT(*) FROM ticks [PARTITION BY k ROWS 3]",
]
SCHEMA = pa.schema({"ts": pa.timestamp("us", "UTC"), "k": pa.string(), "x": pa.int64()})
LATENESS = 4


@st.composite
def steady(draw: st.DrawFn) -> list[int]:
    """Times that go on, each at most the lateness before the one that came before."""
    clock, times = 0, []
    for step in draw(st.lists(st.integers(0, 5), min_size=1, max_size=40)):
        clock += step
        times.append(clock - draw(st.integers(0, LATENESS - 1)))
    return times


def batch(times: list[int], shift: int) -> pa.Table:
    rows = range(shift, shift + len(times))
    return events_of([t * SECOND for t in times], k=pa.array([f"k{i % 2}" for i in rows]), x=pa.array(rows, pa.int64()))


def work_off(core: Core, rows: pa.Table, bounds: Bounds | None) -> list[Outcome]:
    slicer = Slicer(core.plan, 0, [0], bounds=bounds)
    for part in core._evaluated(rows).to_batches():
        slicer.add(part)
    return core.process(slicer.payloads())


@given(steady(), st.integers(-5, 60), st.integers(1, 7), st.integers(0, 30), st.integers(0, 30))
def test_two_sources_are_as_one(times: list[int], until: int, size: int, more: int, less: int) -> None:
    """The lake has events after the seam, the stream some before it; either is left to the other."""
    whole = batch(times, 0)
    seconds = whole["ts"].cast(pa.int64()).to_pylist()
    at = until * SECOND
    before = [i for i, t in enumerate(seconds) if t < at]
    behind = [i for i, t in enumerate(seconds) if t >= at]
    lake, live = sorted(before + behind[:more]), sorted(before[len(before) - min(less, len(before)) :] + behind)
    two, one = Core(plan_of(TEXTS, SCHEMA, LATENESS * SECOND)), Core(plan_of(TEXTS, SCHEMA, LATENESS * SECOND))
    outcomes: list[Outcome] = []
    for rows, bounds in ((lake, (BEFORE_ALL, at)), (live, (at, AFTER_ALL))):
        for start in range(0, len(rows), size):
            outcomes += work_off(two, whole.take(rows[start : start + size]), bounds)
    outcomes += two.flush()
    alone: list[Outcome] = []
    for rows in (before, behind):
        for start in range(0, len(rows), size):
            alone += work_off(one, whole.take(rows[start : start + size]), None)
    alone += one.flush()
    assert _told(outcomes) == _told(alone)
    assert sum(outcome.seam for outcome in outcomes) == len(lake) - len(before) + len(live) - len(behind)
    assert sum(outcome.late for outcome in outcomes) == 0


def _told(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    return sorted(rows_of(outcomes), key=str)
