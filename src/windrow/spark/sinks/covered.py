"""Whose rows tasks can finish: those of queries for which our own expressions give what Spark's would."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import WindrowError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.expressions.zone_clocks import is_known
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.answer_settings import unlike_ours
from windrow.spark.plain_types import is_plain
from windrow.spark.sinks.results import finished_by_spark, spark_schema


def covered_schema(query: QueryPlan | ChangePlan, spark: SparkSession) -> pa.Schema | str:
    """The columns of the rows that tasks can finish; where Spark has to, why."""
    if query.order and query.limit is None:
        return "ORDER BY without LIMIT orders all rows of a window"
    zone = session_zone(spark)
    if query.finishing and not is_known(zone):
        return f"tasks do not know the time zone {zone}, which expressions over answers may ask for"
    unlike = unlike_ours(spark)
    if unlike is not None:
        return unlike
    wanted = shown_schema(query, spark)
    try:
        own = finish_whole(finish_part(query.emitted.empty_table(), query, zone), query, zone).schema
    except (WindrowError, pa.ArrowException):
        return f"an expression over answers is Spark's own{_which(query, zone)}"
    for mine, theirs in zip(own, wanted):
        if mine.name != theirs.name or mine.type != theirs.type:
            return f"{theirs.name} comes out as {theirs.type} with Spark alone"
        if not is_plain(theirs.type):
            return f"{theirs.name} has the type {theirs.type}"
    return wanted


def _which(query: QueryPlan | ChangePlan, zone: str) -> str:
    """The first of them that tasks cannot evaluate, where they see whole answers."""
    rows = query.numbered.empty_table() if isinstance(query, QueryPlan) else None
    for text in query.finishing if rows is not None and query.emit == SNAPSHOT else ():
        try:
            evaluate_text(text, rows, zone)
        except (WindrowError, pa.ArrowException):
            return f": {text}"
    return ""


class Coverage:
    """What `covered_schema` says, asked once for all queries that are finished alike: of a thousand, few differ."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[Hashable, pa.Schema | str] = {}
        self._shown: dict[Hashable, pa.Schema] = {}
        self.zone = session_zone(spark)

    def schema(self, query: QueryPlan | ChangePlan) -> pa.Schema | str:
        alike = _finished_as(query)
        if alike not in self._known:
            self._known[alike] = covered_schema(query, self._spark)
        return self._known[alike]

    def shown(self, query: QueryPlan | ChangePlan) -> pa.Schema:
        """The columns of a query's rows as their reader sees them, whoever finishes them."""
        alike = _finished_as(query)
        if alike not in self._shown:
            self._shown[alike] = shown_schema(query, self._spark)
        return self._shown[alike]


_NUMBER, _TEXT = re.compile(r"-?\d{1,9}"), re.compile(r"'[^'\\]*'")


def _finished_as(query: QueryPlan | ChangePlan) -> Hashable:
    """All that finishing the rows of a query depends on, as far as columns and their types go.

    Queries that share a sink tell their rows apart by a constant, which has the same type in all of them.
    """
    if isinstance(query, ChangePlan):
        return (query.emitted, query.emit, query.order, query.limit)
    outputs = tuple(replace(each, sql=_typed_alike(each.sql)) for each in query.outputs)
    chosen = (query.having, query.rankings, query.qualify)
    return (query.emitted, query.emit, query.order, query.limit, outputs, chosen, tuple(query.leading))


def _typed_alike(sql: str) -> str:
    """One expression for all small whole numbers, and one for all short texts.

    >>> _typed_alike("17"), _typed_alike("'1 min'"), _typed_alike("17000000000"), _typed_alike("agg_0 + 17")
    ('0', "''", '17000000000', 'agg_0 + 17')
    """
    return "0" if _NUMBER.fullmatch(sql) else "''" if _TEXT.fullmatch(sql) else sql


def shown_schema(query: QueryPlan | ChangePlan, spark: SparkSession) -> pa.Schema:
    """The columns of a query's rows as their reader sees them."""
    shown = finished_by_spark(spark.createDataFrame([], spark_schema(query.emitted)), query)
    return to_arrow_schema(shown.schema, timezone="UTC")


def session_zone(spark: SparkSession) -> str:
    """The time zone in which expressions are evaluated."""
    return spark.conf.get("spark.sql.session.timeZone") or "UTC"
