"""Messages of every format, also of a registry, and what a broker, a topic or a message can have wrong."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.errors import JobError, QueryError, SettingsError

from .broker import Broker, needed
from .registry import registry_of

OLD = {"type": "record", "name": "tx", "fields": [{"name": "card", "type": "string"}, {"name": "s", "type": "long"}]}
NEW = OLD | {"fields": [*OLD["fields"], {"name": "amount", "type": ["null", "double"], "default": None}]}  # type: ignore[misc]

SCRIPT = """
CREATE STREAM a (card STRING, s BIGINT) USING kafka OPTIONS (bootstrap '{at}', topic '{a}')
  FORMAT csv OPTIONS (sep ';') TIMESTAMP BY timestamp_seconds(s);
CREATE STREAM b (card STRING, s BIGINT) USING kafka OPTIONS (bootstrap '{at}', topic '{b}')
  FORMAT avro OPTIONS (schema '{old}') TIMESTAMP BY timestamp_seconds(s);
CREATE STREAM c USING kafka OPTIONS (bootstrap '{at}', topic '{c}')
  FORMAT avro OPTIONS (registry '{registry}', subject 'tx-value') TIMESTAMP BY timestamp_seconds(s);
CREATE STREAM d (line STRING, sent TIMESTAMP METADATA FROM 'timestamp') USING kafka OPTIONS (bootstrap '{at}', topic '{d}')
  FORMAT text TIMESTAMP BY sent;
CREATE STREAM e (bytes BINARY, sent TIMESTAMP METADATA FROM 'timestamp', k BINARY METADATA FROM 'key')
  USING kafka OPTIONS (bootstrap '{at}', pattern '{e}.*', starting '1970-01-02') FORMAT raw TIMESTAMP BY sent;
CREATE SINK bad USING json OPTIONS (path '{out}') FOR REJECTED;
CREATE SINK a1 USING memory; INSERT INTO a1 SELECT card, COUNT(*) AS n FROM a [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY card;
CREATE SINK b1 USING memory; INSERT INTO b1 SELECT card, COUNT(*) AS n FROM b [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY card;
CREATE SINK c1 USING memory;
INSERT INTO c1 SELECT card, COUNT(*) AS n, SUM(amount) AS total FROM c [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY card;
CREATE SINK d1 USING memory; INSERT INTO d1 SELECT line, COUNT(*) AS n FROM d [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY line;
CREATE SINK e1 USING memory; INSERT INTO e1 SELECT hex(bytes) AS x, hex(k) AS k, COUNT(*) AS n
FROM e [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY hex(bytes), hex(k);
"""


def record(schema: object, **values: object) -> bytes:
    import fastavro

    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), values)
    return out.getvalue()


@pytest.mark.slow
def test_every_format_is_read_and_what_cannot_be_is_rejected(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    needed("avro")
    pytest.importorskip("fastavro")
    a, b, c, d, e = (broker.topic(max_message_bytes="15000000") for _ in range(5))
    poison = b"{" * 10_000_000
    broker.send(a, [b"x;1", b"y;2", b"x;3", b"x;no number", poison])
    broker.send(b, [record(OLD, card="x", s=1), record(OLD, card="y", s=2), b"\xff\xff", poison])

    def wire(id: int, body: bytes) -> bytes:
        return b"\0" + id.to_bytes(4, "big") + body

    broker.send(
        c,
        [
            wire(300, record(OLD, card="x", s=1)),
            wire(301, record(NEW, card="x", s=2, amount=2.5)),
            wire(302, record(NEW, card="x", s=2, amount=9.5)),
            b"",
        ],
    )
    broker.send(d, ["käse".encode(), "käse".encode(), b"\xff\xfe"])
    broker.send(e, [{"value": b"\x00\xff", "key": b"\x01"}, {"value": b"\x00\xff", "key": b"\x01"}])
    with registry_of("tx-value", {300: OLD, 301: NEW}) as registry:
        out = tmp_path / "bad"
        names = {"at": broker.address, "a": a, "b": b, "c": c, "d": d, "e": e, "registry": registry, "out": out}
        session = windrow.Session(spark, shards=2)
        application = Application(session, SCRIPT.format(old=json.dumps(OLD), **names))
    job = session.start(str(tmp_path / "checkpoint"), application.sinks, "available now", rejected=application.rejected)
    job.wait()
    job.flush()
    job.wait()
    job.stop()

    def rows(view: str, *columns: str) -> set[tuple[object, ...]]:
        return {tuple(row) for row in spark.table(view).select(*columns).collect()}

    assert rows("a1", "card", "n") == {("x", 2), ("y", 1)}
    assert rows("b1", "card", "n") == {("x", 1), ("y", 1)}
    assert rows("c1", "card", "n", "total") == {("x", 2, 2.5)}
    assert rows("d1", "line", "n") == {("käse", 2)}
    assert rows("e1", "x", "k", "n") == {("00FF", "01", 2)}
    bad = [json.loads(line) for file in out.glob("*.json") for line in file.read_text().splitlines()]
    causes = sorted((row["stream"], row["cause"], json.loads(row["row"])["offset"] >= 0) for row in bad)
    unreadable = [("a", 2), ("b", 2), ("c", 2), ("d", 1)]
    assert causes == [(stream, "unreadable", True) for stream, count in unreadable for _ in range(count)]


@pytest.mark.slow
def test_a_broker_or_a_topic_that_is_not_there_is_named_before_anything_starts(
    spark: SparkSession, broker: Broker
) -> None:
    topic = broker.topic()
    session = windrow.Session(spark)

    def declare(at: str, name: str, **options: str) -> None:
        session.stream_kafka("tx", at, name, schema="k STRING, ts TIMESTAMP", time="ts", options=options)

    began = time.monotonic()
    with pytest.raises(SettingsError, match=r"no broker answers at 127\.0\.0\.1:1 "):
        declare("127.0.0.1:1", topic)
    with pytest.raises(
        SettingsError, match=r"no broker answers at no-such-host.invalid:9092 since no host has that name"
    ):
        declare("no-such-host.invalid:9092", topic)
    assert time.monotonic() - began < 20
    with pytest.raises(SettingsError, match=f"has no topic '{topic}x'\nhint: did you mean {topic}"):
        declare(broker.address, f"{topic}x")
    with pytest.raises(SettingsError, match="does not let us in"):
        jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required username='a' password='b';"
        options = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}
        declare(broker.address, topic, **options)
    with pytest.raises(QueryError, match=r"has no topic 'nothing' \(line 1, column \d+\)[^^]*\^{9}\n"):
        text = "CREATE SINK s USING kafka OPTIONS (bootstrap '{}', topic 'nothing') FORMAT json; SELECT 1"
        Application(session, text.format(broker.address))


@pytest.mark.slow
def test_a_topic_that_was_cut_stops_the_job_unless_it_may_lose(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    topic = broker.topic(1)
    send = [{"value": json.dumps({"k": "a", "s": number})} for number in range(10)]

    def run(**options: str) -> windrow.Job:
        session = windrow.Session(spark, shards=2)
        schema = "k STRING, s BIGINT"
        time = "timestamp_seconds(s)"
        session.stream_kafka("tx", broker.address, topic, schema=schema, time=time, options=options)
        session.query("q", "SELECT COUNT(*) AS n FROM tx [RANGE 1 SECOND SLIDE 1 SECOND]")
        job = session.start(str(tmp_path / "checkpoint"), {"q": windrow.sink("memory")}, "available now", restarts=0)
        try:
            job.wait()
            return job
        finally:
            job.stop()

    broker.send(topic, send)
    run()
    broker.send(topic, send)
    admin = AdminClient({"bootstrap.servers": broker.address})
    for cut in admin.delete_records([TopicPartition(topic, 0, 15)]).values():
        cut.result(20)
    with pytest.raises(JobError, match=r"messages .*are gone.*failOnDataLoss"):
        run()
    assert run(failOnDataLoss="false").progress()["tx"].events == 5
