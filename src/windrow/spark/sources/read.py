"""Streams and tables on Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import DateType, StringType, StructField, StructType, TimestampNTZType, TimestampType

from windrow.errors import SettingsError
from windrow.language import parse_expression
from windrow.plan.bind.refuse_time_functions import wrong_time
from windrow.plan.database_driver import with_driver
from windrow.plan.instants import EARLIEST_US, LATEST_US
from windrow.spark.connect import is_connect
from windrow.spark.expressions import guarded, quiet_analysis
from windrow.spark.sources.database_reason import database_reason
from windrow.spark.sources.file_options import CORRUPT, FILES, TEXTS, bounded
from windrow.spark.sources.heartbeat import NOW_SQL

_DAY = 86_400_000_000


def read_stream(
    spark: SparkSession, format: str, options: Mapping[str, str], ddl: str | None
) -> tuple[DataFrame, str | None]:
    """A stream in any format that Spark reads, and the column for rows that cannot be read, if the format has one.

    Columns that are not given are found in the files that are there.
    """
    reader = spark.readStream.format(format).options(**bounded(format, options))
    if ddl is None and format not in FILES:
        return _loaded(reader, format), None
    schema = _found(spark, format, options) if ddl is None else cast(StructType, StructType.fromDDL(ddl))
    if format not in TEXTS:
        return _loaded(reader.schema(schema), format), None
    corrupt = options.get("columnNameOfCorruptRecord", CORRUPT)
    kept = StructType([*schema.fields, StructField(corrupt, StringType())])
    return _loaded(reader.option("columnNameOfCorruptRecord", corrupt).schema(kept), format), corrupt


def read_table(spark: SparkSession, format: str, options: Mapping[str, str], ddl: str | None) -> DataFrame:
    """Rows that do not change, in any format that Spark reads."""
    reader = spark.read.format(format).options(**(with_driver(options) if format == "jdbc" else options))
    return _loaded(reader.schema(ddl) if ddl is not None else reader, format)


def table_rows(table: DataFrame) -> pa.Table:
    """What a table holds now: files that have come or gone since it was last read are seen."""
    if not is_connect(table.sparkSession):  # there, a plan is made anew each time
        table._jdf.queryExecution().analyzed().refresh()
    return table.select("*").toArrow()  # by a new plan: the old one has its list of files


def time_expression(frame: DataFrame, time: str | None, name: str) -> str:
    """The microseconds since the epoch at which an event happened, or arrived (None), as a Spark expression."""
    if time is None:
        return NOW_SQL
    try:
        with quiet_analysis():
            type = frame.select(F.expr(time)).schema[0].dataType
    except AnalysisException as error:
        if error.getCondition() == "UNRESOLVED_ROUTINE":
            raise SettingsError(
                f"the time of stream {name!r} has a function that Spark does not know: {time}"
            ) from None
        raise SettingsError(
            f"stream {name!r} has no column {time!r} to take the time from; columns: {', '.join(frame.columns)}"
        ) from None
    wrong = wrong_time(parse_expression(time))
    if wrong is not None:
        raise SettingsError(f"{time!r} does not say when an event of stream {name!r} happened: {wrong}")
    time = guarded(time, frame)
    if isinstance(type, TimestampType):
        return f"unix_micros({time})"
    if isinstance(type, DateType):
        return _micros_of_days(f"unix_date({time})")
    if isinstance(type, TimestampNTZType):
        return _micros_by_parts(time)
    raise SettingsError(
        f"{time!r} of stream {name!r} is {type.simpleString().upper()}, and a time is needed: for seconds since 1970"
        f" write timestamp_seconds({time}), for milliseconds timestamp_millis({time})"
    )


def _micros_of_days(days: str) -> str:
    """The microseconds of a DATE; one that is too far away for 64 bits is just outside of the years that there are."""
    early = f"WHEN {days} < {EARLIEST_US // _DAY} THEN {EARLIEST_US - 1}L"
    return f"CASE {early} WHEN {days} > {LATEST_US // _DAY} THEN {LATEST_US + 1}L ELSE {days} * {_DAY}L END"


def _micros_by_parts(time: str) -> str:
    """The microseconds of a TIMESTAMP_NTZ: a cast to TIMESTAMP would take it to a time zone, which may lack an hour."""
    day, seconds = f"unix_date(CAST({time} AS DATE)) * {_DAY}L", f"(hour({time}) * 60 + minute({time})) * 60000000L"
    return f"{day} + {seconds} + CAST(extract(SECOND FROM {time}) * 1000000 AS BIGINT)"


def _found(spark: SparkSession, format: str, options: Mapping[str, str]) -> StructType:
    """The columns that the files now there have."""
    found = {"inferSchema": "true", **options} if format == "csv" else dict(options)
    limits = {name: value for name, value in found.items() if not name.lower().startswith("max")}
    schema = _loaded(spark.read.format(format).options(**limits), format).schema
    return StructType([field for field in schema.fields if field.name != CORRUPT])


def missing_format(spark: SparkSession, format: str) -> str | None:
    """What is wrong with the name of a format, if anything: Spark is asked for it, and says if it has none such."""
    try:
        spark.read.format(format).schema("a INT").load()
    except (PySparkException, Py4JError) as error:
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            return f"Spark has no format {format!r}"
        if "_DATA_SOURCE_NOT_ENABLED" in str(error):
            return f"this Spark lacks the package for {format!r}"
    return None


def _loaded(reader: DataFrameReader | DataStreamReader, format: str) -> DataFrame:
    try:
        return reader.load()
    except (PySparkException, Py4JError) as error:
        raise SettingsError(f"{format} cannot be read: {spark_reason(error)}") from None


def spark_reason(error: Exception) -> str:
    """The sentence of Spark's complaint that says what is wrong: the last cause, of an error that has several.

    >>> spark_reason(Exception("An error occurred while calling o7.apply.\\n: java.io.IOException: no space\\n\\tat x"))
    'no space'
    """
    told = database_reason(error)
    if told is not None:
        return f"the database {told.does}: {told.said}"
    text = re.sub(r"^An error occurred while calling .*\n: (?:[\w.$]+: )?", "", str(error))
    causes = [line for line in text.splitlines() if line.startswith("Caused by: ")]
    text = causes[-1].split(": ", 2)[-1] if causes else text
    return re.sub(r"^\[[A-Z_.]+\] ", "", text).strip().split(" SQLSTATE")[0].split("\n")[0]
