"""The five queries of Table 1 on Spark, from Parquet files into the noop sink."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import windrow

from .arriving import put
from .bench_spark import bench_spark
from .expiry_cases import RATE, tables
from .expiry_sql import SNAPSHOTS, SQL, check_changes, sales_of
from .size import Size

SCHEMA = "store BIGINT, item BIGINT, price DOUBLE, ts TIMESTAMP"


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Steady batches of one query on Spark: all but the first."""

    query: str
    events: int
    seconds: float
    events_per_s: float


def measure_spark(size: Size) -> Iterator[OnSpark]:
    """Events a second of each query, local[2]; its answers are checked first."""
    seconds, batches, rate = size.of((30, 2, 20), (50, 3, RATE), (600, 5, RATE))
    names = size.of(["Q3"], ["Q2", "Q3"], list(SQL))  # a query in two stages, and a join
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as kept, bench_spark(driver_memory="2g") as spark:
        for name in names:
            bench = _Bench(spark, name, Path(kept) / name, rate)
            found: list[pa.Table] = []
            progress = bench.run(30 if size.is_full else seconds, batches, _into(found))
            check_changes(SNAPSHOTS[name], pa.concat_tables(found), bench.sales)
            if size.is_full:
                progress = bench.run(seconds, batches, None)
            steady = [batch for batch in progress if batch["numInputRows"]][1:]
            took = sum(batch["durationMs"]["triggerExecution"] for batch in steady) / 1000
            events = sum(batch["numInputRows"] for batch in steady)
            yield OnSpark(name, events, took, events / took)


def _into(kept: list[pa.Table]) -> Callable[[DataFrame, int], None]:
    return lambda rows, _: kept.append(rows.toArrow())


class _Bench:
    """Runs one query, each time over sales of its own size."""

    def __init__(self, spark: SparkSession, name: str, folder: Path, rate: int) -> None:
        self._spark, self._name, self._folder, self._rate = spark, name, folder, rate
        self.sales: dict[str, pa.Table] = {}
        self._count = 0

    def run(self, seconds: int, batches: int, sink: Callable[[DataFrame, int], None] | None) -> list[dict]:
        """Work off `batches` batches of so many seconds each; returns Spark's progress of every batch."""
        self._count += 1
        folder = self._folder / str(self._count)
        self.sales = sales_of(self._name, seconds * batches, self._rate)
        session = windrow.Session(self._spark, shards=2)
        for stream, table in self.sales.items():
            _write(folder / stream, table, batches)
            files = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 2)
            session.stream(stream, files.parquet(str(folder / stream)), time="ts")
        for table, rows in tables().items():
            session.table(table, self._spark.createDataFrame(rows.to_pandas()))
        writer = session.sql(SQL[self._name]).writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        writer = writer.format("noop") if sink is None else writer.foreachBatch(sink)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return list(query.recentProgress)


def _write(folder: Path, table: pa.Table, batches: int) -> None:
    """Two files a batch, so that both cores have something to read."""
    files = 2 * batches
    rows = -(-table.num_rows // files)
    for number in range(files):
        put(folder, number, table.slice(number * rows, rows))
