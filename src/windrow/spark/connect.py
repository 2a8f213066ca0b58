"""Spark Connect: a session whose Spark is a server elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from windrow.errors import SettingsError
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


def refuse_connect(spark: Any) -> None:
    """Refuse a session that talks to a Spark Connect server: it has no JVM, and no context, of its own."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise SettingsError(
            "Windrow does not run on Spark Connect yet\nhint: SparkSession.builder.master(...) instead of remote(...)"
        )
