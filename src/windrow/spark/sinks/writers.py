"""What becomes of a batch's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from zlib import crc32

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.errors import SettingsError
from windrow.plan.sink import ANSWERS, MEMORY, NOOP, SHOWN, SPARKS_FORMAT, Sink
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.staged_files import Nowhere, Staged


class Writer(Protocol):
    """Takes the rows of one query, batch by batch. A batch may come again after a failure.

    One that `takes_empty` is given batches without a row too, and is never written beside another. Sinks of files are
    written otherwise: what is staged for one, by whomever, is shown together.
    """

    takes_empty: bool

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        """How tasks put rows of such columns where they belong; None where they send them to the driver, to be taken.

        A text says why Spark has to write them.
        """

    def write(self, rows: DataFrame, batch: int) -> None: ...

    def take(self, rows: pa.Table, batch: int) -> None: ...


class WrittenBySpark:
    """What only Spark can write, since it is of one of its formats or is shown by it."""

    takes_empty = False
    why = SPARKS_FORMAT

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        return self.why

    def check_rows(self, spark: SparkSession, shown: Callable[[], pa.Schema]) -> None:
        """Refuse rows that do not fit what they are written to, before anything starts."""

    def take(self, rows: pa.Table, batch: int) -> None:
        raise AssertionError("its rows come from Spark")


class ConsoleSink(WrittenBySpark):
    """Prints the newest rows of each batch."""

    takes_empty = True
    why = SHOWN

    def __init__(self, sink: Sink, name: str) -> None:
        self._name, self._count = name, int(dict(sink.options).get("numRows", "20"))

    def write(self, rows: DataFrame, batch: int) -> None:
        newest = rows.orderBy(F.col(rows.columns[1]).desc()).limit(self._count).persist()  # the batch runs once only
        if not newest.isEmpty():
            print(f"-- {self._name}, batch {batch}")
            newest.show(self._count, truncate=False)
        newest.unpersist()


class MemorySink:
    """Keeps all rows in the driver and shows them as a view of the query's name: for tests and notebooks."""

    takes_empty = True

    def __init__(self, name: str, spark: SparkSession) -> None:
        self._view, self._spark = f"`{name.replace('`', '``')}`", spark  # a batch has a session of its own
        self._batches: dict[int, pa.Table] = {}

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        return None

    def write(self, rows: DataFrame, batch: int) -> None:
        self.take(rows.toArrow(), batch)

    def take(self, rows: pa.Table, batch: int) -> None:
        self._batches[batch] = rows
        kept = pa.concat_tables(self._batches.values()).combine_chunks()
        self._spark.createDataFrame(kept).createOrReplaceTempView(self._view)


class NoSink:
    """Has rows computed, and drops them: for benchmarks, and for queries of which only the current answer is kept."""

    takes_empty = False

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        return Nowhere()

    def write(self, rows: DataFrame, batch: int) -> None:
        rows.write.format(NOOP).mode("overwrite").save()

    def take(self, rows: pa.Table, batch: int) -> None:
        pass


class FormatSink(WrittenBySpark):
    """Any other Spark format: at least once. Each row carries its batch, so that a reader can drop repetitions."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, rows: DataFrame, batch: int) -> None:
        rows = rows.withColumn("batch", F.lit(batch))
        options = self._sink.spark_options
        rows.write.format(self._sink.format).options(**options).mode("append").save()


def mark_of(name: str) -> str:
    """A mark of a name for the names of files: sinks may share a folder."""
    return f"{crc32(name.encode('utf-8', 'surrogatepass')):08x}"


AnyWriter = Writer | FileSink


def writer_for(name: str, sink: Sink, spark: SparkSession) -> Writer:
    """The writer of a sink that is not one of files, and shows rows as those of `name`."""
    if sink.format == "console":
        return ConsoleSink(sink, name)
    if sink.format == MEMORY:
        return MemorySink(name, spark)
    if sink.format in (NOOP, ANSWERS):
        return NoSink()
    return FormatSink(sink)


def check_path(name: str, sink: Sink) -> None:
    """Refuse files that have no folder."""
    if sink.path is None:
        raise SettingsError(f"sink {name!r} writes {sink.format} files and needs a path")
