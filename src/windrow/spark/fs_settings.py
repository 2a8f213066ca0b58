"""Spark's own settings of file systems: addresses of stores and credentials, for places that are elsewhere."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from windrow.places.addresses import FILE, scheme_of
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import AnyPlace, Place, place_of

_REDACTED = "(redacted)"
"""How Spark ends what it does not tell."""

_KINDS = ("fs.", "dfs.", "hadoop.security.", "google.cloud.")


def spark_place(spark: SparkSession, address: AnyPlace) -> Place:
    """The place at an address, reached with what the session knows; of a path of this machine, Spark is not asked."""
    elsewhere = not isinstance(address, Place) and scheme_of(str(address)) != FILE
    return place_of(address, fs_settings(spark) if elsewhere else None)


def fs_settings(spark: SparkSession) -> dict[str, str]:
    """What Hadoop's configuration says in a session: core-site.xml, hdfs-site.xml and the settings `spark.hadoop.*`.

    Where the JVM cannot be asked, as with Spark Connect, it is what the server tells of its own, and in place of the
    credentials, which it keeps to itself, those of this machine: spark-defaults.conf, as for a command without Spark.
    """
    try:
        hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    except Exception:
        return _given(spark)
    return {
        f"{kind}{name}": str(value) for kind in _KINDS for name, value in dict(hadoop.getPropsWithPrefix(kind)).items()
    }


def _given(spark: SparkSession) -> dict[str, str]:
    try:
        given = spark.conf.getAll
    except Exception:  # what stands for a session in a test, or an older one
        return {}
    told = {name: value for name, value in given.items() if not value.endswith(_REDACTED)}
    return {name: value for name, value in settings_outside_spark(told).items() if name.startswith(_KINDS)}
