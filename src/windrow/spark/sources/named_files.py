"""Parquet files by name: Spark lists, limits, logs and replays their names, and opens none of them.

Its source of files keeps the same notes in a checkpoint whatever the format is. So a job may be stopped where rows came
through Spark, and go on by name, or the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from windrow.language import identifier_sql
from windrow.spark.sources.file_columns import MOST, files_of
from windrow.spark.sources.file_options import not_by_name
from windrow.spark.sources.heartbeat import NOW_SQL
from windrow.spark.sources.missing_files import MISSING_SETTING
from windrow.spark.sources.parquet_files import not_readable

TASK, PATH, LENGTH, ARRIVED = "task", "path", "length", "arrived"
"""Columns of what tasks are told: who reads it, and of each file its name, its length, and when its batch began. Those
in the names of its folders follow as p0, p1 and so on."""

_BINARY = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_SETTINGS = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.legacy.parquet.nanosAsLong": "false",
}
"""How Spark reads Parquet files where nobody has asked for anything else."""


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The files of a stream by name, with the columns in the names of their folders as Spark reads them."""

    frame: DataFrame
    partitions: tuple[str, ...]
    schema: pa.Schema
    options: tuple[tuple[str, str], ...]

    def told(self, tasks: int) -> DataFrame:
        """All names of a batch for each of `tasks`, which are as many Spark tasks: no row has to be shuffled.

        Each pairs its own number with all names. To broadcast these would be a Spark job of its own, in each batch.
        """
        apart = [F.col(identifier_sql(name)).alias(f"p{i}") for i, name in enumerate(self.partitions)]
        names = self.frame.select(PATH, LENGTH, F.expr(NOW_SQL).alias(ARRIVED), *apart)
        each = self.frame.sparkSession.range(0, tasks, 1, tasks).toDF(TASK)
        return each.hint("shuffle_replicate_nl").crossJoin(names.coalesce(1))

    @property
    def ignores_missing(self) -> bool:
        setting = self.frame.sparkSession.conf.get(MISSING_SETTING, None)
        chosen = dict(self.options).get("ignoremissingfiles", setting)
        return (chosen or "false").lower() == "true"

    def unlike(self, wanted: Mapping[str, pa.DataType]) -> str | None:
        """Why a file that is there now cannot be read by name, though Spark might."""
        options = dict(self.options)
        return not_readable(files_of(options["path"], options), wanted, MOST)


def name_files(spark: SparkSession, format: str, options: Mapping[str, str], frame: DataFrame) -> NamedFiles | str:
    """The names of the files that `frame` reads, or why their rows have to come through Spark."""
    lowered = {name.lower(): value for name, value in options.items()}
    other = not_by_name(format, options)
    if other is not None:
        return other
    unlike = unlike_settings(spark)
    if unlike is not None:
        return unlike
    try:
        reader = spark.readStream.format("binaryFile").options(**options)
        apart = reader.schema(_BINARY).load().columns[4:]
        fields = {field.name.lower(): field for field in frame.schema.fields}
        if any(name.lower() in (PATH, LENGTH, "modificationtime", "content") for name in apart):
            return f"a folder is named by the column {apart[0]}"
        schema = StructType.fromDDL(_BINARY)
        assert isinstance(schema, StructType)
        names = reader.schema(StructType([*schema.fields, *(fields[name.lower()] for name in apart)])).load()
        declared = to_arrow_schema(frame.schema, timezone="UTC")
    except (PySparkException, KeyError) as error:
        return f"Spark does not list them: {str(error).splitlines()[0]}"
    return NamedFiles(names, tuple(names.columns[4:]), declared, tuple(lowered.items()))


def unlike_settings(spark: SparkSession) -> str | None:
    """A setting by which Spark reads Parquet files otherwise than tasks do; None if there is none."""
    for name, value in _SETTINGS.items():
        chosen = spark.conf.get(name, None)
        if chosen is not None and chosen.lower() != value.lower():
            return f"{name} is {chosen}"
    return None
