"""Query 3 at a rate of the paper's Table 1, in a process of its own: from SQL, or SlideM below the language.

python -m benchmarks.storage_table1 sql 300000 /folder/with/30/GB
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from lab.slidem import SlideM

from windrow.local.replay import Replay
from windrow.storage.file_blocks import FileBlocks

from .size import Size
from .storage_sql import HOUR, VWAP, check_last, ticks_table
from .vwap import ROW_BYTES, SCHEMA, SYMBOLS, Ticks, Vwap
from .watched import run_watched

TABLE_1 = "Table 1 at its own rates: Query 3 over one hour, blocks in a file"
MEMORY = "8 MB"
RATES = (50_000, 100_000, 150_000, 200_000, 250_000, 300_000)
SPARE = 1.3
"""So much more than its rows a window takes on disk at most, with what is written before the old has gone."""

SQL, SLIDEM = "sql", "slidem"


def table_1(size: Size) -> list[dict[str, Any]]:
    """Table 1: SlideM at all rates, and SQL at the lowest, as the others take up to a quarter of an hour each."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    rates = size.of((200,), (2_000,), RATES)
    cases = []
    for way, rate in [*((SLIDEM, rate) for rate in rates), (SQL, rates[0])]:
        if rate * 3600 * ROW_BYTES * SPARE > free:
            cases.append({"question": TABLE_1, "by": way, "tuples/s of the stream": rate} | dict.fromkeys(FOUND, None))
            print(f"  {way} at {rate:,} tuples/s is left out: {free / 1e9:.0f} GB are free", file=sys.stderr)
            continue
        found = run_watched("storage_table1", way, str(rate), tempfile.gettempdir(), lean=True)
        cases.append({"question": TABLE_1, "by": way, "tuples/s of the stream": rate} | found)
    return cases


FOUND = ("space GB", "latency ms", "slowest ms", "tuples/s", "CPU %", "MB/s read", "MB/s written", "most MB resident")


def at_rate(way: str, rate: int, folder: str) -> dict[str, Any]:
    """Fill an hour, and slide it by a quarter: what a batch takes, and of the CPU and the disk at the stream's rate."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        home = FileBlocks(Path(made) / "window")
        ticks = Ticks(rate, batch=min(65_536, rate * 360))
        answer, right = _by_sql(home, ticks) if way == SQL else _by_slidem(home, ticks)
        _until(ticks, rate * 3600, answer, "filled")
        began, cpu, moved, counted = time.perf_counter(), time.process_time(), _moved(), ticks.rows
        batches = _until(ticks, rate * 4500 + SYMBOLS, answer, "slid")
        took, cpu, done = time.perf_counter() - began, time.process_time() - cpu, ticks.rows - counted
        right()
        read, written = (after - before for before, after in zip(moved, _moved()))
        seconds = done / rate
        found = (
            home.bytes_on_disk / 1e9,
            1000 * float(np.mean(batches)),
            1000 * max(batches),
            done / took,
            100 * cpu / seconds,
            read / 1e6 / seconds,
            written / 1e6 / seconds,
        )
        home.close()
    return dict(zip(FOUND, found))


def _by_sql(home: FileBlocks, ticks: Ticks) -> tuple[Callable[[], None], Callable[[], None]]:
    text, events = VWAP.format(3600), ticks_table(ticks)
    query = Replay(text, stock=events.slice(0, 0), memory=MEMORY, blocks=home)
    last: list[Any] = [events, None]

    def answer() -> None:
        last[:] = ticks_table(ticks), query.step(last[0])

    return answer, lambda: check_last(ticks, last[1])


def _by_slidem(home: FileBlocks, ticks: Ticks) -> tuple[Callable[[], None], Callable[[], None]]:
    query = Vwap(SlideM("w", SCHEMA, home), HOUR)
    answers = np.empty(0)

    def answer() -> None:
        nonlocal answers
        answers = query.answer(ticks.next())

    def right() -> None:
        for back in range(1, SYMBOLS + 1):
            assert np.isclose(answers[-back], ticks.vwap(ticks.rows - back, HOUR), rtol=1e-9)

    return answer, right


def _until(ticks: Ticks, rows: int, answer: Callable[[], None], what: str) -> list[float]:
    """Answer batch after batch, and say how far it is; what each took."""
    first, took, told = ticks.rows, [], time.perf_counter()
    while ticks.rows < rows:
        began = time.perf_counter()
        answer()
        now = time.perf_counter()
        took.append(now - began)
        if now - told > 10:
            print(f"    {what}: {(ticks.rows - first) / (rows - first):.0%}", file=sys.stderr, flush=True)
            told = now
    return took


def _moved() -> tuple[int, int]:
    """How many bytes this process has read and written."""
    text = Path("/proc/self/io").read_text()
    read, written = (re.search(rf"{name}: (\d+)", text) for name in ("rchar", "wchar"))
    assert read is not None and written is not None
    return int(read[1]), int(written[1])


if __name__ == "__main__":
    print(json.dumps(at_rate(sys.argv[1], int(sys.argv[2]), sys.argv[3])), flush=True)
    if not sys.stdin.isatty():
        sys.stdin.readline()
    else:
        print(re.findall(r"VmHWM:\s+.*", Path("/proc/self/status").read_text())[0])
