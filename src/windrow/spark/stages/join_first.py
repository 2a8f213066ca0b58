"""One more crossing: rows are joined with tables before Spark evaluates expressions over both, where it must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from windrow.language import identifier_sql
from windrow.plan.nodes.joined_rows import JoinedRows, columns_in
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.reject import ARRIVED, RAW, TIME, UNREADABLE
from windrow.runtime.slice.expression_column import expression_column
from windrow.runtime.slice.split_chunks import EVENT, FAILED, SOURCE
from windrow.runtime.slice.table_rows import TableRows
from windrow.spark.expressions import guarded
from windrow.spark.sources.failures import failures
from windrow.spark.stages.in_utc import in_utc
from windrow.spark.stages.ship_tables import ShippedTables

Texts = Mapping[JoinedRows | None, tuple[str, ...]]
"""The row expressions over the events, and over the rows of each join."""

_KNOWN = (TIME, UNREADABLE, ARRIVED, RAW)
_OF_EVENTS, _COLUMN = "x", "column "
"""How the columns of what is needed for the join, and the stream's own, are called on the way."""


def joined_first(stream: DataFrame, plan: StreamPlan, about: list[Column], tables: ShippedTables) -> DataFrame:
    """What slicers read of the events of `stream`, and of the rows that these are joined to.

    `about` are the columns that say of an event when it happened, and the like.
    """
    needed = dict.fromkeys(text for rows in plan.joined for text in rows.read_of_events(()))
    names = {text: f"{_OF_EVENTS}{number}" for number, text in enumerate(needed)}
    texts = {rows: plan.texts_of(rows) for rows in (None, *plan.joined)}
    own = _columns_of_events(plan, texts)
    read = [F.expr(guarded(text, stream)).alias(name) for text, name in names.items()]
    read += [F.col(identifier_sql(column)).alias(_COLUMN + column) for column in own]
    events = stream.select(*about, *read)
    held = _columns_of_tables(plan, texts)
    schema = _joined_schema(events, held, list(names.values()), tables)

    def join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        hashed = tables.hashed()
        first = 0
        for batch in batches:
            if batch.num_rows:
                yield from _joined(in_utc(batch), first, plan.joined, hashed, names, held)
                first += batch.num_rows

    joined = events.mapInArrow(join, schema)
    return _evaluated(joined, plan, texts, own)


def _joined(
    batch: pa.RecordBatch,
    first: int,
    joins: tuple[JoinedRows, ...],
    hashed: dict[JoinedRows, TableRows],
    names: dict[str, str],
    held: list[str],
) -> Iterator[pa.RecordBatch]:
    """The rows of the events of a batch, and behind them the events, which have NULL for what tables have."""
    kept = [name for name in batch.schema.names if name not in names.values()]
    every = pa.array(range(batch.num_rows), pa.int64())
    read = {text: batch.column(name) for text, name in names.items()}
    types = {name: column.type for rows in hashed.values() for name, column in rows.columns.items()}
    for number, rows in enumerate(joins, start=1):
        asked = [name for name in held if name in hashed[rows].columns]
        for found in hashed[rows].joined_columns(read, every.to_numpy(), asked):
            events = _without_raw(batch.select(kept)).take(pa.array(found.events))
            yield _row_batch(events, number, first, pa.array(found.events), found.columns, held, types)
    yield _row_batch(batch.select(kept), 0, first, every, {}, held, types)


def _without_raw(events: pa.RecordBatch) -> pa.RecordBatch:
    """The event as it came goes with the event alone."""
    if RAW not in events.schema.names:
        return events
    place = events.schema.names.index(RAW)
    return events.set_column(
        place, events.schema.field(place), pa.nulls(events.num_rows, events.schema.field(place).type)
    )


def _row_batch(
    events: pa.RecordBatch,
    number: int,
    first: int,
    places: pa.Array,
    found: Mapping[str, pa.Array],
    held: Iterable[str],
    types: Mapping[str, pa.DataType],
) -> pa.RecordBatch:
    columns = {name: events.column(name) for name in events.schema.names}
    columns |= {name: found.get(name, pa.nulls(events.num_rows, types[name])) for name in held}
    columns[SOURCE] = pa.array([number] * events.num_rows, pa.int32())
    columns[EVENT] = pc.add(places, first)
    return pa.record_batch(columns)


def _evaluated(joined: DataFrame, plan: StreamPlan, texts: Texts, own: list[str]) -> DataFrame:
    """The joined rows with all expressions as columns, each where it is asked for."""
    frame = joined.select("*", *(F.col(f"`{_COLUMN}{column}`").alias(column) for column in own))
    known = [F.col(name) for name in (*_KNOWN, SOURCE, EVENT) if name in joined.columns]
    numbers = {rows: number for number, rows in enumerate((None, *plan.joined))}
    columns, failing = [], None
    for number, text in enumerate(plan.expressions):
        asking = [numbers[rows] for rows, asked in texts.items() if text in asked]
        value = F.when(F.col(SOURCE).isin(asking), F.expr(guarded(text, frame)))
        columns.append(value.alias(expression_column(number)))
    for rows, asked in texts.items():
        own_failures = failures(frame, asked)
        if own_failures is not None:
            counted = F.when(F.col(SOURCE) == numbers[rows], own_failures).otherwise(F.lit(0).cast("bigint"))
            failing = counted if failing is None else failing + counted
    if failing is not None:
        columns.append(failing.alias(FAILED))
    return frame.select(*known, *columns)


def _columns_of_events(plan: StreamPlan, texts: Texts) -> list[str]:
    found: dict[str, None] = {}
    for rows, asked in texts.items():
        names = (name for text in asked for name in columns_in(text))
        found.update((name, None) for name in names if rows is None or not rows.is_of_table(name))
    return list(found)


def _columns_of_tables(plan: StreamPlan, texts: Texts) -> list[str]:
    found: dict[str, None] = {}
    for rows in plan.joined:
        names = (name for text in texts[rows] for name in columns_in(text))
        found.update((name, None) for name in names if rows.is_of_table(name))
    return list(found)


def _joined_schema(events: DataFrame, held: list[str], needed: list[str], tables: ShippedTables) -> StructType:
    known = [field for field in events.schema.fields if field.name not in needed]
    of_tables = from_arrow_schema(pa.schema([(name, tables.type_of(name)) for name in held]))
    own = [StructField(SOURCE, IntegerType()), StructField(EVENT, LongType())]
    return StructType([*known, *of_tables.fields, *own])
