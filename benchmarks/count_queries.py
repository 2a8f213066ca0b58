"""Thousands of queries over rows in one job, by each schedule: Knowing When to Slide (2010), Figures 5 to 9."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from unittest import mock

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.read_choose import read_choose
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.catalog import Stream
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.rows.due_in_panes import RowTurns
from windrow.storage.blocks import MemoryBlocks

from .size import Size

WAYS = ("plain", "grouped", "graph", "optimized graph", "calendar")
MAX_SLIDES, BATCH = (200, 800, 2000), 500
ROWS, TIME = "rows", "time"


@dataclass(frozen=True, slots=True)
class CountCase:
    """So many queries over `windows`, by one schedule: CPU a tuple, what the schedule takes of it, and bytes held."""

    windows: str
    queries: int
    max_slide: int
    schedule: str
    tuple_us: float
    schedule_us: float
    bytes_held: int
    answers: int


def queries_of(windows: str, count: int, max_slide: int) -> dict[str, str]:
    """Slides at random, ranges of one to four of them; a tuple a second, so that time and rows are the same."""
    random = np.random.default_rng((count, max_slide))
    texts = {}
    for number in range(count):
        slide = int(random.integers(2, max_slide + 1))
        reach = slide * int(random.integers(1, 5))
        window = f"ROWS {reach} SLIDE {slide}" if windows == ROWS else f"RANGE {reach} SECONDS SLIDE {slide} SECONDS"
        texts[f"q{number}"] = f"SELECT COUNT(*) AS n, SUM(x) AS s FROM ticks [{window}]"
    return texts


@lru_cache(maxsize=1)
def planned(windows: str, count: int, tuples: int, max_slide: int) -> tuple[StagePlan, dict[str, Stream], pa.Table]:
    """The plan of all queries, which takes far longer than to run them: once for all schedules."""
    random = np.random.default_rng(1)
    times = pa.array(np.arange(tuples) * 1_000_000, pa.timestamp("us", tz="UTC"))
    ticks = pa.table({"ts": times, "x": random.integers(0, 1000, tuples)})
    catalog = local_catalog(
        {"ticks": ticks}, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    (plan,) = compile_queries(queries_of(windows, count, max_slide), catalog, {}.__getitem__, Wishes(), {}).values()
    return plan, dict(catalog.streams), ticks


def measure(
    windows: str,
    count: int,
    tuples: int,
    schedule: str | None = None,
    batch: int = BATCH,
    max_slide: int = MAX_SLIDES[-1],
) -> CountCase:
    """Replay `tuples` through all queries at once; parsing and planning are not in the time."""
    plan, streams, ticks = planned(windows, count, tuples, max_slide)
    if schedule is not None:
        wanted = read_choose({"schedule": schedule})
        plan = replace(plan, streams=tuple(replace(stream, wanted=wanted) for stream in plan.streams))
    blocks = MemoryBlocks()
    replay = StageReplay(plan, streams, {"ticks": ticks}, blocks)
    spent, between = 0.0, RowTurns.between

    def timed(turns: RowTurns, before: int | None, clock: int) -> list[int]:
        nonlocal spent
        began = time.process_time()
        due = between(turns, before, clock)
        spent += time.process_time() - began
        return due

    with mock.patch.object(RowTurns, "between", timed):
        began = time.process_time()
        found = replay.run_all(batch)
        took = time.process_time() - began
    check(found, ticks, windows, queries_of(windows, count, max_slide))
    held = sum(map(len, blocks._blocks.values()))
    answers = sum(table.num_rows for table in found.values())
    us = (took / tuples * 1e6, spent / tuples * 1e6)
    return CountCase(windows, count, max_slide, schedule or "chosen", *us, held, answers)


def check(found: Mapping[str, pa.Table], ticks: pa.Table, windows: str, queries: Mapping[str, str]) -> None:
    """Every answer of some queries is what a running sum says of exactly its rows."""
    if windows != ROWS:
        return
    sums = np.concatenate([[0], np.cumsum(ticks["x"].to_numpy())])
    for name, text in list(queries.items())[:: max(1, len(queries) // 20)]:
        words = text.split("[")[1].rstrip("]").split()
        reach, slide = int(words[1]), int(words[3])
        highs = np.arange(slide, ticks.num_rows, slide)  # the last row is not numbered: its equal may follow
        lows = np.maximum(highs - reach, 0)
        assert found[name]["window_row"].to_pylist() == highs.tolist(), f"{name}: other windows"
        assert found[name]["s"].to_pylist() == (sums[highs] - sums[lows]).tolist(), f"{name}: other sums"


def measure_count_queries(size: Size, console: Console) -> Iterator[CountCase]:
    """Figures 5 to 9 through queries, and 100 queries over rows beside 100 over time."""
    tuples = size.of(600, 5_000, 10_000)
    for schedule in WAYS:
        measure(ROWS, 10, 600, schedule)  # what compiles at its first use is compiled by now
    for max_slide in size.of(MAX_SLIDES[-1:], MAX_SLIDES[-1:], MAX_SLIDES):
        for count in size.of((10,), (10, 100, 1000), (10, 100, 1000, 10_000)):
            console.print(f"  {count:,} queries over rows, slides up to {max_slide} ...")
            for schedule in WAYS:
                yield measure(ROWS, count, tuples, schedule, max_slide=max_slide)
    beside, events = size.of((10, 600), (100, 20_000), (100, 20_000))
    for windows in (TIME, ROWS):
        measure(windows, beside, min(events, 4_000), batch=2000)
    for windows in (TIME, ROWS):
        yield measure(windows, beside, events, batch=2000)


def report_count_queries(console: Console, cases: list[CountCase]) -> None:
    table = Table(title="Queries over rows in one job, CPU a tuple")
    for column in (
        "slides up to",
        "queries",
        "windows",
        "schedule",
        "a tuple, us",
        "of it the schedule, us",
        "bytes held",
        "answers",
    ):
        table.add_column(column, justify="left" if column in ("windows", "schedule") else "right")
    for case in cases:
        figures = (f"{case.tuple_us:,.1f}", f"{case.schedule_us:,.2f}", f"{case.bytes_held:,}", f"{case.answers:,}")
        table.add_row(f"{case.max_slide}", f"{case.queries:,}", case.windows, case.schedule, *figures)
    console.print(table)
    over_time, over_rows = (case for case in cases if case.schedule == "chosen")
    ratios = (over_rows.tuple_us / over_time.tuple_us, over_rows.bytes_held / over_time.bytes_held)
    told = f"{ratios[0]:.2f} of the CPU and {ratios[1]:.2f} of the bytes"
    console.print(f"{over_rows.queries} queries over rows take {told} of as many over time (aim: at most 1.5)")
