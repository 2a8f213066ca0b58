"""Kafka in and out: a broker, a job that reads two topics and writes one, and dead letters, with a restart."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.spark.job.status import status_of

from .broker import Broker

GOOD = [
    {"card": f"c{i % 5}", "amount": float(i), "ts": f"2026-01-01 00:{i // 60:02d}:{i % 60:02d}"} for i in range(600)
]
BAD = b"{no json \xff\x00"

SCRIPT = """
CREATE STREAM tx (card STRING, amount DOUBLE, ts TIMESTAMP, whose STRING METADATA FROM 'key', `offset` BIGINT METADATA,
                  part INT METADATA FROM 'partition', trace STRING METADATA FROM 'headers.trace')
  USING kafka OPTIONS (bootstrap '{address}', topic '{source}', maxOffsetsPerTrigger 400, max.poll.records 50)
  FORMAT json TIMESTAMP BY ts LATENESS 30 SECONDS;
CREATE SINK dead USING kafka OPTIONS (bootstrap '{address}', topic '{dead}') FOR REJECTED;
CREATE SINK sums USING kafka OPTIONS (bootstrap '{address}', topic '{sums}', key 'card', headers 'n', linger.ms 1) FORMAT json;
INSERT INTO sums
SELECT card, SUM(amount) AS total, COUNT(*) AS n, COUNT(DISTINCT whose) AS keys, MAX(trace) AS trace, COUNT(part) AS parts
FROM tx [RANGE 5 MINUTES SLIDE 1 MINUTE] GROUP BY card;
"""


def test_what_goes_in_comes_out_once_and_what_is_bad_is_kept_as_it_came(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    source, sums, dead = (broker.topic() for _ in range(3))
    text = SCRIPT.format(address=broker.address, source=source, sums=sums, dead=dead)

    def send(events: list[dict[str, object]]) -> None:
        headers = {"trace": b"t1"}
        broker.send(source, ({"value": json.dumps(e), "key": e["card"], "headers": headers} for e in events))

    def run(*, flush: bool) -> windrow.Job:
        session = windrow.Session(spark, shards=2)
        application = Application(session, text)
        job = session.start(
            str(tmp_path / "checkpoint"), application.sinks, "available now", rejected=application.rejected
        )
        job.wait()
        if flush:
            job.flush()
            job.wait()
        return job

    send(GOOD[:300])
    broker.send(source, [{"value": BAD, "key": b"\x01k", "headers": {"h": b"\x02"}}, b'{"card": "untimed"}', None])
    first = run(flush=False)
    assert first.progress()["tx"].rejected == {"late": 0, "no time": 2, "unreadable": 1}
    assert set(first.progress()["tx"].lag) == {f"{source}/0", f"{source}/1"}
    first.stop()
    send(GOOD[300:])
    run(flush=True).stop()
    status = status_of(str(tmp_path / "checkpoint"))
    assert status["state"] == "ended" and status["queries"] == ["sums"] and status["batches"]["tx"] >= 2

    sent = broker.committed(sums)
    told = sorted((json.loads(message.value()) for message in sent), key=lambda row: (row["window_end"], row["card"]))
    events = duckdb.from_query(  # noqa: F841
        "SELECT * FROM (VALUES "
        + ", ".join(f"('{e['card']}', {e['amount']}, TIMESTAMP '{e['ts']}')" for e in GOOD)
        + ") AS e(card, amount, ts)"
    )
    expected = duckdb.sql(
        """SELECT strftime(w, '%Y-%m-%dT%H:%M:%S.000Z') AS ends, card, SUM(amount) AS total, COUNT(*) AS n
           FROM events JOIN (SELECT UNNEST(generate_series(TIMESTAMP '2026-01-01 00:01', TIMESTAMP '2026-01-01 00:14',
           INTERVAL 1 MINUTE)) AS w) ON ts < w AND ts >= w - INTERVAL 5 MINUTE GROUP BY ALL ORDER BY ends, card"""
    ).fetchall()
    assert [(row["window_end"], row["card"], row["total"], row["n"]) for row in told] == expected
    assert all(row["keys"] == 1 and row["trace"] == "t1" and row["parts"] == row["n"] for row in told)
    assert all(m.key() == json.loads(m.value())["card"].encode() for m in sent)
    assert all(dict(m.headers()) == {"n": str(json.loads(m.value())["n"]).encode()} for m in sent)

    letters = {message.value(): message for message in broker.committed(dead)}
    assert set(letters) == {BAD, b'{"card": "untimed"}', None}
    headers = dict(letters[BAD].headers())
    assert letters[BAD].key() == b"\x01k" and headers["h"] == b"\x02"
    assert headers["windrow.cause"] == b"unreadable" and headers["windrow.topic"] == source.encode()
    assert int(headers["windrow.partition"]) in (0, 1) and int(headers["windrow.offset"]) >= 0
    assert dict(letters[None].headers())["windrow.cause"] == b"no time"
