"""Clustering queries that differ in windows, predicates and radius beside one of them: what they share (Paper III).

Replayed in one process, in CPU time: what Spark adds is the same for one query and for many. Reading and planning
queries is left out: an event costs what all events take beyond the first third of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

import windrow

from .size import Size

QUERIES = 32
_TEXT = (
    "SELECT cid, COUNT(cid) AS cars, CENTER(cid) AS center FROM cars [RANGE {} SECONDS SLIDE {} SECONDS]"
    " WHERE speed < {} CLUSTER BY x, y USING C_BIRCH({})"
)


@dataclass(frozen=True, slots=True)
class Shared:
    """CPU microseconds an event: of one query, and of all of them in one replay."""

    queries: int
    events: int
    one_us: float
    all_us: float

    @property
    def times(self) -> float:
        return self.all_us / self.one_us


def queries() -> dict[str, str]:
    """Four ranges, two slides and four predicates, every other one with a wider radius."""
    return {
        f"q{i}": _TEXT.format((20, 30, 40, 60)[i % 4], (5, 10)[i // 4 % 2], (60, 50, 40, 30)[i // 8], (6, 9)[i % 2])
        for i in range(QUERIES)
    }


def positions(rate: int, seconds: int) -> pa.Table:
    """Cars about 36 places, `rate` of them a second."""
    random = np.random.default_rng(1)
    count = rate * seconds
    spot = random.integers(0, 36, count)
    points = np.column_stack([spot % 6 * 20.0, spot // 6 * 20.0]) + random.normal(0, 2, (count, 2))
    times = pa.array(np.arange(count) * (1_000_000 // rate)).cast(pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": times, "x": points[:, 0], "y": points[:, 1], "speed": random.uniform(0, 60, count)})


def measure(size: Size) -> Shared:
    """The better of two runs each, after the answers were compared with how many cars DuckDB finds in each window."""
    rate, seconds, repeats = size.of((200, 30, 1), (10_000, 60, 2), (20_000, 120, 2))
    cars, every = positions(rate, seconds), queries()
    _check(windrow.replay(every, cars=cars, batch_rows=10 * rate), cars)
    first = cars.slice(0, len(cars) // 3)
    one_us, all_us = (
        (min(_cpu_us(texts, cars, 10 * rate) for _ in range(repeats)))
        - min(_cpu_us(texts, first, 10 * rate) for _ in range(repeats))
        for texts in ({"q0": every["q0"]}, every)
    )
    one_us, all_us = (max(us, 1.0) / (len(cars) - len(first)) for us in (one_us, all_us))
    return Shared(len(every), len(cars), one_us, all_us)


def _cpu_us(texts: dict[str, str], cars: pa.Table, batch: int) -> float:
    started = time.process_time()
    windrow.replay(texts, cars=cars, batch_rows=batch)
    return (time.process_time() - started) * 1e6


def _check(found: dict[str, pa.Table], cars: pa.Table) -> None:
    for i, (name, answers) in enumerate(found.items()):
        speed = (60, 50, 40, 30)[i // 8]
        rows = duckdb.from_arrow(answers.select(["window_start", "window_end", "cars"]))
        told = dict(rows.aggregate("epoch_us(window_end), SUM(cars)::BIGINT").fetchall())
        expected = duckdb.sql(
            f"""SELECT epoch_us(w.e), COUNT(*) FROM (SELECT DISTINCT window_start AS s, window_end AS e FROM rows) AS w
                JOIN cars ON ts >= w.s AND ts < w.e AND speed < {speed} GROUP BY 1"""
        ).fetchall()
        assert told == dict(expected) and told, name
