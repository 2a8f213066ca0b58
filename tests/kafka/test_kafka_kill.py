"""A job that reads Kafka and writes Kafka, Delta, PostgreSQL and files is killed again and again: every row is there once."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from lab.postgres import Postgres, missing_postgres, running_postgres

from .broker import Broker, needed
from .kill_again import kill_again_and_again

KILLS = int(os.environ.get("KILLS", "2"))
"""`make kills` does 50; each needs batches that are still to come, so that the stream grows with them."""

EVENTS = 60 * max(20, 6 * KILLS)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_repeat_nothing(broker: Broker, tmp_path: Path) -> None:
    pytest.importorskip("deltalake")
    needed("postgresql")
    lacks = missing_postgres()
    if lacks is not None:
        pytest.skip(lacks)
    folder = tmp_path / "database"
    folder.mkdir()
    source, sums, now = broker.topic(1), broker.topic(2), broker.topic(1, cleanup_policy="compact")
    events = _events()
    broker.send(source, ({"value": json.dumps(event)} for event in events))
    with running_postgres(folder) as database:
        given = [broker.address, source, sums, now, str(tmp_path), database.url]
        kill_again_and_again("killed_kafka_job.py", given, tmp_path, KILLS)
        found = _found(broker, sums, database, tmp_path)
    expected = _expected(events)
    for name, rows in found.items():
        lost, twice = (expected - rows).total(), (rows - expected).total()
        print(f"{KILLS} kills, {name}: {rows.total():,} rows, {lost} lost, {twice} twice or wrong")
        assert rows == expected, name
    assert _answer(broker, now) == _last_window(expected)


Rows = Counter[tuple[object, ...]]


def _found(broker: Broker, sums: str, database: Postgres, folder: Path) -> dict[str, Rows]:
    """What each sink holds, read by a client that is not ours."""
    import deltalake

    sent = [json.loads(message.value()) for message in broker.committed(sums)]
    assert len(broker.committed(sums, "read_uncommitted")) >= len(sent)
    shown = "strftime(window_end AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.000Z')"
    files = duckdb.sql(f"SELECT {shown}, card, total, n FROM read_parquet('{folder}/files/*.parquet')").fetchall()
    ends = "to_char(window_end AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.000\"Z\"')"
    rows = database.ask(f"SELECT {ends}, card, total, n FROM sums")
    lake = deltalake.DeltaTable(str(folder / "lake")).to_pyarrow_table().to_pylist()
    return {
        "kafka": Counter((row["window_end"], row["card"], row["total"], row["n"]) for row in sent),
        "files": Counter(files),
        "postgresql": Counter((end, card, int(total), int(n)) for end, card, total, n in rows),
        "delta": Counter((f"{row['window_end']:{_SHOWN}}", row["card"], row["total"], row["n"]) for row in lake),
    }


def _answer(broker: Broker, topic: str) -> dict[bytes, dict[str, object]]:
    """What a topic of upserts and tombstones holds in the end."""
    answer: dict[bytes, dict[str, object]] = {}
    for message in broker.committed(topic):
        if message.value() is None:
            answer.pop(message.key(), None)
        else:
            answer[message.key()] = json.loads(message.value())
    return answer


def _last_window(expected: Rows) -> dict[bytes, dict[str, object]]:
    """The answer of the last window that holds an event: none is answered after it."""
    last = max(str(end) for end, *_ in expected)
    rows = [(str(card), total, n) for end, card, total, n in expected if end == last]
    return {card.encode(): {"card": card, "n": n, "total": total} for card, total, n in rows}


_SHOWN = "%Y-%m-%dT%H:%M:%S.000Z"


def _events() -> list[dict[str, object]]:
    """Two events in a second."""
    times = (FIRST + timedelta(seconds=i // 2) for i in range(EVENTS))
    return [{"card": f"c{(i * 7) % 5}", "amount": i, "ts": f"{time:%Y-%m-%d %H:%M:%S}"} for i, time in enumerate(times)]


def _expected(events: list[dict[str, object]]) -> Rows:
    given = pa.Table.from_pylist(events)
    assert given.num_rows == EVENTS
    return Counter(
        duckdb.sql(
            f"""WITH events AS (SELECT card, amount, ts::TIMESTAMP AS ts FROM given),
                     ends AS (SELECT UNNEST(generate_series(
                         TIMESTAMP '2026-01-01 00:00:02',
                         TIMESTAMP '2026-01-01 00:00:00' + INTERVAL {EVENTS // 2 + 30} SECOND, INTERVAL 2 SECOND)) AS w)
                SELECT strftime(w, '{_SHOWN}'), card, SUM(amount)::BIGINT, COUNT(*)
                FROM events JOIN ends ON ts < w AND ts >= w - INTERVAL 20 SECOND GROUP BY ALL"""
        ).fetchall()
    )
