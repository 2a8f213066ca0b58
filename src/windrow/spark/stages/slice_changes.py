"""The stateless step of queries over changes: row expressions by Spark, rows to the shards of their keys."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.runtime.slice.changes import ChangeSlicer
from windrow.spark.job.measures import METRICS
from windrow.spark.sources.source import Source
from windrow.spark.sources.ways import Asked
from windrow.spark.stages.slice import sliced_source

TASKS = 1 << 16
"""Tasks of the streams of a query are numbered one stream after the other."""


def slice_changes(source: Source, plan: ChangesPlan, name: str, shards: list[int], metrics: str = METRICS) -> DataFrame:
    """The payloads of one of the streams of `plan`."""
    first = TASKS * [own for own, _ in plan.streams].index(name)

    def slicer(task: int) -> ChangeSlicer:
        return ChangeSlicer(plan, name, first + task, shards)

    return sliced_source(source, asked_of_changes(plan, name), slicer, f"slice {first // TASKS}", metrics)


def asked_of_changes(plan: ChangesPlan, name: str) -> Asked:
    """What the slicers of `plan` read of an event of one of its streams."""
    return Asked(plan.expressions_of(name), plan.keeps_rejected, plan.ahead_of(name) is not None)
