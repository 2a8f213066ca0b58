"""Spark's own settings of file systems: addresses of stores and credentials, for places that are elsewhere."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from windrow.places.addresses import FILE, scheme_of
from windrow.places.place import AnyPlace, Place, place_of

_HADOOP = "spark.hadoop."
_KINDS = ("fs.", "dfs.", "hadoop.security.", "google.cloud.")


def spark_place(spark: SparkSession, address: AnyPlace) -> Place:
    """The place at an address, reached with what the session knows; of a path of this machine, Spark is not asked."""
    elsewhere = not isinstance(address, Place) and scheme_of(str(address)) != FILE
    return place_of(address, fs_settings(spark) if elsewhere else None)


def fs_settings(spark: SparkSession) -> dict[str, str]:
    """What Hadoop's configuration says in a session: core-site.xml, hdfs-site.xml and the settings `spark.hadoop.*`.

    Where the JVM cannot be asked, as with Spark Connect, it is what the session itself was given.
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
    return {
        name.removeprefix(_HADOOP): value
        for name, value in given.items()
        if name.removeprefix(_HADOOP).startswith(_KINDS) and name.startswith(_HADOOP)
    }
