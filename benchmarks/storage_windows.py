"""The paper's Query 3, a window of gigabytes, and the call center: on disk, and under a limit of memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from lab.slidem import SlideM

from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

from .size import Size
from .vwap import ROW_BYTES, SCHEMA, Ticks, Vwap
from .watched import run_watched

SECOND = 1_000_000
EVERYTHING = 1 << 40
QUERY_3 = "Query 3, answered at every tuple"
LARGE = "A window on disk, watched from outside"
CALL_CENTER = "The call center under a limit of memory"


def query_3(size: Size) -> list[dict[str, Any]]:
    """Table 1: VWAP of 100 symbols over the last hour, answered at every tuple, with the smallest pool.

    Rates are a hundredth of the paper's, so that all rows fit into memory to compare with.
    """
    cases = []
    for rate in size.of((20,), (500, 1000), tuple(range(500, 3001, 500))):
        rows = int(rate * 3600 * size.of(1.75, 1.75, 2.5))
        check_vwap(rate)
        best = {2: (0.0, 0.0), EVERYTHING: (0.0, 0.0)}
        for _ in range(size.of(1, 1, 3)):
            for pool in best:  # by turns, so that both have the machine as it is
                with tempfile.TemporaryDirectory() as folder:
                    home = FileBlocks(Path(folder) / "window") if pool == 2 else MemoryBlocks()
                    best[pool] = max(best[pool], run_vwap(SlideM("w", SCHEMA, home, pool_blocks=pool), rate, rows))
                    if isinstance(home, FileBlocks):
                        home.close()
        for pool, (speed, latency) in best.items():
            cases.append(
                {
                    "question": QUERY_3,
                    "tuples a second of the stream": rate,
                    "window MB": rate * 3600 * ROW_BYTES / 1e6,
                    "pool": "2 blocks" if pool == 2 else "everything",
                    "tuples/s": speed,
                    "us a tuple": 1e6 / speed,
                    "slowest batch ms": latency,
                    "of in memory": speed / best[EVERYTHING][0],
                }
            )
    return cases


def run_vwap(window: SlideM, rate: int, rows: int) -> tuple[float, float]:
    """Tuples a second after the first window's length, and the slowest batch in milliseconds."""
    query, ticks = Vwap(window, 3600 * SECOND), Ticks(rate)
    warm = rate * 3600 * 5 // 4
    while ticks.rows < warm:
        query.answer(ticks.next())
    began, counted, slowest = time.perf_counter(), ticks.rows, 0.0
    while ticks.rows < rows:
        batch = ticks.next()
        start = time.perf_counter()
        query.answer(batch)
        slowest = max(slowest, time.perf_counter() - start)
    return (ticks.rows - counted) / (time.perf_counter() - began), 1000 * slowest


def check_vwap(rate: int) -> None:
    """Every answer equals the definition, before anything is timed."""
    query, ticks = Vwap(SlideM("w", SCHEMA, MemoryBlocks()), 60 * SECOND), Ticks(rate, batch=777)
    batches = [ticks.next() for _ in range(3 + 90 * rate // 777)]
    answers = np.concatenate([query.answer(batch) for batch in batches])
    ts, symbol, price, volume = (np.concatenate([b.column(i).to_numpy() for b in batches]) for i in range(4))
    for i in np.linspace(0, len(ts) - 1, 40).astype(int):
        inside = (ts[: i + 1] > ts[i] - 60 * SECOND) & (symbol[: i + 1] == symbol[i])
        own = np.flatnonzero(inside)
        assert np.isclose(answers[i], (price[own] * volume[own]).sum() / volume[own].sum(), rtol=1e-12)


def large_window(size: Size) -> list[dict[str, Any]]:
    """A window of 4 GB in a process that is watched from outside."""
    gigabytes = size.of(0.01, 0.25, 4.0)
    found = run_watched("vwap", str(gigabytes))
    return [{"question": LARGE} | found]


def call_center(size: Size) -> list[dict[str, Any]]:
    """Figure 10: rows (1W) and partials (2LA) of the call center, in memory and with SlideM, with little memory."""
    scale = size.of(0.001, 0.02, 0.1)
    ways = [(way, home) for way in ("rows", "partials") for home in ("memory", "slidem")]
    cases = []
    for way, home in size.of(ways[1:3], ways, ways):
        found = run_watched("call_center_windows", way, home, str(scale))
        cases.append({"question": CALL_CENTER, "keeps": way, "in": home} | found)
    return cases
