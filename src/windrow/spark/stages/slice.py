"""The stateless step: row expressions by Spark, or by tasks that read files; panes and partials in the map tasks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.language import identifier_sql
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.contracts import AnySlicer
from windrow.runtime.payload import TALLIES, Payload
from windrow.runtime.reject import ARRIVED, RAW, TIME, UNREADABLE, Bounds
from windrow.runtime.slice.events import Slicer
from windrow.runtime.slice.expression_column import expression_column
from windrow.runtime.slice.split_chunks import FAILED, SplitChunks
from windrow.spark.expressions import guarded
from windrow.spark.job.measures import METRICS, SEEN, SLICE_MEASURES, measured, measured_ddl
from windrow.spark.sources.absent import Absent
from windrow.spark.sources.asked import Asked, asked_of
from windrow.spark.sources.failures import failures
from windrow.spark.sources.heartbeat import NOW_SQL
from windrow.spark.sources.reading import Reading
from windrow.spark.sources.source import Source
from windrow.spark.sources.ways import way_of
from windrow.spark.stages.in_utc import in_utc
from windrow.spark.stages.join_first import joined_first
from windrow.spark.stages.loaded import set_loaded_aside
from windrow.spark.stages.once import Once
from windrow.spark.stages.same_version import check_version
from windrow.spark.stages.share_note import ShareNote
from windrow.spark.stages.ship_tables import ShippedTables
from windrow.version import VERSION

NO_PROBE = -(1 << 63)

PAYLOAD = pa.schema(
    [
        ("shard", pa.int32()),
        ("task", pa.int32()),
        ("part", pa.int32()),
        ("probe", pa.int64()),
        ("name", pa.string()),
        ("body", pa.binary()),
        *((name, pa.int64()) for name in TALLIES),
        ("stream", pa.string()),
    ]
)
PAYLOAD_DDL = ", ".join(
    [
        "shard INT, task INT, part INT, probe BIGINT, name STRING, body BINARY",
        *(f"{name} BIGINT" for name in TALLIES),
        "stream STRING",
    ]
)
TASKS = 1 << 16
"""Tasks of the streams of a stage are numbered one stream after the other."""


def slice_stream(
    source: Source,
    plan: StreamPlan,
    shards: list[int],
    metrics: str = METRICS,
    number: int = 0,
    tables: ShippedTables | None = None,
    bounds: Bounds | None = None,
    shares: ShareNote | None = None,
) -> DataFrame:
    """The payloads of a stream: one row for each shard, and one for each space that the shard gets something of.

    It is the stream with this `number` of all that are read together; `tables` are what it is joined with. Events
    outside of `bounds` are left to another source of the stream. Where rows may be left out, `shares` are how many.
    """
    first, kept = tables is not None and plan.joins_first, Once(plan)

    def slicer(task: int) -> Slicer:
        own = kept.value
        joins = SplitChunks(own) if first else None if tables is None else tables.joins()
        return Slicer(own, TASKS * number + task, shards, joins, bounds, 0 if shares is None else shares.of_task())

    asked, stage = asked_of(plan), f"slice {number}"
    if tables is None or not first:
        return sliced_source(source, asked, slicer, stage, metrics)
    columns = event_columns(source, (), plan.keeps_rejected, asked.arrives)
    return sliced(joined_first(source.frame, plan, columns, tables), slicer, stage, metrics)


def sliced_source(
    source: Source, asked: Asked, slicer_of: Callable[[int], AnySlicer], stage: str, metrics: str
) -> DataFrame:
    """The payloads of a stream: its files are read by the tasks where they can, else its rows come through Spark."""
    reading = way_of(source, asked)
    if isinstance(reading, Reading):
        assert source.files is not None and not isinstance(source.files, str)
        return sliced(source.files.told(reading.tasks), slicer_of, stage, metrics, reading)
    columns = event_columns(source, asked.texts, asked.keeps_rejected, asked.arrives)
    return sliced(source.frame.select(*columns), slicer_of, stage, metrics)


def event_columns(source: Source, texts: Sequence[str], keeps_rejected: bool, arrives: bool) -> list[Column]:
    """What slicers read of the events of a stream: their times, row expressions, and why some cannot be used.

    Where it matters when they `arrive`, that is the instant at which their batch began.
    """
    stream = source.frame
    columns = [F.expr(source.time_sql).alias(TIME)]
    columns += [F.expr(guarded(text, stream)).alias(expression_column(i)) for i, text in enumerate(texts)]
    failing = failures(stream, texts)
    if failing is not None:
        columns.append(failing.alias(FAILED))
    if source.corrupt is not None:
        columns.append(F.col(identifier_sql(source.corrupt)).isNotNull().alias(UNREADABLE))
    if arrives:
        columns.append(F.expr(NOW_SQL).alias(ARRIVED))
    if keeps_rejected:
        whole = F.to_json(F.struct("*"), {"ignoreNullFields": "false"}) if source.raw is None else F.expr(source.raw)
        columns.append(whole.alias(RAW))
    return columns


def sliced(
    events: DataFrame,
    slicer_of: Callable[[int], AnySlicer],
    stage: str,
    metrics: str,
    reading: Reading | None = None,
) -> DataFrame:
    """The payloads of `events`: each map task has a slicer of its own, by the number of the task.

    Where they are names of files, `reading` says what is made of them. How long the tasks took, and how many events
    they had, is observed as that of `stage`.
    """

    version, kept = VERSION, None if reading is None else Once(reading)

    def slice_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        check_version(version)
        context = TaskContext.get()
        slicer = slicer_of(context.partitionId() if context else 0)
        scan = cut = events = 0
        absent: Absent | None = None if kept is None else {}
        mark = time.perf_counter_ns()
        for batch in batches if kept is None else kept.value.rows(batches, absent):
            now = time.perf_counter_ns()
            events += batch.num_rows
            slicer.add(in_utc(batch))
            scan, mark, cut = scan + now - mark, time.perf_counter_ns(), cut + time.perf_counter_ns() - now
        scan, mark = scan + time.perf_counter_ns() - mark, time.perf_counter_ns()
        payloads = slicer.payloads()
        cut += time.perf_counter_ns() - mark
        if payloads:
            measures = {"scan_us": scan // 1000, "slice_us": cut // 1000, "events": events}
            yield packed(payloads, measures | {SEEN: json.dumps(slicer.sample.told() | {"absent": absent})})
        set_loaded_aside()

    payloads = events.mapInArrow(slice_task, measured_ddl(PAYLOAD_DDL, SLICE_MEASURES))
    return measured(payloads, stage, SLICE_MEASURES, metrics)


def packed(payloads: list[Payload], measures: Mapping[str, int | str] | None = None) -> pa.RecordBatch:
    """Payloads as rows, the first of which carries what the task has measured."""
    values = [
        [payload.shard for payload in payloads],
        [payload.task for payload in payloads],
        [payload.part for payload in payloads],
        [NO_PROBE if payload.probe is None else payload.probe for payload in payloads],
        [payload.name for payload in payloads],
        [payload.body for payload in payloads],
        *([getattr(payload, name) for payload in payloads] for name in TALLIES),
        [payload.stream for payload in payloads],
    ]
    rows = pa.record_batch([pa.array(column, field.type) for column, field in zip(values, PAYLOAD)], schema=PAYLOAD)
    for name, value in (measures or {}).items():
        kind = pa.string() if isinstance(value, str) else pa.int64()
        rows = rows.append_column(name, pa.array([value] + [type(value)()] * (len(payloads) - 1), kind))
    return rows
