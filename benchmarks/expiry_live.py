"""Output delay of the five queries under four ways to expire, on Spark, as sales come in: Figure 8 on the engine.

Sales bear the time at which they happen, and are files a tenth of a second later at most. The delay of a change is from
its own instant, an event or an expiry, to the moment at which a reader sees its row.
While a job gets going none counts. At the end the streams fall silent, and what is left expires by the clock alone.
"""

from __future__ import annotations

import math
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import windrow
from windrow.plan.expiry import Expiry

from .arriving import put
from .bench_spark import bench_spark
from .expiry_cases import SECOND, arrivals, tables
from .expiry_delays import FEW_ITEMS
from .expiry_spark import SCHEMA
from .expiry_sql import SNAPSHOTS, check_changes
from .look_for_rows import Reader
from .size import Size

EVERY = 0.1
"""A file comes so often, in seconds, with the sales of that time."""

BY_ARRIVAL = "timed by arrival"
ROWS = "SELECT item, price FROM a"


@dataclass(frozen=True, slots=True)
class LiveDelay:
    """Seconds from the instant of a change to its row in a sink; `silent` is of those after the last event."""

    query: str
    way: str
    changes: int
    mean_s: float
    most_s: float
    silent_mean_s: float
    silent_most_s: float


class Sales(threading.Thread):
    """Writes the sales of two streams as they happen, and keeps what it wrote."""

    def __init__(self, folder: Path, rate: float, seconds: float) -> None:
        super().__init__(daemon=True)
        self._folder, self._seconds = folder, seconds
        self._given = {stream: arrivals(i, rate, seconds, FEW_ITEMS) for i, stream in enumerate("ab")}
        self.tables: dict[str, pa.Table] = {}
        self.began_us = self.ended_us = 0

    def run(self) -> None:
        began, number, done = time.time(), 1, dict.fromkeys(self._given, 0)
        self.began_us = int(began * SECOND)
        for stream, given in self._given.items():
            times = pa.array(self.began_us + given.times, pa.timestamp("us", tz="UTC"))
            self.tables[stream] = pa.Table.from_batches([given.rows]).append_column("ts", times)
        while any(done[stream] < len(table) for stream, table in self.tables.items()):
            time.sleep(max(0.0, began + number * EVERY - time.time()))
            for stream, table in self.tables.items():
                until = int(np.searchsorted(self._given[stream].times, (time.time() - began) * SECOND))
                if until > done[stream]:
                    put(self._folder / stream, number, table.slice(done[stream], until - done[stream]))
                    done[stream] = until
            number += 1
        self.ended_us = int(time.time() * SECOND)


def measure_live(size: Size) -> Iterator[LiveDelay]:
    """All queries at 10 tuples/s in one job, one job for each way; answers are checked before delays are told."""
    reach, settle, seconds = size.of((1, 0, 1), (4, 8, 8), (20, 15, 60))
    names = ("Q1", "Q2", "Q5") if size is Size.QUICK else tuple(SNAPSHOTS)
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as kept, bench_spark(driver_memory="2g") as spark:
        for way in () if size is Size.TINY else Expiry:  # each waits for its window to pass
            texts = {name: SNAPSHOTS[name] for name in names}
            live = _Live(spark, Path(kept) / way.name, reach, settle, seconds)
            yield from live.run(texts, way, "ts")
        live = _Live(spark, Path(kept) / "arrival", reach, settle, seconds)
        yield from live.run({"rows": ROWS}, Expiry.HYBRID, None)


class _Live:
    """Runs one job beside sales that happen, and reads its rows as they come."""

    def __init__(self, spark: SparkSession, folder: Path, reach: int, settle: int, seconds: int) -> None:
        self._spark, self._folder, self._reach, self._settle = spark, folder, reach, settle
        self._sales = Sales(folder, 10, reach + settle + seconds)

    def run(self, texts: Mapping[str, str], way: Expiry, time_column: str | None) -> Iterator[LiveDelay]:
        """The delays of some queries; `time_column` is None where time is that of arrival."""
        folder, sales = self._folder, self._sales
        session = windrow.Session(self._spark, shards=2, choose={"expiry": way.value})
        for stream in "ab":
            (folder / stream).mkdir(parents=True)
            idle = time_column is not None
            session.stream_files(stream, str(folder / stream), schema=SCHEMA, time=time_column, idle_clock=idle)
        for table, rows in tables().items():
            session.table(table, self._spark.createDataFrame(rows.to_pandas()))
        for name, text in texts.items():
            session.query(name, f"{text} WINDOW {self._reach} SECONDS")
        out = {name: folder / "out" / name for name in texts}
        reader = Reader(list(out.values()), "time")
        reader.start()
        job = session.start(str(folder / "checkpoint"), {n: windrow.sink("parquet", path=p) for n, p in out.items()})
        sales.start()
        sales.join()
        over = sales.ended_us + self._reach * SECOND
        while not _has_come_to(job, over):
            assert not job.wait(0.1), "the job has ended"
        job.stop()
        reader.stop()
        for name, seen in zip(texts, reader.seen):
            changes = duckdb.sql(f"SELECT * FROM '{out[name]}/*.parquet' ORDER BY time, op").to_arrow_table()
            if time_column is None:
                self._check_rows(changes)
            elif way is not Expiry.INPUT:  # which tells what is over when the next event comes, or never
                check_changes(name, changes, sales.tables, self._reach * SECOND, sales.began_us)
            yield self._delay(name, BY_ARRIVAL if time_column is None else way.value, len(changes), seen)

    def _check_rows(self, changes: pa.Table) -> None:
        """Every row has come once and gone once, the range after it came."""
        came, gone = (
            Counter(zip(*(changes.filter(pc.equal(changes["op"], op))[name].to_pylist() for name in ("item", "price"))))
            for op in "+-"
        )
        sold = Counter(zip(*(self._sales.tables["a"][name].to_pylist() for name in ("item", "price"))))
        assert came == gone == sold, "rows differ"

    def _delay(self, name: str, way: str, changes: int, seen: Mapping[int, float]) -> LiveDelay:
        sales = self._sales
        instants = np.array(sorted(seen))
        late = np.array([seen[instant] for instant in instants.tolist()]) - instants / SECOND
        settled = instants > sales.began_us + (self._reach + self._settle) * SECOND
        silent = instants > sales.ended_us
        return LiveDelay(
            name, way, changes, *_mean_and_most(late[settled & ~silent]), *_mean_and_most(late[settled & silent])
        )


def _has_come_to(job: windrow.Job, instant_us: int) -> bool:
    """Whether the clocks of all that the job reads have passed an instant."""
    clocks = [figures.clock for figures in job.progress().values()]
    return all(clock is not None and clock.timestamp() * SECOND > instant_us for clock in clocks) and bool(clocks)


def _mean_and_most(late: np.ndarray) -> tuple[float, float]:
    return (float(late.mean()), float(late.max())) if len(late) else (math.nan, math.nan)
