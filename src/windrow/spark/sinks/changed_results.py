"""Changes as their reader sees them: `-` what was, `+` what is, where the two differ."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.plan.nodes.emission import HAD, HAS, OPERATIONS, WHEN, as_was
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.spark.expressions import guarded


def changed_results(rows: DataFrame, query: QueryPlan) -> DataFrame:
    """The changes of one query, from the rows that slide emits: each has both what a group had and what it has."""
    had, has = F.col(HAD), F.col(HAS)
    if query.having is not None:
        had = had & F.coalesce(F.expr(guarded(as_was(query.having), rows)), F.lit(False))
        has = has & F.coalesce(F.expr(guarded(query.having, rows)), F.lit(False))
    was = [F.expr(guarded(as_was(output.sql), rows)) for output in query.outputs]
    now = [F.expr(guarded(output.sql, rows)) for output in query.outputs]
    equal = [old.eqNullSafe(new) for old, new in zip(was, now)] if query.emit != WHEN else []
    same = reduce(Column.__and__, equal, had & has)
    sides = {"-": (had & ~same, was), "+": (has & ~same, now)}
    changes = [_change(operation, *sides[operation], query) for operation in OPERATIONS[query.emit]]
    told = rows.select("*", F.explode(F.array(*changes)).alias("changed")).where("changed.sent")
    shown = [F.col("changed.op").alias("op"), *(F.col(name) for name in query.leading if name != "op")]
    return told.select(*shown, *(F.col(f"changed.c{i}").alias(output.name) for i, output in enumerate(query.outputs)))


def _change(operation: str, sent: Column, values: list[Column], query: QueryPlan) -> Column:
    columns = [value.alias(f"c{i}") for i, value in enumerate(values)]
    return F.struct(F.lit(operation).alias("op"), sent.alias("sent"), *columns)
