"""Spark Connect: a session whose Spark is a server elsewhere, and what is asked otherwise there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from windrow.errors import SettingsError
from windrow.plan.sink import FORMATS, NOOP, Sink
from windrow.spark.reach_master import check_master

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def connected(url: str, options: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session of the Spark Connect server at `url`, for as long as the block lasts."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    check_master(url)
    builder = SparkSession.builder.remote(url)
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        spark = builder.create()
    except ImportError as error:
        raise SettingsError(f"Spark Connect needs packages that are not installed: {error}") from None
    except PySparkException as error:
        raise SettingsError(f"Spark Connect at {url}: {str(error).splitlines()[0]}") from None
    try:
        yield spark
    finally:
        spark.stop()


def is_connect(spark: Any) -> bool:
    """Whether a session talks to a Spark Connect server: it has no JVM, and no context, of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def parallelism(spark: SparkSession) -> int:
    """How many tasks Spark runs at a time; a server is asked into how many parts it cuts a range."""
    if not is_connect(spark):
        return int(spark.sparkContext.defaultParallelism)
    from pyspark.sql import functions as F

    return spark.range(4096).select(F.spark_partition_id()).distinct().count()


def check_served(checkpoint: str | None, keep_answers: bool) -> None:
    """Refuse what a job on a Spark Connect server cannot do, by name: its batches are written there, not here."""
    if not checkpoint:
        raise SettingsError(
            "with Spark Connect a job needs a checkpoint, at a place that the server sees, too"
            "\nhint: session.start(checkpoint=...)"
        )
    if keep_answers:
        raise SettingsError(f"keep_answers: {NO_ANSWERS}")


def check_served_sink(name: str, sink: Sink) -> None:
    """Refuse a sink that a Spark Connect server does not write to."""
    if sink.keeps_answer:
        raise SettingsError(f"sink {name!r}: {NO_ANSWERS}")
    if sink.format not in (*FORMATS, NOOP):
        raise SettingsError(
            f"sink {name!r}: {sink.format} does not work with Spark Connect, where a server writes the batches"
            f"\nhint: files of {', '.join(FORMATS)}; or SparkSession.builder.master(...) instead of remote(...)"
        )


NO_ANSWERS = (
    "with Spark Connect no answers are kept in this process, since a server writes the batches"
    "\nhint: a sink of files with holds='answer'; or SparkSession.builder.master(...) instead of remote(...)"
)
