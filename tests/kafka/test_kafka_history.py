"""History in files, then a topic of Kafka from where it ends: windows over the seam are those of all events."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application.application import Application

from .broker import Broker

START, UNTIL, LAST = 1_767_225_600, 300, 420
"""Seconds: the first event, and after it the seam and the end; an event each second."""


@pytest.mark.slow
def test_a_topic_is_read_from_where_its_history_ends(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    times = pa.array([(START + i) * 1_000_000 for i in range(UNTIL + 10)], pa.timestamp("us", "UTC"))
    (tmp_path / "lake").mkdir()
    pq.write_table(
        pa.table({"ts": times, "k": [f"k{i % 3}" for i in range(UNTIL + 10)]}), tmp_path / "lake" / "a.parquet"
    )
    topic = broker.topic(1, retention_ms="-1")  # messages that are months old by their own time

    def message(second: int) -> dict[str, object]:
        at = datetime.fromtimestamp(START + second, UTC)
        value = json.dumps({"ts": f"{at:%Y-%m-%dT%H:%M:%S}Z", "k": f"k{second % 3}"})
        return {"value": value, "timestamp": (START + second) * 1000}

    broker.send(topic, map(message, range(200, LAST)))
    session = windrow.Session(spark, shards=2)
    application = Application(
        session,
        f"""CREATE STREAM tx (ts TIMESTAMP, k STRING, `offset` BIGINT METADATA)
              USING kafka OPTIONS (bootstrap '{broker.address}', topic '{topic}', group 'history-of-tests')
              FORMAT json TIMESTAMP BY ts LATENESS 20 SECONDS
              AFTER parquet OPTIONS (path '{tmp_path}/lake') UNTIL '2026-01-01 00:05';
            CREATE SINK out USING parquet OPTIONS (path '{tmp_path}/out');
            INSERT INTO out SELECT k, COUNT(*) AS n, COUNT(`offset`) AS sent
            FROM tx [RANGE 100 SECONDS SLIDE 10 SECONDS] GROUP BY k;""",
    )
    job = session.start(str(tmp_path / "checkpoint"), application.sinks, "available now")
    job.wait()
    job.flush()
    job.wait()
    job.stop()
    figures = job.progress()["tx"]
    # ten of the lake beyond the seam, and of the topic those of the lateness before it: none is read before that
    assert figures.seam == 10 + 20
    assert figures.rejected == {"late": 0, "no time": 0, "unreadable": 0}
    rows = duckdb.sql(f"SELECT epoch(window_end)::BIGINT, k, n, sent FROM read_parquet('{tmp_path}/out/*.parquet')")
    ends = range(START + 10, START + LAST + 100, 10)
    counted: Counter[tuple[int, str]] = Counter()
    live: Counter[tuple[int, str]] = Counter()
    for second in range(LAST):
        for end in ends:
            if end - 100 <= START + second < end:
                counted[end, f"k{second % 3}"] += 1
                live[end, f"k{second % 3}"] += second >= UNTIL
    assert Counter(rows.fetchall()) == Counter((end, k, n, live[end, k]) for (end, k), n in counted.items())
    assert broker.group_offsets("history-of-tests", topic) == {0: LAST - 200}
