"""Who slides now: plain and grouped checks, the sliding graph and the calendar, as in Knowing When to Slide (2010)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from rich.console import Console
from rich.table import Table

from windrow.schedule.calendar import Calendar
from windrow.schedule.checks import GroupedCheck, PlainCheck
from windrow.schedule.choose import schedule_for
from windrow.schedule.clocked import ClockedSchedule
from windrow.schedule.graph_walk import GraphWalk
from windrow.schedule.optimize_graph import Limits

from .count_queries import measure_count_queries, report_count_queries
from .market import Market, run_apart
from .size import Size

TUPLES, COUNTED, BATCH = 10_000, 100_000, 500
PUSH = 11
"""A push and a pop are taken for 10 to 12 comparisons (section VII)."""

MAXIMA = (200, 800, 2000)
PLAIN, GROUPED, GRAPH, BEST, SOME, CALENDAR = "plain", "grouped", "graph", "optimized", "opt. a little", "calendar"
MAKE: dict[str, Callable[[], ClockedSchedule]] = {
    PLAIN: PlainCheck,
    GROUPED: GroupedCheck,
    GRAPH: GraphWalk,
    BEST: lambda: GraphWalk().optimized(),
    SOME: lambda: GraphWalk().optimized(Limits(node=0.001, graph=0.01)),
    CALENDAR: Calendar,
}
FEW = ((1, 2), (3, 3), (5, 6), (10, 10), (3, 20), (10, 50), (30, 100))
"""Small sets, as numbers of queries and greatest slides, for which a schedule is picked."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Microseconds of CPU, comparisons and pushes a tuple, in the mean over sets of slides."""

    schedule: str
    queries: int
    max_slide: int
    batch_us: float
    tick_us: float
    comparisons: float
    pushes: float

    @property
    def operations(self) -> float:
        return self.comparisons + PUSH * self.pushes


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, size = Console(), Size(size)
    found = list(measure_all(size, console))
    picks = list(measure_picks(size.of(1, 2, 10)))
    shard = measure_shard()
    counts = size.of((2_000,), (1_000_000,), (1_000_000, 20_000_000))
    kinds = ("random",) if size is Size.TINY else ("market", "random")
    markets = [run_apart(kind, count) for count in counts for kind in kinds]
    counting = list(measure_count_queries(size, console))
    report(console, found, picks, shard, markets)
    report_count_queries(console, counting)
    if json_path is not None:
        lines = [asdict(m) | {"operations": m.operations} for m in found]
        lines += [asdict(market) for market in markets] + picks + [shard]
        lines += [asdict(case) for case in counting]
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(found, plot_path)


def measure_all(size: Size, console: Console) -> Iterator[Measurement]:
    """Figures 5 to 9: every schedule at every number of queries and every greatest slide."""
    repeats, counted = size.of(1, 2, 10), size.of(BATCH, COUNTED // 10, COUNTED)
    tuples = size.of(BATCH, TUPLES, TUPLES)
    few, more = (10, 100, 1000, 10_000), (10, 30, 50, 100, 1000, 5000, 10_000)
    for max_slide in MAXIMA:
        for queries in size.of((10, 100), few, more):
            console.print(f"  {queries:,} queries, slides up to {max_slide} ...")
            sets = [slides_of(queries, max_slide, seed) for seed in range(repeats)]
            for slides in sets:
                check(slides)
            for name, make in MAKE.items():
                yield measure(name, make, sets, max_slide, counted, tuples)


def slides_of(queries: int, max_slide: int, seed: int) -> np.ndarray:
    """Slides at random from 2 to the greatest."""
    return np.random.default_rng((seed, queries, max_slide)).integers(2, max_slide + 1, queries)


def check(slides: np.ndarray) -> None:
    """Every schedule says what the definition says, in a batch and tick by tick; nothing is timed before."""
    order = np.argsort(slides, kind="stable")
    expected = {count: order[count % slides[order] == 0] for count in range(1, BATCH + 1)}
    for name, make in MAKE.items():
        batch, ticks = make(), make()
        for schedule in (batch, ticks):
            schedule.add_many(slides)
        found = dict(batch.advance(BATCH))
        for count, queries in expected.items():
            assert np.array_equal(ticks.due(count), queries), f"{name} differs at {count}"
            assert np.array_equal(found.get(count, order[:0]), queries), f"{name} differs at {count}"


def measure(
    name: str, make: Callable[[], ClockedSchedule], sets: list[np.ndarray], max_slide: int, counted: int, tuples: int
) -> Measurement:
    batches, ticks, comparisons, pushes = [], [], [], []
    for slides in sets:
        batches.append(cpu_us(make(), slides, in_batches, tuples))
        ticks.append(cpu_us(make(), slides, tick_by_tick, tuples))
        schedule = make()
        schedule.add_many(slides)
        until = counted if name not in (PLAIN, GROUPED) else BATCH  # these make the same number of tests at each tuple
        for end in range(BATCH, until + 1, BATCH):
            schedule.due_until(end)
        comparisons.append(schedule.comparisons / until)
        pushes.append(schedule.pushes / until)
    return Measurement(name, len(sets[0]), max_slide, mean(batches), mean(ticks), mean(comparisons), mean(pushes))


def cpu_us(
    schedule: ClockedSchedule, slides: np.ndarray, run: Callable[[ClockedSchedule, int], None], tuples: int = TUPLES
) -> float:
    """Microseconds of CPU time a tuple; registering the queries is not counted."""
    schedule.add_many(slides)
    started = time.process_time()
    run(schedule, tuples)
    return (time.process_time() - started) / tuples * 1e6


def in_batches(schedule: ClockedSchedule, tuples: int) -> None:
    for end in range(BATCH, tuples + 1, BATCH):
        schedule.due_until(end)


def tick_by_tick(schedule: ClockedSchedule, tuples: int) -> None:
    for count in range(1, tuples + 1):
        schedule.due(count)


def measure_picks(repeats: int) -> Iterator[dict]:
    """Small sets: what is picked, and how it compares with the fastest."""
    makes = {name: MAKE[name] for name in (GROUPED, GRAPH, CALENDAR)}
    for queries, max_slide in FEW:
        sets = [slides_of(queries, max_slide, seed) for seed in range(repeats)]
        took = {
            name: mean(min(cpu_us(make(), slides, in_batches) for _ in range(3)) for slides in sets)
            for name, make in makes.items()
        }
        picked = [min(cpu_us(type(schedule_for(slides))(), slides, in_batches) for _ in range(3)) for slides in sets]
        names = sorted({type(schedule_for(slides)).__name__ for slides in sets})
        yield {"case": "pick", "queries": queries, "max_slide": max_slide, "picked": names, "us": mean(picked)} | took


def measure_shard() -> dict:
    """3,000 windows with slides of 1 second to 10 minutes, some shifted, over batches of 10 seconds in microseconds."""
    random = np.random.default_rng(5)
    slides = random.choice([1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 300, 600], 3000) * 1_000_000
    offsets = random.choice([0, 0, 0, 250_000, 500_000], 3000)
    batch, batches, clock = 10_000_000, 100, 1_700_000_000_000_000
    schedule = schedule_for(slides, offsets=offsets, clock=clock)
    started, pairs = time.process_time(), 0
    for end in range(clock + batch, clock + batches * batch + 1, batch):
        for _, queries in schedule.advance(end):
            pairs += len(queries)
    took = (time.process_time() - started) / batches * 1e6
    return {
        "case": "shard",
        "schedule": type(schedule).__name__,
        "pairs_per_batch": pairs / batches,
        "us_per_batch": took,
    }


def report(console: Console, found: list[Measurement], picks: list[dict], shard: dict, markets: list[Market]) -> None:
    table = Table(title="Who slides now, a tuple: CPU in batches and tick by tick, comparisons, pushes")
    for column in (
        "slides up to",
        "queries",
        "schedule",
        "batches, us",
        "ticks, us",
        "comparisons",
        "pushes",
        "operations",
    ):
        table.add_column(column, justify="left" if column == "schedule" else "right")
    for m in found:
        numbers = (m.batch_us, m.tick_us, m.comparisons, m.pushes, m.operations)
        table.add_row(str(m.max_slide), f"{m.queries:,}", m.schedule, *(f"{number:,.2f}" for number in numbers))
    console.print(table)
    by_case = {(m.schedule, m.queries, m.max_slide): m for m in found}
    most = max(m.queries for m in found)
    grouped, graph, calendar = (by_case[name, most, 2000] for name in (GROUPED, GRAPH, CALENDAR))
    for name, other, aim in (("sliding graph", graph, 4), ("default (calendar)", calendar, 10)):
        ratios = (
            f"{grouped.batch_us / other.batch_us:.1f} in batches, {grouped.tick_us / other.tick_us:.1f} tick by tick"
        )
        console.print(f"grouped check / {name}, {most:,} queries, slides up to 2000: {ratios} (aim {aim})")
    for pick in picks:
        fastest = min(pick[name] for name in (GROUPED, GRAPH, CALENDAR))
        case = f"{pick['queries']} queries, slides up to {pick['max_slide']}"
        took = f"{pick['us'] * 1000:.0f} ns a tuple, the fastest {fastest * 1000:.0f}"
        console.print(f"{case}: {' or '.join(pick['picked'])} picked, {took}")
    case = f"a shard's batch, {shard['pairs_per_batch']:,.0f} due of 3,000 windows"
    console.print(f"{case}: {shard['us_per_batch']:,.0f} us ({shard['schedule']})")
    for market in markets:
        console.print(str(market))


def plot(found: list[Measurement], path: Path) -> None:
    """Figures 5 to 7 above, 8, 9 and one more below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(2, 3, figsize=(13, 7.5))
    for axes, max_slide in zip(rows[0], MAXIMA):
        for name in (PLAIN, GROUPED, GRAPH, BEST, CALENDAR):
            points = [(m.queries, m.batch_us) for m in found if (m.schedule, m.max_slide) == (name, max_slide)]
            axes.plot(*zip(*points), marker="o", markersize=4, label=name)
        axes.set(xscale="log", yscale="log", title=f"slides up to {max_slide}", ylabel="us a tuple, in batches")
    for axes, max_slide in zip(rows[1], MAXIMA):
        for name in (GRAPH, BEST, SOME):
            points = [(m.queries, m.operations) for m in found if (m.schedule, m.max_slide) == (name, max_slide)]
            axes.plot(*zip(*points), marker="o", markersize=4, label=name)
        axes.set(xscale="log", xlabel="queries", ylabel=f"comparisons + {PUSH} pushes, a tuple")
    for axes in (rows[0][0], rows[1][0]):
        axes.legend()
    for axes in rows.flat:
        axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
