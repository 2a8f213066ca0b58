"""The stateless step of queries over changes: row expressions by Spark, rows to the shards of their keys."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.runtime.slice.changes import ChangeSlicer
from windrow.spark.job.measures import METRICS
from windrow.spark.stages.slice import event_columns, sliced

TASKS = 1 << 16
"""Tasks of the streams of a query are numbered one stream after the other."""


def slice_changes(
    stream: DataFrame,
    plan: ChangesPlan,
    name: str,
    time_sql: str,
    shards: list[int],
    corrupt: str | None,
    metrics: str = METRICS,
) -> DataFrame:
    """The payloads of one of the streams of `plan`."""
    arrives = plan.ahead_of(name) is not None
    columns = event_columns(stream, plan.expressions_of(name), time_sql, corrupt, plan.keeps_rejected, arrives)
    first = TASKS * [own for own, _ in plan.streams].index(name)

    def slicer(task: int) -> ChangeSlicer:
        return ChangeSlicer(plan, name, first + task, shards)

    return sliced(stream.select(*columns), slicer, f"slice {first // TASKS}", metrics)
