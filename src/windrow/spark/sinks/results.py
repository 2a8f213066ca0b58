"""Packed results into typed rows, and what is left to do with them.

That is HAVING, rankings, the select list, ORDER BY and LIMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType
from pyspark.sql.utils import is_timestamp_ntz_preferred

from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.top import Term, first_of_each_window
from windrow.spark.expressions import guarded
from windrow.spark.sinks.changed_results import changed_results
from windrow.spark.sinks.packed import unpacked
from windrow.spark.sinks.ranked_results import ranked_by_spark
from windrow.spark.stages.loaded import set_loaded_aside

Batches = Iterator[pa.RecordBatch]


def spark_schema(schema: pa.Schema) -> StructType:
    """The Spark types of Arrow columns, as `createDataFrame` has them; asking it would cost each batch a while."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=is_timestamp_ntz_preferred())


def typed_results(packed: DataFrame, query: QueryPlan | ChangePlan) -> DataFrame:
    """The rows of one query, as its author sees them."""
    schema = query.emitted
    rows = packed.select("query", "rows").mapInArrow(_unpacking(query.name, schema), spark_schema(schema))
    return finished_by_spark(rows, query)


def finished_by_spark(rows: DataFrame, query: QueryPlan | ChangePlan) -> DataFrame:
    """The rows of one query as its author sees them, from those that slide emits."""
    if isinstance(query, ChangePlan):
        return rows
    if query.emit != SNAPSHOT:
        return changed_results(rows, query)
    if query.having is not None:
        rows = rows.where(F.expr(guarded(query.having, rows)))
    if query.rankings:
        rows = ranked_by_spark(rows, query)
    shown = [F.col(name) for name in query.leading]
    shown += [F.expr(guarded(output.sql, rows)).alias(output.name) for output in query.outputs]
    if not query.order:
        return rows.select(*shown)
    return _ordered(rows, shown, query)


def _ordered(rows: DataFrame, shown: list[Column], query: QueryPlan) -> DataFrame:
    """Rank each window's rows: within each shard first, then the few that are left, together."""
    terms = [F.expr(guarded(term.sql, rows)).alias(_order_column(i)) for i, term in enumerate(query.order)]
    windows = [F.col(name).alias(_window_column(i)) for i, name in enumerate(query.told_apart_by)]
    wide = rows.select(*shown, *terms, *windows)
    rank = _ranking(query)
    if query.limit is not None:
        wide = wide.mapInArrow(rank, wide.schema)
    whole = wide.repartition(1).mapInArrow(rank, wide.schema)
    return whole.drop(*(_order_column(i) for i in range(len(terms))), *(_window_column(i) for i in range(len(windows))))


def _ranking(query: QueryPlan) -> Callable[[Batches], Batches]:
    terms = [Term(_order_column(i), term.descending, term.nulls_first) for i, term in enumerate(query.order)]
    limit, windows = query.limit, [_window_column(i) for i in range(len(query.told_apart_by))]

    def rank(batches: Batches) -> Batches:
        held = [batch for batch in batches if batch.num_rows]
        if held:
            yield from first_of_each_window(pa.Table.from_batches(held), terms, limit, windows).to_batches()

    return rank


def _order_column(number: int) -> str:
    return f"__order_{number}"


def _window_column(number: int) -> str:
    return f"__window_{number}"


def _unpacking(name: str, schema: pa.Schema) -> Callable[[Batches], Batches]:
    def unpack(batches: Batches) -> Batches:
        for query, rows in unpacked(batches):
            if query == name:
                yield rows.cast(schema)
        set_loaded_aside()

    return unpack
