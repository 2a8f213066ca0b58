"""OVER the rows of each window, where Spark finishes them: numbers by its own functions, what else is drawn as ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from pyspark.sql.utils import is_timestamp_ntz_preferred

from windrow.expressions.session_zones import UTC
from windrow.plan.nodes.ordering import Ordering, Ranking, place_column, whole_row
from windrow.plan.nodes.over_calls import OverCall
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.over_calls import drawn
from windrow.spark.expressions import guarded

_FUNCTIONS = {"row_number": F.row_number, "rank": F.rank, "dense_rank": F.dense_rank}


def ranked_by_spark(rows: DataFrame, query: QueryPlan) -> DataFrame:
    """The rows with the numbers of each ranking and what else OVER draws for them, as far as they qualify."""
    calls = {place_column(i): call for i, call in enumerate(query.rankings) if isinstance(call, OverCall)}
    if calls:
        rows = _drawn(rows, query, calls)
    for number, ranking in enumerate(query.rankings):
        if isinstance(ranking, Ranking):
            rows = rows.withColumn(place_column(number), _number(rows, ranking, query))
    return rows if query.qualify is None else rows.where(F.expr(guarded(query.qualify, rows)))


def _drawn(rows: DataFrame, query: QueryPlan, calls: Mapping[str, OverCall]) -> DataFrame:
    """The rows with what is drawn from others: Spark evaluates what it is of, and one task has all of a window."""
    texts = dict.fromkeys(text for call in calls.values() for text in call.texts)
    names = {text: f"__part_{i}" for i, text in enumerate(texts)}
    named = {place: _over_columns(call, names) for place, call in calls.items()}
    wide = rows.select("*", *(F.expr(guarded(text, rows)).alias(name) for text, name in names.items()))
    added = pa.schema([pa.field(place, call.type) for place, call in calls.items()])
    found = from_arrow_schema(added, prefer_timestamp_ntz=is_timestamp_ntz_preferred())

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            whole = pa.Table.from_batches(held)
            for place, call in named.items():
                whole = whole.append_column(place, drawn(whole, call, query, UTC))
            yield from whole.to_batches()

    schema = StructType([*wide.schema.fields, *found.fields])
    return wide.repartition(1).mapInArrow(draw, schema).drop(*names.values())


def _over_columns(call: OverCall, names: Mapping[str, str]) -> OverCall:
    """The call over columns that hold what its expressions are."""
    order = tuple(replace(term, sql=names[term.sql]) for term in call.order)
    partition = tuple(names[text] for text in call.partition)
    return replace(call, arguments=tuple(names[text] for text in call.arguments), partition=partition, order=order)


def _number(rows: DataFrame, ranking: Ranking, query: QueryPlan) -> Column:
    apart = [F.col(name) for name in query.told_apart_by]
    apart += [F.expr(guarded(text, rows)) for text in ranking.partition]
    order = [_term(F.expr(guarded(term.sql, rows)), term) for term in ranking.order]
    if ranking.function == "row_number":
        order += [F.col(name).asc_nulls_last() for name in whole_row(query.emitted)]
    return _FUNCTIONS[ranking.function]().over(Window.partitionBy(*apart).orderBy(*order))


def _term(column: Column, term: Ordering) -> Column:
    if term.descending:
        return column.desc_nulls_first() if term.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if term.nulls_first else column.asc_nulls_last()
