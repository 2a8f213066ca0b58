"""Query 3 and windows that overlap, asked in SQL: replayed under a limit of memory, with blocks in a file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.read_choose import read_choose
from windrow.local.local_catalog import local_catalog
from windrow.local.replay import Replay
from windrow.local.replay_stages import StageReplay
from windrow.storage.blocks import Blocks, MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

from .size import Size
from .vwap import ROW_BYTES, SYMBOLS, Ticks

SECOND = 1_000_000
HOUR = 3600 * SECOND
SQL = "Query 3 in SQL, answered at every tuple"
SHARED_SQL = "Query 3 in SQL with several ranges: blocks read and written"
VWAP = "SELECT symbol, SUM(volume * price) / SUM(volume) AS vwap FROM stock [RANGE {} SECONDS] GROUP BY symbol"
TEXTS = pa.array([f"S{number:02d}" for number in range(SYMBOLS)])
LITTLE = "2.1 MB"


def ticks_table(ticks: Ticks) -> pa.Table:
    """The next tuples as events."""
    ts, symbol, price, volume = ticks.next().columns
    columns = {"ts": ts.cast(pa.timestamp("us", "UTC")), "symbol": TEXTS.take(symbol)}
    return pa.table(columns | {"price": price, "volume": volume})


def query_3_sql(size: Size) -> list[dict[str, Any]]:
    """Table 1, from SQL: VWAP of 100 symbols over the last hour, with blocks in a file and with all in memory."""
    cases = []
    for rate in size.of((2,), (250, 500), (500, 1000, 3000)):
        found = {}
        for pool, memory in (("two blocks", LITTLE), ("everything", "8 GB")):
            with tempfile.TemporaryDirectory() as folder:
                home: Blocks = FileBlocks(Path(folder) / "window") if memory == LITTLE else MemoryBlocks()
                found[pool] = run_sql(rate, memory, home)
                if isinstance(home, FileBlocks):
                    home.close()
        for pool, line in found.items():
            ratio = line["tuples/s of CPU"] / found["everything"]["tuples/s of CPU"]
            cases.append({"question": SQL, "pool": pool} | line | {"of in memory": ratio})
    return cases


def run_sql(rate: int, memory: str, home: Blocks, batch: int = 65_536) -> dict[str, Any]:
    """Fill the window, then slide it by a quarter of its length: tuples a second, by the clock and of CPU."""
    ticks = Ticks(rate, batch=min(batch, max(SYMBOLS, rate * 360)))
    first = ticks_table(ticks)
    query = Replay(VWAP.format(3600), stock=first.slice(0, 0), memory=memory, blocks=home)
    events, last = first, None
    while ticks.rows < rate * 3600:
        query.step(events)
        events = ticks_table(ticks)
    began, cpu, counted, slowest = time.perf_counter(), time.process_time(), ticks.rows, 0.0
    while ticks.rows < rate * 3600 * 5 // 4 + SYMBOLS:
        start = time.perf_counter()
        last = query.step(events)
        slowest = max(slowest, time.perf_counter() - start)
        events = ticks_table(ticks)
    took, cpu, done = time.perf_counter() - began, time.process_time() - cpu, ticks.rows - counted
    check_last(ticks, last)
    store = query.shard._blocks
    return {
        "tuples a second of the stream": rate,
        "window MB": rate * 3600 * ROW_BYTES / 1e6,
        "tuples/s": done / took,
        "tuples/s of CPU": done / cpu,
        "us a tuple": 1e6 * took / done,
        "slowest batch ms": 1000 * slowest,
        "CPU %": 100 * cpu / took,
        "blocks read": store.reads,
        "written": store.writes,
        "MB on disk": home.bytes_on_disk / 1e6 if isinstance(home, FileBlocks) else 0.0,
        "MB of windows in memory": query.shard.bytes_in_memory / 1e6,
    }


def check_last(ticks: Ticks, answers: list[pa.Table] | None) -> None:
    """The last answers are those of the definition; the last instant of a batch may go on, and is not told yet."""
    assert answers
    told = answers[-1].filter(pc.equal(answers[-1]["op"], "+"))
    last = told.slice(told.num_rows - 1).to_pylist()[0]
    row = round(last["time"].timestamp() * SECOND) * ticks._rate // SECOND
    row = next(n for n in range(row - 2, row + 3) if f"S{n % SYMBOLS:02d}" == last["symbol"])
    assert np.isclose(last["vwap"], ticks.vwap(row, HOUR), rtol=1e-9), (last, ticks.vwap(row, HOUR))


def sharing_sql(size: Size) -> list[dict[str, Any]]:
    """Figure 11, from SQL: 2 to 32 windows between 3600 and 7200 s, together in one job and each in its own."""
    cases = []
    rows, rate = size.of((9_000, 1), (400_000, 50), (4_000_000, 500))
    ticks = Ticks(rate, batch=rows)
    events = ticks_table(ticks)
    for count in size.of((2,), (2, 8), (2, 4, 8, 16, 32)):
        texts = {f"q{i}": VWAP.format(seconds) for i, seconds in enumerate(np.linspace(3600, 7200, count).astype(int))}
        line: dict[str, Any] = {"question": SHARED_SQL, "windows": count}
        for way in ("distance", "LRU", "MRU"):
            found = _moved(texts, events, way)
            line |= {way: found[0], f"{way} MB": found[1]}
        alone = [_moved({name: text}, events, "distance") for name, text in texts.items()]
        line |= {"unshared": sum(moved for moved, _ in alone), "unshared MB": sum(held for _, held in alone)}
        cases.append(line)
    return cases


class _Counting(MemoryBlocks):
    """Counts reads and writes of rows."""

    moved = 0

    def read(self, family: str, number: int) -> bytes:
        self.moved += ".rows-" in family
        return super().read(family, number)

    def write(self, family: str, number: int, block: bytes) -> None:
        self.moved += ".rows-" in family
        super().write(family, number, block)


def _moved(texts: dict[str, str], events: pa.Table, way: str) -> tuple[int, float]:
    streams = {"stock": events}
    catalog = local_catalog(
        streams, {}, time="ts", lateness="0 seconds", idle_clock=False, aggregates={}, clusterings={}
    )
    wishes = Wishes(2_100_000, read_choose({"eviction": way}))
    (plan,) = compile_queries(texts, catalog, {}.__getitem__, wishes).values()
    home, most = _Counting(), 0
    replayed = StageReplay(plan, catalog.streams, streams, home)
    for batch in replayed.batches(max(1, events.num_rows // 40)):
        replayed.work_off(batch)
        most = max(most, home.bytes_held)
    return home.moved, most / 1e6
