"""Remote time: how evenly windows slide without a clock and with one: Tables I and II of Knowing When to Slide."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pyarrow as pa
from lab.tuple_driven import TupleDrivenSlides
from rich.console import Console
from rich.table import Table

from windrow.local.arrivals import wall_clock
from windrow.local.replay import Replay
from windrow.plan.idle_clock import IdleClock, idle_clock
from windrow.plan.timing import Timing
from windrow.schedule.heartbeat import Heartbeat

from .size import Size

SECOND = 1_000_000
MINUTE = 60 * SECOND
PRINTED = {
    3: {"Algorithm 2": (234, 223, 258, 242, 231, 234), "timers": (176, 219, 178, 186, 192, 209)},
    5: {"Algorithm 2": (363, 349, 382, 348, 380, 352), "timers": (303, 287, 349, 302, 298, 332)},
}
"""What the paper prints, in seconds: its Table I and Table II."""

TUPLES, WITHOUT, WITH = "Algorithm 2", "engine, no clock", "engine, idle clock"
BEATS, ALPHAS = ("5 seconds", "30 seconds"), (0.5, 0.95)
"""Beats and weights that users may ask for, beside those that there are unless they do."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds between the slides of one window, and how far they are from the slide in the mean."""

    way: str
    slide_minutes: int
    beat_seconds: float | None
    intervals: tuple[float, ...]
    alpha: float | None = None

    @property
    def error(self) -> float:
        return mean(abs(interval - 60 * self.slide_minutes) for interval in self.intervals)


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print both tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    events = Size(size).of(20, 120, 1000)
    found = [one for minutes in PRINTED for one in measured(minutes, events)]
    report(Console(), found, events)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(one) | {"error": one.error}) + "\n" for one in found))
    if plot_path is not None:
        plot(found, plot_path)


def arrivals(events: int) -> list[tuple[int, int]]:
    """The time that each event bears, every 2 minutes, and when it arrives: 30 to 90 seconds later."""
    chance = random.Random(7)
    return [(i * 2 * MINUTE, i * 2 * MINUTE + chance.randrange(30 * SECOND, 90 * SECOND)) for i in range(events)]


def measured(minutes: int, events: int) -> list[Measurement]:
    """One window by the paper's Algorithm 2, and by the engine without a clock of its own and with one."""
    known, slide = arrivals(events), minutes * MINUTE
    by_tuples = TupleDrivenSlides([slide])
    slid = [arrived for timestamp, arrived in known if by_tuples.on_event(timestamp)]
    found = [
        Measurement(TUPLES, minutes, None, between(slid)),
        Measurement(WITHOUT, minutes, None, between(in_engine(known, minutes, None, False))),
    ]
    asked = [IdleClock(), *(idle_clock(beat=beat) for beat in BEATS), *(idle_clock(alpha=alpha) for alpha in ALPHAS)]
    for clock in asked:
        (beat,) = Heartbeat.of(Timing.IDLE, [(slide, 0)], clock.beat_us).beats
        answered = in_engine(known, minutes, beat.period_us, clock)
        found.append(Measurement(WITH, minutes, beat.period_us / SECOND, between(answered), clock.alpha))
    return found


def in_engine(
    known: Sequence[tuple[int, int]], minutes: int, beat_us: int | None, clock: IdleClock | bool
) -> list[int]:
    """When the engine answers: at an arrival, or at a heartbeat, which is as often as a job has it."""
    times, arrived = zip(*known)
    events = pa.table({"ts": pa.array(times, pa.timestamp("us", tz="UTC"))})
    text = f"SELECT COUNT(*) AS n FROM events [RANGE 10 MINUTES SLIDE {minutes} MINUTES]"
    replay = Replay(text, idle_clock=clock, events=events)
    answered: list[int] = []
    counts: list[int] = []
    beats = () if beat_us is None else range(0, arrived[-1], beat_us)
    for instant, number in wall_clock(len(known), arrived, beats):
        results = replay.beat(instant) if number is None else replay.step(events.slice(number, 1), instant)
        for rows in results:
            answered += [instant] * rows.num_rows
            counts += rows["n"].to_pylist()
    assert answered and all(1 <= count <= 6 for count in counts), "a window of ten minutes holds up to six events"
    return answered


def between(slid: Sequence[int]) -> tuple[float, ...]:
    return tuple((later - earlier) / SECOND for earlier, later in pairwise(slid))


def report(console: Console, found: Sequence[Measurement], events: int) -> None:
    """Tables I and II: the first times between slides, and the error over all of them."""
    for number, minutes in zip(("I", "II"), PRINTED):
        table = Table(title=f"Table {number}: slides of {minutes} minutes, {events} events", title_justify="left")
        for column in ("", "heartbeat", "alpha", "times between slides", "error, s"):
            table.add_column(column, justify="right" if column.startswith("error") else "left")
        for way, printed in PRINTED[minutes].items():
            error = mean(abs(seconds - 60 * minutes) for seconds in printed)
            table.add_row(f"the paper, {way}", "", "", "  ".join(map(clock, printed)), f"{error:.1f}")
        for one in (one for one in found if one.slide_minutes == minutes):
            beat = "" if one.beat_seconds is None else f"{one.beat_seconds:g} s"
            alpha = "" if one.beat_seconds is None else "by errors" if one.alpha is None else f"{one.alpha:g}"
            table.add_row(one.way, beat, alpha, "  ".join(map(clock, one.intervals[:6])), f"{one.error:.1f}")
        console.print(table)


def clock(seconds: float) -> str:
    """Minutes and seconds, as the paper has them.

    >>> clock(234.4)
    '03:54'
    """
    return f"{round(seconds) // 60:02}:{round(seconds) % 60:02}"


def plot(found: Sequence[Measurement], path: Path) -> None:
    """The times between slides, one after the other, of both tables."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, row = plt.subplots(1, 2, figsize=(11, 4))
    for axes, minutes in zip(row, PRINTED):
        for one in (one for one in found if one.slide_minutes == minutes):
            beat = "" if one.beat_seconds is None else f" at {one.beat_seconds:g} s"
            beat += "" if one.alpha is None else f", alpha {one.alpha:g}"
            axes.plot(one.intervals[:40], marker="o", markersize=3, label=f"{one.way}{beat}: {one.error:.0f} s off")
        axes.axhline(60 * minutes, color="black", linewidth=0.8)
        axes.set(title=f"slides of {minutes} minutes", xlabel="slide", ylabel="seconds since the one before")
        axes.legend(fontsize=7)
        axes.grid(True, alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
