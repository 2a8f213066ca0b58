"""The table that a sink of a lake names, and where its files go."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.places.place import Place, place_of
from windrow.places.reach import check_reached
from windrow.plan.sink import DELTA, Sink
from windrow.spark.fs_settings import spark_place
from windrow.spark.sinks.delta_storage import delta_address
from windrow.spark.sinks.delta_table import DeltaLog
from windrow.spark.sinks.iceberg_storage import BUCKETS, iceberg_storage
from windrow.spark.sinks.iceberg_table import IcebergTable
from windrow.spark.sinks.lake import LakeTable

_PASSED = ("compression", "partitionby", "roll")


def table_of(spark: SparkSession, sink: Sink, mark: str) -> tuple[LakeTable, Place]:
    """The table of a sink, and the folder of its files; `mark` is the name under which batches are noted."""
    if sink.format == DELTA:
        place = _place_of(spark, sink.path or "")
        address, storage = delta_address(place)
        table: LakeTable = DeltaLog(address, mark, sink.expire, storage)
    else:
        named = IcebergTable(dict(sink.options), mark, _storage_of(spark, sink))
        place, table = _place_of(spark, named.folder), named
    check_reached(place, f"the folder of a table of {sink.format}")
    return table, place


def _place_of(spark: SparkSession, path: str) -> Place:
    """The folder at a path, which is on this machine or elsewhere."""
    if scheme_of(path) == FILE:
        return place_of(os.path.abspath(local_path(path)))
    return spark_place(spark, path)


def _storage_of(spark: SparkSession, sink: Sink) -> dict[str, str]:
    """What Spark knows of the bucket of an Iceberg table, by its path or, where a catalog has it, its warehouse."""
    named = {name.lower(): value for name, value in sink.options}
    where = named.get("path") or named.get("warehouse") or ""
    return iceberg_storage(spark_place(spark, where)) if scheme_of(where) in BUCKETS else {}


def files_of(sink: Sink, place: Place) -> Sink:
    """The sink of Parquet files that a table's files are written as."""
    passed = ((name, value) for name, value in sink.options if name.lower() in _PASSED)
    return Sink("parquet", (("path", place.path if place.is_local else str(place)), *passed))
