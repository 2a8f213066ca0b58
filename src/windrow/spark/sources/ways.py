"""Which way the rows of files come to the slicers: read by their tasks, or by Spark, and why."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from windrow.errors import NotSupportedYet, WindrowError
from windrow.expressions.evaluate import type_of
from windrow.expressions.zone_clocks import is_known
from windrow.language import parse_expression
from windrow.spark.answer_settings import unlike_ours
from windrow.spark.connect import parallelism
from windrow.spark.expressions import guarded
from windrow.spark.plain_types import is_plain
from windrow.spark.sources.asked import Asked, columns_of
from windrow.spark.sources.failures import failing_conditions
from windrow.spark.sources.named_files import NamedFiles
from windrow.spark.sources.reading import Reading, bare_column
from windrow.spark.sources.source import Source


class _NotCovered(Exception):
    """Why something has to be done by Spark."""


def way_of(source: Source, asked: Asked) -> Reading | str:
    """How tasks read the files of a stream, or why its rows have to come through Spark."""
    files = source.files
    if files is None:
        return "it is a DataFrame"
    if isinstance(files, str):
        return files
    if asked.keeps_rejected:
        return "rejected events are kept as Spark writes them"
    try:
        reading = _reading(source, files, asked)
    except _NotCovered as reason:
        return str(reason)
    return files.unlike(reading.columns) or reading


def _reading(source: Source, files: NamedFiles, asked: Asked) -> Reading:
    frame, schema = source.frame, files.schema
    if (unlike := unlike_ours(frame.sparkSession)) is not None:
        raise _NotCovered(unlike)
    time = None if source.time is None else guarded(source.time, frame)
    texts = tuple(guarded(text, frame) for text in asked.texts)
    failing = tuple(failing_conditions(frame, asked.texts))
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone") or ""
    if not is_known(zone):
        raise _NotCovered(f"tasks do not know the time zone {zone}")
    others = [*failing, *([] if time is None else [time])]
    types = [_type(text, frame, schema, zone) for text in (*texts, *others)]
    timing = () if time is None else columns_of([time], schema.names)
    needed = columns_of([*texts, *others], schema.names)
    apart = {name.lower(): name for name in files.partitions}
    for name in needed:
        if not is_plain(schema.field(name).type):
            raise _NotCovered(f"column {name} is of a type that only Spark has")
    fields = {name: schema.field(name).type for name in needed}
    return Reading(
        columns={name: type for name, type in fields.items() if name.lower() not in apart},
        partitions={name: schema.field(name).type for name in files.partitions},
        time=time,
        timing=timing,
        texts=texts,
        types=tuple(types[: len(texts)]),
        failing=failing,
        arrives=asked.arrives,
        wheres=() if failing else asked.wheres,
        tasks=parallelism(frame.sparkSession),
        ignores_missing=files.ignores_missing,
        zone=zone,
        coded=tuple(name for name in _coded(asked, texts, others, schema) if name.lower() not in apart),
    )


def _coded(asked: Asked, texts: tuple[str, ...], others: list[str], schema: pa.Schema) -> tuple[str, ...]:
    """Columns of texts that are only asked for as keys: they are told apart in the files already."""
    names = tuple(schema.names)
    alone = {text for text, whole in zip(texts, asked.texts) if whole in asked.keys and bare_column(text, names)}
    needed = columns_of([*others, *(text for text in texts if text not in alone)], schema.names)
    named = [name for name in columns_of(alone, schema.names) if schema.field(name).type == pa.string()]
    return tuple(name for name in named if name not in needed)


def _type(text: str, frame: DataFrame, schema: pa.Schema, zone: str) -> pa.DataType:
    """The type of an expression, which has to be the one that Spark gives it."""
    theirs = to_arrow_type(frame.select(F.expr(text)).schema[0].dataType, timezone="UTC")
    try:
        own = type_of(parse_expression(text), schema, zone)
    except NotSupportedYet as error:
        raise _NotCovered(error.message.replace("replay does", "tasks do")) from None
    except (WindrowError, pa.ArrowException) as error:
        raise _NotCovered(f"tasks do not evaluate {text}: {str(error).splitlines()[0]}") from None
    if own != theirs:
        raise _NotCovered(f"{text} is {theirs} in Spark, and {own} in tasks")
    return own
