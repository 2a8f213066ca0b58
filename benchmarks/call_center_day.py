"""A whole day of the call center through the engine: its 144 KPIs every 10 seconds, over time, in a process of its own.

python -m benchmarks.call_center_day slidem 24 2000 /folder/with/10/GB
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.read_choose import read_choose
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.storage.blocks import Blocks, MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

from .call_center import CallCenter, kpi_queries
from .size import Size
from .watched import run_watched

DAY_QUESTION = "The call center's day through the engine: 144 KPIs every 10 s, with little memory"
RATE, SLIDE_US, BATCH_S = 1000, 10_000_000, 100
PART = 6
"""Of the limit, a shard may have so much in memory where the rest is in a file."""

EVERYTHING = 1 << 40


def call_center_day(size: Size) -> list[dict[str, Any]]:
    """Figure 10 with the KPIs themselves: partials of the day in memory, and in a file, with 2 GB of memory."""
    hours, limit = size.of((0.1, 300), (1, 300), (24, 2000))
    cases = []
    for home in ("memory", "slidem"):
        found = run_watched("call_center_day", home, str(hours), str(limit), tempfile.gettempdir())
        cases.append({"question": DAY_QUESTION, "in": home} | found)
    return cases


def day(home: str, hours: float, limit_mb: float, folder: str) -> dict[str, Any]:
    """Let a window of `hours` fill, and slide by an hour, or a quarter of it; what each part of it took."""
    window = f"[RANGE {round(hours * 3600)} SECONDS SLIDE 10 SECONDS]"
    center = CallCenter(rate=RATE, start_ms=0)
    events, batches = _events(center), round((hours + min(1.0, hours / 4)) * 3600 / BATCH_S)
    texts = {kpi.name: kpi.text for kpi in kpi_queries(window)}
    settings: dict[str, Any] = {"time": "ts", "lateness": "1 second", "idle_clock": False}
    catalog = local_catalog({"calls": events}, {}, aggregates={}, clusterings={}, **settings)
    wishes = Wishes(EVERYTHING if home == "memory" else int(limit_mb * 1e6) // PART, read_choose({}))
    (plan,) = compile_queries(texts, catalog, {}.__getitem__, wishes).values()
    with tempfile.TemporaryDirectory(dir=folder) as made:
        blocks: Blocks = FileBlocks(Path(made) / "window") if home == "slidem" else MemoryBlocks()
        replay = StageReplay(plan, catalog.streams, {"calls": events}, blocks)
        over_time, stopped, known, rows, last = [], None, np.zeros(0, np.int64), 0, None
        _limit(limit_mb)
        began, number = time.perf_counter(), 0
        try:
            for number in range(batches):
                while events.num_rows < RATE * BATCH_S:
                    events = pa.concat_tables([events, _events(center)])
                batch, events = events.slice(0, RATE * BATCH_S), events.slice(RATE * BATCH_S)
                known = _counted(known, batch)
                start = time.perf_counter()
                found, _ = replay.work_off({"calls": batch})
                took = time.perf_counter() - start
                rows += sum(table.num_rows for table in found.values())
                last = found.get("count_busyTime_by_direction", last)
                over_time.append([round((number + 1) * BATCH_S / 3600, 3), RATE * BATCH_S / took, 1000 * took, _held()])
                if (number + 1) % max(1, batches // 20) == 0:
                    hour, speed, latency, held = over_time[-1]
                    told = f"{hour:.1f} h: {speed:,.0f} events/s, {latency:,.0f} ms a batch, {held:,.0f} MB"
                    print(f"    {home}: {told}", file=sys.stderr, flush=True)
            assert last is not None
            _check(last, known, round(hours * 3600))
        except (MemoryError, pa.ArrowMemoryError):
            stopped = number * BATCH_S / 3600
            last = None
        took = time.perf_counter() - began
        speeds, latencies = [line[1] for line in over_time], [line[2] for line in over_time]
        result = {
            "window hours": hours,
            "limit MB": limit_mb,
            "out of memory at": "-" if stopped is None else f"{stopped:.2f} h",
            "events/s": len(over_time) * RATE * BATCH_S / took,
            "in the last tenth": float(np.mean(speeds[-max(1, len(speeds) // 10) :])),
            "ms a batch of 10 slides": float(np.mean(latencies)),
            "slowest ms": max(latencies),
            "rows told": rows,
            "MB on disk": blocks.bytes_on_disk / 1e6 if isinstance(blocks, FileBlocks) else 0.0,
            "over time": over_time[:: max(1, len(over_time) // 100)],
        }
        if isinstance(blocks, FileBlocks):
            blocks.close()
    return result


def _events(center: Any) -> pa.Table:
    steps = center.steps()
    stamps = steps["timestamp"].cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))
    return steps.append_column("ts", stamps)


def _counted(known: np.ndarray, batch: pa.Table) -> np.ndarray:
    """How many events each slide has had."""
    slides = batch["timestamp"].to_numpy() * 1000 // SLIDE_US
    more = np.bincount(slides, minlength=len(known))
    more[: len(known)] += known
    return more


def _check(told: pa.Table, known: np.ndarray, seconds: int) -> None:
    """The last answers count the events of exactly their window."""
    ends = told["window_end"].cast(pa.int64()).to_numpy()
    last, counts = ends.max() // SLIDE_US, told["count_busyTime"].to_numpy()
    expected = known[max(0, last - seconds * 1_000_000 // SLIDE_US) : last].sum()
    assert counts[ends == ends.max()].sum() == expected, (counts[ends == ends.max()].sum(), expected)


def _held() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def _limit(megabytes: float) -> None:
    """From now on so much more can be had, and 100 MB."""
    held = int(Path("/proc/self/statm").read_text().split()[5]) * 4096
    resource.setrlimit(resource.RLIMIT_DATA, (held + int(megabytes * 1e6) + 100_000_000,) * 2)


if __name__ == "__main__":
    print(json.dumps(day(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4])), flush=True)
    sys.stdin.readline()
