"""Rows as messages of a topic: a key, bytes and headers each; an answer as upserts and tombstones."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import SettingsError
from windrow.plan.sink import Sink
from windrow.plan.topic_options import Topic, check_columns
from windrow.spark.sinks.avro_messages import avro_values, check_avro
from windrow.spark.sinks.file_format import FileFormat, file_format

Headers = list[tuple[str, str | bytes | None]]


class Message(NamedTuple):
    """What is sent: no `value` is a tombstone, which takes away what the key had."""

    key: bytes | None
    value: bytes | None
    headers: Headers


def messages_of(rows: pa.Table, topic: Topic) -> Iterator[Message]:
    """The rows of a query, a message each."""
    check_columns(topic, tuple(rows.column_names))
    keys, headers = _keys(rows, topic), [_texts(rows.column(name)) for name in topic.headers]
    for number, (key, value) in enumerate(zip(keys, _values(rows, topic))):
        yield Message(key, value, [(name, _bytes(each[number])) for name, each in zip(topic.headers, headers)])


def answer_messages(rows: pa.Table, topic: Topic, leading: int) -> Iterator[Message]:
    """What a batch of changes does to an answer that is told apart by its key: the row that a key has now, or none.

    The first `leading` columns say how and when a change came; the first of them is `op`.
    """
    answer = rows.select(rows.column_names[leading:])
    check_columns(topic, tuple(answer.column_names))
    net: Counter[int] = Counter()
    first: dict[bytes, int] = {}
    keys = list(_keys(answer, topic))
    for number, (op, value) in enumerate(zip(rows.column(0).to_pylist(), _values(answer, topic))):
        same = first.setdefault(repr((keys[number], value)).encode(), number)
        net[same] += 1 if op == "+" else -1
    values = list(_values(answer, topic))
    came = {keys[number]: number for number, copies in net.items() if copies > 0}
    gone = {keys[number] for number, copies in net.items() if copies < 0}
    for key, number in came.items():
        yield Message(key, values[number], [])
    for key in sorted(gone - came.keys(), key=lambda each: each or b""):
        yield Message(key, None, [])


def rejected_messages(rows: pa.Table, of_kafka: bool) -> Iterator[Message]:
    """Rejected events: those of Kafka with their own key and bytes, others as JSON; headers say what became of them."""
    for row in rows.to_pylist():
        time = row["time"]
        headers: Headers = [("windrow.stream", _bytes(row["stream"])), ("windrow.cause", _bytes(row["cause"]))]
        if time is not None:
            headers.append(("windrow.time", time.isoformat().encode()))
        if not of_kafka:
            yield Message(None, _bytes(row["row"]), headers)
            continue
        came = json.loads(row["row"])
        places = ("topic", "partition", "offset", "timestamp")
        headers += [(f"windrow.{name}", str(came[name]).encode()) for name in places]
        theirs = [(each["key"], _decoded(each["value"])) for each in came["headers"] or ()]
        yield Message(_decoded(came["key"]), _decoded(came["value"]), theirs + headers)


def check_messages(topic: Topic, schema: pa.Schema) -> None:
    """Refuse rows that cannot be messages of this kind."""
    check_columns(topic, tuple(schema.names))
    if topic.message in ("text", "raw"):
        kind = schema.field(topic.value).type
        wanted = pa.types.is_string if topic.message == "text" else pa.types.is_binary
        if not wanted(kind) and not (topic.message == "raw" and pa.types.is_string(kind)):
            raise SettingsError(f"FORMAT {topic.message} sends {topic.value!r}, which is of type {kind}")
    elif topic.message == "avro":
        check_avro(schema, topic.texts)
    else:
        _written(topic, schema)


def _values(rows: pa.Table, topic: Topic) -> Iterator[bytes | None]:
    if topic.value is not None and topic.message in ("text", "raw"):
        for value in rows.column(topic.value).to_pylist():
            yield _bytes(value)
        return
    if topic.message == "avro":
        yield from avro_values(rows, topic.texts)
        return
    form = _written(topic, rows.schema)
    lines = form.csv or form.json
    assert lines is not None
    for line in lines.lines(rows.combine_chunks()).to_pylist():
        yield line.removesuffix("\n").encode()


def _written(topic: Topic, schema: pa.Schema) -> FileFormat:
    sink = Sink(topic.message, topic.texts)
    form = file_format(sink, schema, {"utc": "true", "spark.sql.jsonGenerator.ignoreNullFields": "false"})
    if isinstance(form, str):
        raise SettingsError(f"rows cannot be messages of FORMAT {topic.message}: {form}")
    return form


def _keys(rows: pa.Table, topic: Topic) -> Iterator[bytes | None]:
    """The text of one column, or several as JSON."""
    if not topic.key:
        return iter([None] * rows.num_rows)
    if len(topic.key) == 1:
        return map(_bytes, _texts(rows.column(topic.key[0])))
    keyed = rows.select(list(topic.key))
    form = _written(Topic(topic.bootstrap, topic.topic, "json", (), (), None, topic.markers, (), ()), keyed.schema)
    assert form.json is not None
    return (line.removesuffix("\n").encode() for line in form.json.lines(keyed.combine_chunks()).to_pylist())


def _texts(column: pa.ChunkedArray) -> list[str | bytes | None]:
    if pa.types.is_binary(column.type):
        return list(column.to_pylist())
    return list(pc.cast(column, pa.string()).to_pylist())


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
