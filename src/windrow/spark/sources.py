"""Streams and tables on Spark."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, TimestampNTZType, TimestampType

from windrow.errors import SettingsError


def time_expression(frame: DataFrame, time: str, name: str) -> str:
    """The microseconds since the epoch at which an event happened, as a Spark expression."""
    try:
        type = frame.select(F.expr(time)).schema[0].dataType
    except AnalysisException:
        raise SettingsError(
            f"stream {name!r} has no column {time!r} to take the time from; columns: {', '.join(frame.columns)}"
        ) from None
    if isinstance(type, TimestampType):
        return f"unix_micros({time})"
    if isinstance(type, TimestampNTZType | DateType):
        return f"unix_micros(to_utc_timestamp(CAST({time} AS TIMESTAMP), current_timezone()))"
    raise SettingsError(
        f"{time!r} of stream {name!r} is {type.simpleString()}, and a time is needed: for seconds since 1970 write"
        f" timestamp_seconds({time})"
    )
