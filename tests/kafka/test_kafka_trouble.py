"""What goes wrong around Kafka, each seen by its door: told by name, or counted; and offsets told to a group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab.broker import PASSWORD, USER
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError, SettingsError

from .broker import Broker

SCHEMA = "k STRING, ts TIMESTAMP"
QUERY = "SELECT k, COUNT(*) AS n FROM tx [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k"


def declare(spark: SparkSession, address: str, topic: str, **options: str | int) -> windrow.Session:
    session = windrow.Session(spark, shards=2)
    session.stream_kafka("tx", address, topic, schema=SCHEMA, time="ts", options=options)
    session.query("n", QUERY)
    return session


def events(first: int, last: int) -> list[bytes]:
    return [
        json.dumps({"k": "a", "ts": f"2026-01-01 00:{i // 60:02d}:{i % 60:02d}"}).encode() for i in range(first, last)
    ]


def work_off(session: windrow.Session, folder: Path) -> windrow.Job:
    sinks = {"n": windrow.sink("parquet", path=folder / "out")}
    job = session.start(str(folder / "checkpoint"), sinks, "available now")
    try:
        job.wait()
    finally:
        job.stop()
    return job


@pytest.mark.slow
def test_what_is_not_there_and_who_is_not_let_in_is_told_by_name(spark: SparkSession, broker: Broker) -> None:
    name = broker.topic()
    with pytest.raises(SettingsError, match=f"has no topic '{name}s'\nhint: did you mean {name}"):
        declare(spark, broker.address, f"{name}s")
    with pytest.raises(SettingsError, match=r"no broker answers at 127\.0\.0\.1:1 "):
        declare(spark, "127.0.0.1:1", name)

    def guarded(password: str) -> dict[str, str]:
        login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{login} username="{USER}" password="{password}";',
        }

    with pytest.raises(SettingsError, match="does not let us in: Authentication failed"):
        declare(spark, broker.guarded, name, **guarded("wrong"))
    declare(spark, broker.guarded, name, **guarded(PASSWORD))


@pytest.mark.slow
def test_a_topic_that_was_cut_stops_a_job_or_is_counted(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(1)
    broker.send(topic, events(0, 40))
    job = work_off(declare(spark, broker.address, topic, group="tests-of-tx"), tmp_path)
    assert broker.group_offsets("tests-of-tx", topic) == {0: 40}
    broker.send(topic, events(40, 100))
    broker.cut(topic, 70)
    with pytest.raises(JobError, match="messages that were not read yet are gone"):
        work_off(declare(spark, broker.address, topic), tmp_path)
    job = work_off(declare(spark, broker.address, topic, failOnDataLoss="false"), tmp_path)
    figures = job.progress()["tx"]
    assert figures.missing_messages == 30
    assert figures.events == 30


@pytest.mark.slow
def test_a_message_of_ten_megabytes_that_is_no_json_is_one_rejected_event(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic = broker.topic(1, max_message_bytes="20000000")
    broker.send(topic, [*events(0, 20), b"{" * 10_000_000, *events(20, 40)])
    job = work_off(declare(spark, broker.address, topic), tmp_path)
    figures = job.progress()["tx"]
    assert (figures.events, figures.rejected["unreadable"], figures.windows) == (41, 1, 3)
