"""The stateless step of queries over changes: row expressions by Spark, rows to the shards of their keys."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from windrow.plan.change_plan import ChangesPlan
from windrow.runtime.reject import UNREADABLE
from windrow.runtime.slice import FAILED, TIME, expression_column
from windrow.runtime.slice_changes import ChangeSlicer
from windrow.spark.expressions import guarded
from windrow.spark.failures import failures
from windrow.spark.slice import PAYLOAD_DDL, in_utc, packed, raw_column

TASKS = 1 << 16
"""Tasks of the streams of a query are numbered one stream after the other."""


def slice_changes(
    stream: DataFrame, plan: ChangesPlan, name: str, time_sql: str, shards: list[int], corrupt: str | None
) -> DataFrame:
    """The payloads of one of the streams of `plan`."""
    texts = plan.expressions_of(name)
    columns = [F.expr(time_sql).alias(TIME)]
    columns += [F.expr(guarded(text, stream)).alias(expression_column(i)) for i, text in enumerate(texts)]
    failing = failures(stream, texts)
    if failing is not None:
        columns.append(failing.alias(FAILED))
    if corrupt is not None:
        columns.append(F.col(corrupt).isNotNull().alias(UNREADABLE))
    if plan.keeps_rejected:
        columns.append(raw_column())
    first = TASKS * [own for own, _ in plan.streams].index(name)

    def slice_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        slicer = ChangeSlicer(plan, name, first + (context.partitionId() if context else 0), shards)
        scan = cut = 0
        mark = time.perf_counter_ns()
        for batch in batches:
            now = time.perf_counter_ns()
            slicer.add(in_utc(batch))
            scan, mark, cut = scan + now - mark, time.perf_counter_ns(), cut + time.perf_counter_ns() - now
        payloads = slicer.payloads()
        if payloads:
            yield packed(payloads, scan // 1000, cut // 1000)

    return stream.select(*columns).mapInArrow(slice_task, PAYLOAD_DDL)
