"""Windows larger than memory: the paper's Figure 10, Table 1 and Figure 11, and medians of a million rows."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table
from vwap import ROW_BYTES, SCHEMA, Ticks, Vwap
from watched import run_watched

import windrow
from windrow.kernels import Rows, identity
from windrow.kernels.ordered_values import OrderedValues
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks
from windrow.storage.shared_slidem import SharedSlideM
from windrow.storage.slidem import SlideM

SECOND = 1_000_000
EVERYTHING = 1 << 40


def measure_storage(quick: bool = False, json_path: Path | None = None) -> list[dict]:
    """Measure, print tables, and write one line a case to `json_path`."""
    console = Console()
    cases = [*query_3(quick), *large_window(quick), *call_center(quick), *sharing(quick), *ordered(quick)]
    for name in dict.fromkeys(case["question"] for case in cases):
        lines = [case for case in cases if case["question"] == name]
        table = Table(*[column for column in lines[0] if column != "question"], title=name)
        for line in lines:
            table.add_row(*[_text(value) for column, value in line.items() if column != "question"])
        console.print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return cases


def _text(value: object) -> str:
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:,.3g}"
    return f"{value:,.0f}" if isinstance(value, float | int) else str(value or "")


def query_3(quick: bool) -> list[dict]:
    """Table 1: VWAP of 100 symbols over the last hour, answered at every tuple, with the smallest pool."""
    cases = []
    for rate in (500, 3000) if quick else (500, 1500, 3000):
        rows = int(rate * 3600 * 2.5)
        check_vwap(rate)
        speeds = {}
        for pool in (2, EVERYTHING):
            best, latency = 0.0, 0.0
            for _ in range(2):
                with tempfile.TemporaryDirectory() as folder:
                    home = FileBlocks(Path(folder) / "window") if pool == 2 else MemoryBlocks()
                    window = SlideM("w", SCHEMA, home, pool_blocks=pool)
                    speed, worst = run_vwap(window, rate, rows)
                    if speed > best:
                        best, latency = speed, worst
            speeds[pool] = best
            cases.append(
                {
                    "question": "Query 3, answered at every tuple",
                    "tuples a second of the stream": rate,
                    "window MB": rate * 3600 * ROW_BYTES / 1e6,
                    "pool": "2 blocks" if pool == 2 else "everything",
                    "tuples/s": best,
                    "slowest batch ms": latency,
                    "of in memory": None,
                }
            )
        cases[-2]["of in memory"], cases[-1]["of in memory"] = speeds[2] / speeds[EVERYTHING], 1.0
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


def large_window(quick: bool) -> list[dict]:
    """A window of 4 GB in a process that is watched from outside."""
    gigabytes = 0.5 if quick else 4.0
    found = run_watched([sys.executable, str(Path(__file__).with_name("vwap.py")), str(gigabytes)])
    return [{"question": "A window on disk, watched from outside"} | found]


def call_center(quick: bool) -> list[dict]:
    """Figure 10: rows (1W) and partials (2LA) of the call center, in memory and with SlideM, with little memory."""
    scale = 0.02 if quick else 0.1
    cases = []
    for way in ("rows", "partials"):
        for home in ("memory", "slidem"):
            program = str(Path(__file__).with_name("call_center_windows.py"))
            found = run_watched([sys.executable, program, way, home, str(scale)])
            cases.append({"question": "The call center under a limit of memory", "keeps": way, "in": home} | found)
    return cases


def sharing(quick: bool) -> list[dict]:
    """Figure 11: 2 to 32 windows between 3600 and 7200 s over one stream, with one pool for all or a part for each."""
    cases, rows_a_block, largest, pool = [], 16, 192 if quick else 768, 103 if quick else 410
    block = rows_a_block * ROW_BYTES
    for count in (2, 8, 32) if quick else (2, 4, 8, 16, 32):
        sizes = [round(size) for size in np.linspace(largest, largest / 2, count)]
        requests: dict[str, float] = {}
        space: dict[str, float] = {}
        for name in ("unshared", "distance", "lru", "mru"):
            with tempfile.TemporaryDirectory() as folder:
                home = FileBlocks(Path(folder) / "blocks", slot_bytes=1024)
                requests[name] = _slid(name, sizes, pool, block, rows_a_block, home)
                space[name] = home.bytes_on_disk
                home.close()
        cases.append(
            {
                "question": "Windows that overlap: I/O requests for each new block",
                "windows": count,
                **{name: requests[name] for name in requests},
                "fewer": requests["unshared"] / max(requests["distance"], 1e-9),
                "MB unshared": space["unshared"] / 1e6,
                "MB shared": space["distance"] / 1e6,
            }
        )
        assert requests["distance"] <= min(requests["lru"], requests["mru"]), "distance is never worse"
    return cases


def _slid(name: str, sizes: list[int], pool: int, block: int, factor: int, home: FileBlocks) -> float:
    """I/O requests for each new block of the stream, once all windows are full."""
    ticks = Ticks(1000, batch=factor)
    if name == "unshared":
        alone = [SlideM(f"w{i}", SCHEMA, home, max(2, pool // len(sizes)), block) for i in range(len(sizes))]
        shared = None
    else:
        shared = SharedSlideM(len(sizes), "s", SCHEMA, home, max(pool, len(sizes) + 1), block, policy=name)
        alone = []

    def counted() -> int:
        return shared.counts.requests if shared else sum(window.counts.requests for window in alone)

    before = 0
    for number in range(3 * sizes[0]):
        rows = ticks.next()
        for repository in [shared] if shared else alone:
            repository.add(rows)
        for rank in range(len(sizes) - 1, -1, -1):
            if number >= sizes[rank]:
                _ = shared.expire(rank, factor) if shared else alone[rank].expire(factor)
        if number == 2 * sizes[0] - 1:
            before = counted()
    return (counted() - before) / sizes[0]


def ordered(quick: bool) -> list[dict]:
    """MEDIAN of a million rows that slide by 100, and COUNT(DISTINCT) of a million rows with 100,000 values."""
    random, width, slides = np.random.default_rng(4), 1_000_000, 100 if quick else 1000
    values = random.normal(100, 15, width + 100 * slides)
    kernel, slot = OrderedValues(pa.float64()), np.zeros(1, np.int64)

    def pane(low: int, high: int):
        partials = identity(kernel, 1)
        kernel.lift(partials, np.zeros(high - low, np.int64), Rows(pa.array(values[low:high]), np.arange(low, high)))
        return partials

    window, found = pane(0, width), []
    kernel.combine(window, slot, pane(width, width + 100))
    kernel.remove(window, slot, pane(width, width + 100))
    kernel.lower(window, "MEDIAN", pa.float64())
    began = time.perf_counter()
    for low in range(0, 100 * slides, 100):
        kernel.combine(window, slot, pane(low + width, low + width + 100))
        kernel.remove(window, slot, pane(low, low + 100))
        found.append(kernel.lower(window, "MEDIAN", pa.float64()).values[0].as_py())
    mine = (time.perf_counter() - began) / slides
    began, repeats = time.perf_counter(), 20
    for low in range(100, 100 * repeats + 1, 100):
        median = np.median(values[low : low + width])
        assert median == found[low // 100 - 1]
    theirs = (time.perf_counter() - began) / repeats
    question = "Order statistics of 1,000,000 rows"
    cases = [
        {"question": question, "aggregate": "MEDIAN, sliding by 100", "us a slide": 1e6 * mine,
         "numpy us": 1e6 * theirs, "times faster": theirs / mine, "events/s": 100 / mine}
    ]  # fmt: skip
    rows = 2_000_000 if quick else 4_000_000
    for name, query, column in (
        ("MEDIAN, in replay", "MEDIAN(x)", random.normal(100, 15, rows)),
        ("COUNT(DISTINCT), in replay", "COUNT(DISTINCT x)", random.integers(0, 100_000, rows)),
    ):
        events = pa.table({"ts": pa.array(np.arange(rows) * 1000, pa.timestamp("us", "UTC")), "x": column})
        text = f"SELECT {query} AS a FROM events [RANGE 1000 SECONDS SLIDE 1 SECOND]"
        windrow.replay(text, events=events.slice(0, 20_000))
        began = time.perf_counter()
        answers = windrow.replay(text, events=events, batch_rows=100_000)
        taken = time.perf_counter() - began
        last = column[rows - 1000 - width : rows - 1000] if answers.num_rows == rows // 1000 - 1 else column[-width:]
        expected = np.median(last) if "MEDIAN" in name else len(np.unique(last))
        assert answers["a"][-1].as_py() == expected, (answers["a"][-1], expected)
        cases.append(
            {"question": question, "aggregate": name, "us a slide": 1e6 * taken / answers.num_rows, "numpy us": None,
             "times faster": None, "events/s": rows / taken}
        )  # fmt: skip
    return cases


if __name__ == "__main__":
    measure_storage("--quick" in sys.argv, Path("storage.jsonl") if "--json" in sys.argv else None)
