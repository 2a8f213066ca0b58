"""Whose rows tasks can finish: those of queries for which our own expressions give what Spark's would."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from sqlglot import exp

from windrow.errors import WindrowError
from windrow.language import parse_expression
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.answer_settings import unlike_ours
from windrow.spark.sinks.results import finished_by_spark, spark_schema

ZONES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
"""Our expressions count the time of day in this zone."""

_PLAIN = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *(pa.types.is_string, pa.types.is_binary, pa.types.is_date, pa.types.is_timestamp),
)


def covered_schema(query: QueryPlan | ChangePlan, spark: SparkSession) -> pa.Schema | None:
    """The columns of the rows that tasks can finish; None where Spark has to."""
    if not isinstance(query, ChangePlan) and ((query.order and query.limit is None) or not _in_zone(query, spark)):
        return None
    if unlike_ours(spark) is not None:
        return None
    shown = finished_by_spark(spark.createDataFrame([], spark_schema(query.emitted)), query)
    wanted = to_arrow_schema(shown.schema, timezone="UTC")
    try:
        own = finish_whole(finish_part(query.emitted.empty_table(), query), query).schema
    except (WindrowError, pa.ArrowException):
        return None
    same = wanted.names == own.names and wanted.types == own.types
    return wanted if same and all(map(is_plain, wanted.types)) else None


def _in_zone(query: QueryPlan, spark: SparkSession) -> bool:
    """Whether the session's time zone is ours, or no expression can ask for it."""
    if spark.conf.get("spark.sql.session.timeZone") in ZONES:
        return True
    texts = [*(output.sql for output in query.outputs), *(term.sql for term in query.order), query.having]
    trees = [parse_expression(text) for text in texts if text is not None]
    return query.emit == SNAPSHOT and all(isinstance(tree, exp.Column) for tree in trees)


def is_plain(kind: pa.DataType) -> bool:
    """Whether readers of a file find this type as Spark would have written it."""
    if pa.types.is_nested(kind):
        return all(is_plain(kind.field(i).type) for i in range(kind.num_fields))
    return any(check(kind) for check in _PLAIN)
