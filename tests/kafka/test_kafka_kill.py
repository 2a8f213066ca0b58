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
from .killed_answers import SHOWN, Rows, last_answer, last_window, windows_of_20_seconds

KILLS = int(os.environ.get("KILLS", "2"))
"""`make kills` does 50; each needs batches that are still to come, so that the stream grows with them."""

EVENTS = 60 * max(20, 6 * KILLS)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.slow
def test_kills_at_any_moment_lose_nothing_and_repeat_nothing(broker: Broker, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
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
    given = pa.Table.from_pylist(events)
    assert given.num_rows == EVENTS
    expected = windows_of_20_seconds(given, FIRST + timedelta(seconds=EVENTS // 2))
    told = {name: ((expected - rows).total(), (rows - expected).total()) for name, rows in found.items()}
    last = last_window(expected)
    merged = deltalake.DeltaTable(str(tmp_path / "merged")).to_pyarrow_table().to_pylist()
    for name, held in {"upserts": last_answer(broker, now), "merged": {r["card"].encode(): r for r in merged}}.items():
        told[name] = (len(last.keys() - held.keys()), sum(last.get(key) != row for key, row in held.items()))
    assert len(merged) == len(last)
    listed = ", ".join(f"{name} {lost} lost {twice} twice or wrong" for name, (lost, twice) in told.items())
    print(f"{KILLS} kills, {expected.total():,} rows in each sink: {listed}")
    assert not any(map(any, told.values()))


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
        "delta": Counter((f"{row['window_end']:{SHOWN}}", row["card"], row["total"], row["n"]) for row in lake),
    }


def _events() -> list[dict[str, object]]:
    """Two events in a second."""
    times = (FIRST + timedelta(seconds=i // 2) for i in range(EVENTS))
    return [{"card": f"c{(i * 7) % 5}", "amount": i, "ts": f"{time:%Y-%m-%d %H:%M:%S}"} for i, time in enumerate(times)]
