"""Millions of queries given as arrays of slides: time and memory to register them, and what a tick costs then."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

GRANULARITIES_S = (
    1,
    5,
    10,
    15,
    30,
    60,
    120,
    180,
    300,
    600,
    900,
    1200,
    1800,
    2700,
    3600,
    7200,
    10800,
    14400,
    28800,
    86400,
)
DAY_MS = 86_400_000
TICKS = 20_000


@dataclass(frozen=True, slots=True)
class Market:
    """Queries in milliseconds: of 20 granularities (section V), or with slides at random up to a day."""

    kind: str
    queries: int
    groups: int
    schedule: str
    register_s: float
    rss_gb: float
    empty_mean_us: float
    empty_median_us: float
    empty_p99_us: float
    due_per_tick: float
    add_us: float

    def __str__(self) -> str:
        mean, median, most = self.empty_mean_us, self.empty_median_us, self.empty_p99_us
        tick = f"{mean:.2f} us in the mean, {median:.2f} median, {most:.2f} at 99 %"
        return (
            f"{self.queries:,} queries, {self.kind}, {self.groups:,} groups ({self.schedule}): registered in"
            f" {self.register_s:.1f} s (aim under 60), {self.rss_gb:.2f} GB at most (aim under 4); a tick with nothing"
            f" due {tick} (aim under 10); a query added and removed {self.add_us:.0f} us"
        )


def run_apart(kind: str, queries: int) -> Market:
    """Measure in a process of its own, whose memory is that of this case alone."""
    done = subprocess.run([sys.executable, __file__, kind, str(queries)], capture_output=True, text=True, check=True)
    return Market(**json.loads(done.stdout.splitlines()[-1]))


def measure(kind: str, queries: int) -> Market:
    from windrow.schedule.choose import schedule_for

    schedule_for([5000, 7000, 11, 30, 60, 90, 100]).due(5)  # loads what is compiled
    if kind == "market":
        slides = np.tile(np.array(GRANULARITIES_S) * 1000, queries // len(GRANULARITIES_S))
    else:
        slides = np.random.default_rng(1).integers(2, DAY_MS, queries)
    started = time.perf_counter()
    schedule = schedule_for(slides)
    registered = time.perf_counter() - started
    empty, due = [], 0
    for count in range(1, TICKS + 1):
        started = time.perf_counter()
        who = schedule.due(count)
        took = time.perf_counter() - started
        if count % 500 == 0:  # look at some closely: the definition
            assert np.array_equal(np.sort(who), np.flatnonzero(count % slides == 0)), f"{count} differs"
        due += len(who)
        if len(who) == 0:
            empty.append(took * 1e6)
    groups = schedule.groups.count
    for query in (queries, queries + 1):  # the first makes room for more
        started = time.perf_counter()
        schedule.add(query, 777_777)
        schedule.remove(query)
        added = time.perf_counter() - started
    return Market(
        kind, queries, groups, type(schedule).__name__, registered,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        float(np.mean(empty)), float(np.median(empty)), float(np.quantile(empty, 0.99)), due / TICKS, added * 1e6,
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2])))))
