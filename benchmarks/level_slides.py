"""What a slide of a level costs, by how many granules its window has: merges and time, in replay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import windrow

from .level_chain import SECOND, Line
from .level_sql import window
from .size import Size

EACH = 10
"""Seconds a batch."""

ASKED = {"SUM": "SUM(x)", "MAX": "MAX(x)", "merges": "merged(x)"}
WAYS = {"SUM": ("progressive", "subtract"), "MAX": ("progressive", "tree"), "merges": ("progressive", "tree")}


class Merged:
    """Counts rows, and in `calls` how often it was merged: a user's aggregate, which can forget nothing."""

    calls = 0

    def init(self) -> int:
        return 0

    def add(self, state: int, value: float | None) -> int:
        return state + 1

    def merge(self, older: int, newer: int) -> int:
        Merged.calls += 1
        return older + newer

    def finish(self, state: int) -> int:
        return state


def seconds(first: int, stop: int, groups: int) -> pa.Table:
    """An event a second of each group."""
    numbers = np.arange(first * groups, stop * groups)
    times = pa.array(numbers // groups * SECOND).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": numbers % groups, "x": (numbers * 7919 % 10_007).astype(np.float64)})


def cases(size: Size) -> Iterator[Line]:
    """Two levels of so many granules each, once they are full."""
    for granules in size.of((10, 40), (10, 100, 1_000), (10, 100, 1_000, 10_000)):
        pairs = [(granules, 1), (3 * granules, 2)]
        span = max(granules, size.of(40, 400, 1_000))  # a span of each level turns over
        for asked, ways in WAYS.items():
            groups = 1 if asked == "merges" else size.of(2, 20, 20)
            for way in ways:
                line = measured(asked, way, pairs, span, groups)
                yield {"figure": "slides", "operation": asked, "way": way, "granules": granules} | line


def measured(asked: str, way: str, pairs: list[tuple[int, int]], span: int, groups: int) -> Line:
    """CPU time a slide of one level over `span` seconds, and merges, where they are counted."""
    text = f"SELECT k, {ASKED[asked]} AS a, COUNT(*) AS n FROM events {window(pairs)} GROUP BY k"
    filling = pairs[-1][0] + 1
    held: Any = windrow.Replay(
        text, events=seconds(0, 0, groups), aggregates={"merged": Merged}, choose={"maintenance": way}
    )
    for start in range(0, filling, 1_000):
        held.step(seconds(start, min(start + 1_000, filling), groups))
    Merged.calls, slides, spent = 0, 0, 0.0
    for start in range(filling, filling + span, EACH):
        batch = seconds(start, start + EACH, groups)
        started = time.process_time()
        rows = held.step(batch)
        spent += time.process_time() - started
        told = pa.concat_tables(rows)
        slides += told.num_rows // groups
        check(asked, pairs, told, groups)
    line = {"slides": slides, "us_per_slide": spent / slides * 1e6}
    return line | ({"merges": Merged.calls / slides} if asked == "merges" else {})


def check(asked: str, pairs: list[tuple[int, int]], told: pa.Table, groups: int) -> None:
    """The last answers of both levels are those of their events."""
    ends = told["window_end"].cast(pa.int64()).to_numpy() // SECOND
    levels = told["level"].to_numpy()
    for level, (reach, _) in enumerate(pairs):
        end = int(ends[levels == level].max())
        rows = told.filter(pa.array((levels == level) & (ends == end))).sort_by("k")
        values = seconds(end - reach, end, groups)["x"].to_numpy().reshape(reach, groups)
        expected = {"SUM": values.sum(0), "MAX": values.max(0)}.get(asked, np.full(groups, reach))
        assert rows["n"].to_pylist() == [reach] * groups
        assert np.allclose(rows["a"].to_numpy().astype(float), expected), (asked, level, end)
