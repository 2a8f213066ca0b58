"""The Spark that a benchmark runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from windrow.spark.settings import local_spark


@contextmanager
def bench_spark(**options: str) -> Iterator[SparkSession]:
    """Two cores of this machine; a Spark that runs already is used, and left running. Options have _ for a dot."""
    found = SparkSession.getActiveSession() is not None
    spark = local_spark("local[2]", {f"spark.{name.replace('_', '.')}": value for name, value in options.items()})
    try:
        yield spark
    finally:
        if not found:
            spark.stop()
