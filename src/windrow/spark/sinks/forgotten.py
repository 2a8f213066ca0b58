"""Rows that wait in the checkpoint for sinks that roll no more, or are gone: they are shown before the job goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.sink import LAKES, Sink
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.checkpoint import read_back
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.rolling import ROLLING, SINK, RollingSink
from windrow.spark.sinks.rolling_lake import RollingLake


def roll_forgotten(folder: AnyPlace, known: Iterable[FileSink], committed: int, spark: SparkSession) -> None:
    """Show what waits in a stream's `folder` of the checkpoint for sinks that roll no more, or are gone."""
    rolling = {sink.prefix for sink in known if isinstance(sink, RollingSink)}
    for place in (place_of(folder) / ROLLING).entries():
        if place.name not in rolling and (place / SINK).is_file():
            _again(place, spark).roll_all(committed)
            place.delete_folder()


def _again(place: Place, spark: SparkSession) -> RollingSink:
    """The sink whose rows wait in `place`."""
    format, options, *mark = read_back(place / SINK, _as_noted)
    sink = Sink(format, tuple((name, value) for name, value in options))
    if format in LAKES:
        return RollingLake(sink, mark[0], place.name, spark, place)
    return RollingSink(sink, place.name, spark, place, spark_place(spark, sink.path or ""))


def _as_noted(content: Any) -> list[Any]:
    format, options, *mark = content
    if not isinstance(format, str) or (format in LAKES) != bool(mark):
        raise ValueError("the note says nothing")
    return [format, options, *mark]
