"""Output delay of the five queries under four ways to expire, live on Spark: Figures 8 to 11 with real batches."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow
from windrow.plan.nodes.changes import Expiry

from .bench_spark import bench_spark
from .expiry_cases import ITEMS, SECOND, arrivals, tables
from .expiry_sql import SNAPSHOTS
from .size import Size

SCHEMA = "store BIGINT, item BIGINT, price DOUBLE"
EVERY = 0.1
"""A file comes so often, in seconds, with the sales of that time."""

LOOK = 0.01
"""So often, in seconds, a reader looks for new files."""

ARRIVING, SILENT = "arriving", "silent"
"""While events come, and after the last: then it is time alone that brings answers."""


@dataclass(frozen=True, slots=True)
class LiveDelay:
    """Seconds from the instant of a change to a reader who sees its row; `untold` changes were not seen at all."""

    case: str
    query: str
    way: str
    phase: str
    at: float
    mean_s: float
    most_s: float
    changes: int
    untold: int


@dataclass(frozen=True, slots=True)
class Case:
    """A query over streams with so many sales a second; `at` is its place in its figure."""

    case: str
    query: str
    text: str
    streams: str
    rate: float
    at: float


def measure_live(size: Size) -> Iterator[LiveDelay]:
    """Figures 8 to 11 again: all queries at 10 tuples/s, Q3 and Q4 by rate, Q2 by joins, Q1 by selectivity."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as kept, bench_spark(driver_memory="2g") as spark:
        for number, case in enumerate(cases(size)):
            yield from _Live(spark, Path(kept) / str(number), case, size).measured()


def cases(size: Size) -> list[Case]:
    names = size.of(("Q1",), ("Q1", "Q2", "Q3"), tuple(SNAPSHOTS))
    found = [Case("queries", name, SNAPSHOTS[name], "ab" if name in ("Q2", "Q5") else "a", 10, 10) for name in names]
    for rate in size.of((), (), (5, 20, 40)):
        found += [Case("rate", name, SNAPSHOTS[name], "a", rate, rate) for name in ("Q3", "Q4")]
    found += [Case("joins", "Q2", joined(n), "abcde"[:n], 10, n) for n in size.of((), (), (3, 4, 5))]
    for share in size.of((), (1.0,), (0.1, 0.5, 0.75, 1.0)):
        text = f"SELECT SUM(price) AS total FROM a WHERE item >= {round(ITEMS * (1 - share))}"
        found.append(Case("selectivity", "Q1", text, "a", 10, share))
    return found


def joined(streams: int) -> str:
    """Q2 with so many streams."""
    names = "abcde"[:streams]
    meets = " AND ".join(f"{left}.item = {right}.item" for left, right in zip(names, names[1:]))
    return f"SELECT DISTINCT a.item FROM {', '.join(names)} WHERE {meets} AND a.price >= 75"


class _Writer(threading.Thread):
    """Writes the sales of each tenth of a second, for so many seconds."""

    def __init__(self, folder: Path, seed: int, rate: float, seconds: float, items: int) -> None:
        super().__init__(daemon=True)
        self._folder, self._given = folder, arrivals(seed, rate, seconds, items)
        self._files = int(seconds / EVERY)
        folder.mkdir(parents=True)
        self._write(0, 0, 1)  # a job needs something to begin with

    def run(self) -> None:
        began, edges = time.time(), (np.arange(1, self._files + 1) * EVERY * SECOND).astype(np.int64)
        stops = np.searchsorted(self._given.times, edges)
        for number, (start, stop) in enumerate(zip([1, *stops[:-1]], stops), start=1):
            time.sleep(max(0.0, began + number * EVERY - time.time()))
            if stop > start:
                self._write(number, int(start), int(stop))

    def _write(self, number: int, start: int, stop: int) -> None:
        hidden = self._folder / f".{number:06d}.parquet"
        pq.write_table(pa.Table.from_batches([self._given.rows.slice(start, stop - start)]), hidden)
        os.replace(hidden, self._folder / f"{number:06d}.parquet")


class _Reader(threading.Thread):
    """Looks for new files of results, and notes of each change when it was and when it was seen."""

    def __init__(self, folders: dict[str, Path]) -> None:
        super().__init__(daemon=True)
        self.stopped = threading.Event()
        self.seen: dict[str, list[tuple[np.ndarray, float]]] = {way: [] for way in folders}
        self._folders, self._known = folders, {way: set[str]() for way in folders}

    def run(self) -> None:
        while not self.stopped.wait(LOOK):
            for way, folder in self._folders.items():
                names = set(os.listdir(folder)) if folder.exists() else set()
                for name in names - self._known[way]:
                    if not name.startswith(("_", ".")):
                        times = pq.read_table(folder / name, columns=["time"])["time"].cast(pa.int64()).to_numpy()
                        self.seen[way].append((times, time.time()))
                self._known[way] |= names

    def delays(self, way: str, begin: float, end: float) -> np.ndarray:
        """Of the changes between two instants, how long each took to be seen."""
        found = [seen - times / SECOND for times, seen in self.seen[way]]
        times = [times / SECOND for times, _ in self.seen[way]]
        late, at = np.concatenate([[], *found]), np.concatenate([[], *times])
        chosen: np.ndarray = late[(at >= begin) & (at < end)]
        return chosen


class _Live:
    """One case: the same query in all ways, in one job, so that all have the same batches and the same arrivals."""

    def __init__(self, spark: SparkSession, folder: Path, case: Case, size: Size) -> None:
        self._spark, self._folder, self._case = spark, folder, case
        self._range, self._seconds = size.of((1, 2), (3, 6), (10, 20))
        self._items = max(10, 100 * self._range // 60)

    def measured(self) -> Iterator[LiveDelay]:
        case = self._case
        seconds = self._range + self._seconds
        writers = [
            _Writer(self._folder / name, seed, case.rate, seconds, self._items)
            for seed, name in enumerate(case.streams)
        ]
        out = {way.value: self._folder / "out" / way.name for way in Expiry}
        job = self._started(out)
        reader = _Reader(out)
        reader.start()
        while not all(figures.batches for figures in job.progress().values()):
            assert not job.wait(0.1), "the job has ended"
        for writer in writers:
            writer.start()
        begin = time.time() + self._range
        for writer in writers:
            writer.join()
        last = time.time()
        over = last + self._range + 1
        time.sleep(self._range + 4)  # a second for the last batch of events, and then a second, and one more, for it
        job.stop()
        reader.stopped.set()
        reader.join()
        self._check(out)
        told = {
            phase: {way: reader.delays(way, *between) for way in out}
            for phase, between in ((ARRIVING, (begin, last)), (SILENT, (last, over)))
        }
        for phase, by_way in told.items():
            most = max(map(len, by_way.values()))
            for way, delays in by_way.items():
                mean, longest = (float(delays.mean()), float(delays.max())) if len(delays) else (np.nan, np.nan)
                counts = (len(delays), most - len(delays))
                yield LiveDelay(case.case, case.query, way, phase, case.at, mean, longest, *counts)

    def _started(self, out: dict[str, Path]) -> windrow.Job:
        session = windrow.Session(self._spark, shards=2)
        for stream in self._case.streams:
            session.stream_files(stream, str(self._folder / stream), schema=SCHEMA)  # timed by arrival
        for table, rows in tables().items():
            session.table(table, self._spark.createDataFrame(rows.to_pandas()))
        for way in out:
            session.query(way, f"{self._case.text} WINDOW {self._range} SECONDS", choose={"expiry": way})
        sinks = {way: windrow.sink("parquet", path=path) for way, path in out.items()}
        return session.start(str(self._folder / "checkpoint"), sinks)

    def _check(self, out: dict[str, Path]) -> None:
        """In the silence all rows have expired: what came is gone again, and the ways that are prompt say the same."""
        prompt = {way: path for way, path in out.items() if way != Expiry.INPUT.value}
        said = {}
        for way, path in prompt.items():
            rows = duckdb.sql(f"SELECT * EXCLUDE (op), if(op = '+', 1, -1) AS weight FROM '{path}/*.parquet'").fetchall()
            net: dict[tuple, int] = {}
            left: dict[tuple, int] = {}
            for at, *row, weight in rows:
                net[at, *row] = net.get((at, *row), 0) + weight
                left[tuple(row)] = left.get(tuple(row), 0) + weight
            assert rows and not any(left.values()), f"{self._case.query}, {way}: something has not expired"
            said[way] = {place: weight for place, weight in net.items() if weight}
        first, *others = said.values()
        assert all(other == first for other in others), f"the ways differ on {self._case.query}"
