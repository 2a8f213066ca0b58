"""Rows as Avro messages, read back by another library than the one that reads them for us; no broker is needed."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from windrow.errors import SettingsError
from windrow.plan.topic_options import topic_of
from windrow.spark.sinks.topic_messages import check_messages, messages_of

from .registry import registry_of

fastavro = pytest.importorskip("fastavro")

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "alert",
    "fields": [
        {"name": "card", "type": "string"},
        {"name": "total", "type": ["null", "double"]},
        {"name": "window_end", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "note", "type": "string", "default": "none"},
    ],
}
ROWS = pa.table(
    {
        "window_end": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        "card": ["a", "b"],
        "total": pa.array([1.5, None], pa.float64()),
        "n": [1, 2],
    }
)


def topic(**options: str) -> Any:
    return topic_of({"bootstrap": "h:9092", "topic": "alerts", "key": "card", "message": "avro", **options})


def read(message: bytes | None) -> Any:
    assert message is not None
    return fastavro.schemaless_reader(io.BytesIO(message), SCHEMA)


def test_a_row_is_a_record_of_the_columns_that_the_schema_has() -> None:
    own = topic(schema=json.dumps(SCHEMA))
    check_messages(own, ROWS.schema)
    first, second = messages_of(ROWS, own)
    assert first.key == b"a" and read(first.value) == {
        "card": "a",
        "total": 1.5,
        "window_end": datetime(2026, 1, 1, tzinfo=UTC),
        "note": "none",
    }
    assert read(second.value)["total"] is None


def test_messages_of_a_registry_begin_with_the_number_of_its_newest_schema() -> None:
    old = SCHEMA | {"fields": SCHEMA["fields"][:1]}
    with registry_of("alerts-value", {3: old, 70_000: SCHEMA}) as address:
        own = topic(registry=address, subject="alerts-value")
        check_messages(own, ROWS.schema)
        (first, _) = messages_of(ROWS, own)
    assert first.value is not None and first.value[:5] == b"\x00" + (70_000).to_bytes(4, "big")
    assert read(first.value[5:])["card"] == "a"


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"name": "cart", "type": "string"}, "has a field 'cart', and the query has no such column"),
        ({"name": "n", "type": "int"}, "has 'n' as int, and the query gives int64"),
        ({"name": "card", "type": ["null", "long"]}, "has 'card' as long, and the query gives string"),
        ({"name": "card", "type": "strin"}, "none of Avro's"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused_before_anything_starts(field: dict[str, Any], message: str) -> None:
    schema = {"type": "record", "name": "alert", "fields": [field]}
    with pytest.raises(SettingsError, match=message):
        check_messages(topic(schema=json.dumps(schema)), ROWS.schema)


def test_what_is_said_of_the_messages_is_checked() -> None:
    with pytest.raises(SettingsError, match="need a schema"):
        check_messages(topic(), ROWS.schema)
    with pytest.raises(SettingsError, match="no option 'sep'"):
        topic(sep=";")
    with pytest.raises(SettingsError, match="no option 'schema'"):
        topic_of({"bootstrap": "h", "topic": "t", "schema": "{}"})
