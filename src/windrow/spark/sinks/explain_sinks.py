"""How the rows of each sink get there, in a line: with the batch's own Spark job, or by one more, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.sink import FORMATS, HOLDS_ANSWER, JDBC, Sink
from windrow.spark.sinks.answer_files import AnswerSink
from windrow.spark.sinks.answer_table import AnswerTable
from windrow.spark.sinks.covered import covered_schema
from windrow.spark.sinks.files import format_in
from windrow.spark.sinks.writers import MEMORY, NOOP, ConsoleSink, FormatSink

MOST_NAMES = 4
"""So many queries of a sink are named."""


def explain_sinks(queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], spark: SparkSession) -> str:
    """A line for each sink, and for each way that rows of its queries take."""
    told: dict[tuple[str, str], list[str]] = {}
    for query in queries:
        if query.name in sinks:
            sink = sinks[query.name]
            told.setdefault((_place(sink), _way(query, sink, spark)), []).append(query.name)
    return "\n".join(f"sink of {_named(names)}: {place}, {way}" for (place, way), names in told.items())


def _way(query: AnyQuery, sink: Sink, spark: SparkSession) -> str:
    why = why_by_spark(query, sink, spark)
    if why is not None:
        return f"through Spark, a job of its own in each batch: {why}"
    if sink.format == MEMORY:
        return "sent to the driver with the batch"
    ranked = query.order and sink.format in FORMATS
    return "written by the driver, which ranks the rows of all shards" if ranked else "written by the tasks that slide"


def why_by_spark(query: AnyQuery, sink: Sink, spark: SparkSession) -> str | None:
    """Why the rows of a query go to their sink through Spark; None where tasks finish them."""
    if sink.holds == HOLDS_ANSWER:
        return AnswerTable.why if sink.format == JDBC else AnswerSink.why
    if sink.format == "console":
        return ConsoleSink.why
    if sink.format not in (*FORMATS, MEMORY, NOOP):
        return FormatSink.why
    schema = covered_schema(query, spark)
    if isinstance(schema, str):
        return schema
    form = format_in(sink, schema, spark) if sink.format in FORMATS else None
    return form if isinstance(form, str) else None


def _place(sink: Sink) -> str:
    if sink.format in FORMATS:
        return f"{sink.format} files in {sink.path}"
    return f"{sink.format} {sink.place}" if sink.place else sink.format


def _named(names: Sequence[str]) -> str:
    """
    >>> _named(["a", "b"]), _named(list("abcdef"))
    ('a, b', 'a, b, c, d and 2 more')
    """
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMES])} and {more} more"
