"""What can be said of a stream from Kafka, and what is refused: without a broker."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from windrow.errors import SettingsError
from windrow.plan.kafka_options import source_options
from windrow.plan.topic_options import topic_of
from windrow.spark.sinks.topic_messages import answer_messages, check_messages, messages_of, rejected_messages
from windrow.spark.sources.messages import Decoding, metadata_columns
from windrow.spark.sources.registry import schemas_of

HERE = {"bootstrap": "h:9092", "topic": "tx"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"topic": "tx"}, "needs a broker"),
        ({"bootstrap": "h:9092"}, "needs a topic"),
        ({**HERE, "pattern": "t.*"}, "not by two of them"),
        ({**HERE, "botstrap": "x"}, "did you mean bootstrap"),
        ({**HERE, "maxOffsetPerTrigger": "1"}, "did you mean maxOffsetsPerTrigger"),
        ({**HERE, "auto.offset.reset": "latest"}, "starting 'earliest'"),
        ({**HERE, "starting": "tomorrow"}, "is no place in a topic"),
    ],
)
def test_what_is_said_of_a_topic_and_cannot_be_right_is_refused(options: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        source_options(options)


def test_options_are_those_of_spark_and_of_the_consumer_by_their_own_names() -> None:
    given = source_options({**HERE, "security.protocol": "SSL", "kafka.client.id": "me", "MAXOFFSETSPERTRIGGER": "5"})
    assert given["kafka.security.protocol"] == "SSL" and given["kafka.client.id"] == "me"
    assert given["maxOffsetsPerTrigger"] == "5" and given["startingOffsets"] == "earliest"
    assert source_options({**HERE, "starting": "2026-11-16T00:00+01:00"})["startingTimestamp"] == "1794783600000"


@pytest.mark.parametrize(
    ("format", "options", "columns", "told"),
    [
        (None, {}, [("a", "INT")], "says what its messages are"),
        ("jsn", {}, [("a", "INT")], "did you mean json"),
        ("json", {}, [], "need columns"),
        ("json", {"timestampFormt": "y"}, [("a", "INT")], "did you mean timestampFormat"),
        ("text", {}, [("a", "INT")], "one column of type STRING"),
        ("raw", {"sep": ";"}, [], "has no options"),
        ("avro", {}, [], "need a schema"),
        ("avro", {"schema": "{"}, [], "is no JSON"),
        ("avro", {"schema": '"string"'}, [], "not one of a record"),
        ("avro", {"registry": "http://127.0.0.1:9", "subject": "s"}, [], "cannot be asked"),
        ("avro", {"schemaFile": "/nowhere/x.avsc"}, [], "cannot be read"),
    ],
)
def test_messages_that_cannot_be_decoded_are_refused(format, options, columns, told) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SettingsError, match=told):
        Decoding.of(format, options, columns)


def test_metadata_is_of_a_known_kind_and_type() -> None:
    with pytest.raises(SettingsError, match="did you mean offset"):
        metadata_columns({"o": ("ofset", "BIGINT")})
    with pytest.raises(SettingsError, match=r"partition of a message is not STRING\nhint: p INT or BIGINT METADATA"):
        metadata_columns({"p": ("partition", "STRING")})
    assert "h.key = 'a\\'b'" in metadata_columns({"x": ("headers.a'b", "STRING")})["x"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"topic": "t"}, "needs a broker"),
        ({**HERE, "message": "protobuf"}, "cannot be written as 'protobuf'"),
        ({**HERE, "message": "text"}, "sends one column"),
        ({**HERE, "holds": "answer"}, "needs the columns that tell its rows apart"),
        ({**HERE, "transactional.id": "x"}, "does not take"),
        ({**HERE, "kye": "card"}, "did you mean key"),
    ],
)
def test_what_is_said_of_a_sink_and_cannot_be_right_is_refused(options: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        topic_of(options)


ROWS = pa.table(
    {"op": ["-", "+", "+", "-"], "card": ["a", "a", "b", "c"], "n": [1, 2, 1, 5], "raw": [b"\xff", None, b"", b"x"]}
)


def test_rows_are_messages_with_keys_and_headers() -> None:
    topic = topic_of({**HERE, "key": "card, n", "headers": "n"})
    messages = list(messages_of(ROWS.drop_columns(["raw"]), topic))
    assert json.loads(messages[0].key or b"") == {"card": "a", "n": 1}
    assert json.loads(messages[0].value or b"") == {"op": "-", "card": "a", "n": 1}
    assert messages[3].headers == [("n", b"5")]
    raw = [m.value for m in messages_of(ROWS, topic_of({**HERE, "message": "raw", "value": "raw"}))]
    assert raw == [b"\xff", None, b"", b"x"]
    csv = [m.value for m in messages_of(ROWS.drop_columns(["raw"]), topic_of({**HERE, "message": "csv", "sep": ";"}))]
    assert csv[0] == b"-;a;1"
    with pytest.raises(SettingsError, match="key 'cart' is no column"):
        check_messages(topic_of({**HERE, "key": "cart"}), ROWS.schema)
    with pytest.raises(SettingsError, match="which is of type int64"):
        check_messages(topic_of({**HERE, "message": "text", "value": "n"}), ROWS.schema)


def test_an_answer_is_the_row_that_each_key_has_now_or_a_tombstone() -> None:
    topic = topic_of({**HERE, "key": "card", "holds": "answer"})
    found = {m.key: m.value for m in answer_messages(ROWS.drop_columns(["raw"]), topic, leading=1)}
    assert found == {b"a": b'{"card":"a","n":2}', b"b": b'{"card":"b","n":1}', b"c": None}
    both = pa.table({"op": ["+", "-"], "card": ["d", "d"], "n": [1, 1]})
    assert list(answer_messages(both, topic, leading=1)) == []


def test_rejected_events_that_are_no_messages_go_as_json() -> None:
    rows = pa.table({"stream": ["s"], "cause": ["late"], "time": [None], "row": ['{"k":1}']})
    (message,) = rejected_messages(rows, of_kafka=False)
    assert message.value == b'{"k":1}' and dict(message.headers)["windrow.cause"] == b"late"


def test_a_schema_of_a_file_is_taken(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.avsc").write_text('{"type": "record", "name": "r", "fields": []}')
    assert list(schemas_of({"schemaFile": str(tmp_path / "a.avsc")})) == [None]
