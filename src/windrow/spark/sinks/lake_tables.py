"""The table that a sink of a lake names, and where its files go."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.places.addresses import FILE, scheme_of
from windrow.places.place import Place
from windrow.places.reach import check_reached
from windrow.plan.sink import DELTA, Sink
from windrow.spark.fs_settings import spark_place
from windrow.spark.sinks.delta_storage import delta_address
from windrow.spark.sinks.delta_table import DeltaLog
from windrow.spark.sinks.iceberg_table import IcebergTable
from windrow.spark.sinks.lake import LakeTable, lake_place

_PASSED = ("compression", "partitionby", "roll")


def table_of(spark: SparkSession, sink: Sink, mark: str) -> tuple[LakeTable, Place]:
    """The table of a sink, and the folder of its files; `mark` is the name under which batches are noted."""
    if sink.format == DELTA:
        path = sink.path or ""
        place = lake_place(path, sink.format) if scheme_of(path) == FILE else spark_place(spark, path)
        address, storage = delta_address(place)
        table: LakeTable = DeltaLog(address, mark, sink.expire, storage)
    else:
        named = IcebergTable(dict(sink.options), mark)
        place, table = lake_place(named.folder, sink.format), named
    check_reached(place, f"the folder of a table of {sink.format}")
    return table, place


def files_of(sink: Sink, place: Place) -> Sink:
    """The sink of Parquet files that a table's files are written as."""
    passed = ((name, value) for name, value in sink.options if name.lower() in _PASSED)
    return Sink("parquet", (("path", place.path if place.is_local else str(place)), *passed))
