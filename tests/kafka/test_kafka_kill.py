"""A job that reads Kafka and writes Kafka, Delta, PostgreSQL and files is killed again and again: every row is there once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from lab.postgres import Postgres, missing_postgres, running_postgres

from .broker import Broker, needed

HERE = Path(__file__).parent
EVENTS = [
    {"card": f"c{(i * 7) % 5}", "amount": i, "ts": f"2026-01-01 00:{i // 120:02d}:{i // 2 % 60:02d}"}
    for i in range(1200)
]
KILLS = int(os.environ.get("KILLS", "8"))


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_repeat_nothing(broker: Broker, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    needed("postgresql")
    lacks = missing_postgres()
    if lacks is not None:
        pytest.skip(lacks)
    folder = tmp_path / "database"
    folder.mkdir()
    with running_postgres(folder) as database:
        _kill_and_compare(broker, database, deltalake, tmp_path)


def _kill_and_compare(broker: Broker, database: Postgres, deltalake: Any, tmp_path: Path) -> None:
    source, sums, now = broker.topic(1), broker.topic(2), broker.topic(1, cleanup_policy="compact")
    broker.send(source, ({"value": json.dumps(event)} for event in EVENTS))
    draw, kills = random.Random(7), 0
    arguments = [broker.address, source, sums, now, str(tmp_path), database.url]
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}
    for _ in range(KILLS * 3):
        with open(tmp_path / "job.log", "ab") as log:
            job = subprocess.Popen(
                [sys.executable, str(HERE / "killed_kafka_job.py"), *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        commits, asked = tmp_path / "checkpoint" / "tx" / "spark" / "commits", time.monotonic() + 240
        before = len(list(commits.glob("[0-9]*")))
        last = kills >= KILLS
        while job.poll() is None and time.monotonic() < asked:
            if not last and len(list(commits.glob("[0-9]*"))) > before:
                time.sleep(draw.random() * 1.5)  # in the middle of some batch
                break
            time.sleep(0.05)
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            kills += 1
        job.wait()
        if (tmp_path / "done").exists():
            break
    assert (tmp_path / "done").exists(), (tmp_path / "job.log").read_text()[-3000:]
    assert kills >= min(KILLS, 3)

    expected = _expected()
    sent = [json.loads(message.value()) for message in broker.committed(sums)]
    told = Counter((row["window_end"], row["card"], row["total"], row["n"]) for row in sent)
    assert told == expected
    assert len(broker.committed(sums, "read_uncommitted")) >= len(sent)
    files = duckdb.sql(
        f"""SELECT strftime(window_end AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'), card, total, n
            FROM read_parquet('{tmp_path}/files/*.parquet')"""
    ).fetchall()
    assert Counter(files) == expected
    ends = "to_char(window_end AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.000\"Z\"')"
    found = database.ask(f"SELECT {ends}, card, total, n FROM sums")
    assert Counter((end, card, int(total), int(n)) for end, card, total, n in found) == expected
    rows = deltalake.DeltaTable(str(tmp_path / "lake")).to_pyarrow_table().to_pylist()
    lake = ((row["window_end"].strftime("%Y-%m-%dT%H:%M:%S.000Z"), row["card"], row["total"], row["n"]) for row in rows)
    assert Counter(lake) == expected
    answer: dict[bytes, bytes] = {}
    for message in broker.committed(now):
        if message.value() is None:
            answer.pop(message.key(), None)
        else:
            answer[message.key()] = message.value()
    assert answer == {}  # all windows have passed: every row went by a tombstone


def _expected() -> Counter[tuple[object, ...]]:
    values = ", ".join(f"('{e['card']}', {e['amount']}, TIMESTAMP '{e['ts']}')" for e in EVENTS)
    rows = duckdb.sql(
        f"""WITH events AS (SELECT * FROM (VALUES {values}) AS e(card, amount, ts)),
                 ends AS (SELECT UNNEST(generate_series(TIMESTAMP '2026-01-01 00:00:02', TIMESTAMP '2026-01-01 00:10:30',
                                                        INTERVAL 2 SECOND)) AS w)
            SELECT strftime(w, '%Y-%m-%dT%H:%M:%S.000Z'), card, SUM(amount)::BIGINT, COUNT(*)
            FROM events JOIN ends ON ts < w AND ts >= w - INTERVAL 20 SECOND GROUP BY ALL"""
    ).fetchall()
    return Counter(rows)
