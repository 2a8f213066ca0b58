"""ROW_NUMBER, RANK and DENSE_RANK of the rows of each window, where Spark finishes them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from windrow.plan.nodes.ordering import Ordering, Ranking, place_column, whole_row
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.spark.expressions import guarded

_FUNCTIONS = {"row_number": F.row_number, "rank": F.rank, "dense_rank": F.dense_rank}


def ranked_by_spark(rows: DataFrame, query: QueryPlan) -> DataFrame:
    """The rows with the numbers of each ranking, as far as they qualify."""
    for number, ranking in enumerate(query.rankings):
        rows = rows.withColumn(place_column(number), _number(rows, ranking, query))
    return rows if query.qualify is None else rows.where(F.expr(guarded(query.qualify, rows)))


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
