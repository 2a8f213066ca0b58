"""Clusters of windows of rows, density clusters that are kept, and shared summaries, in one job on Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import windrow
from windrow.session import Session

from .streams import SECOND, START, finish, instants, put, stream_of, table_of

RANDOM = np.random.default_rng(3)
EVENTS = pa.table(
    {
        "ts": instants(START + number * SECOND // 4 for number in range(240)),
        "road": [("a", "b", None)[number % 3] for number in range(240)],
        "x": RANDOM.normal(0, 2, 240) + 40.0 * RANDOM.integers(0, 3, 240),
        "y": RANDOM.normal(0, 2, 240),
    }
)
TEXT = "SELECT {}cid, COUNT(cid) AS n, CENTER(cid)[0] AS cx FROM events {} {} CLUSTER BY x, y USING {}"
TEXTS = {
    "rows": TEXT.format("", "[ROWS 60 SLIDE 20]", "", "C_BIRCH(6)"),
    "keyed": TEXT.format("road, ", "[PARTITION BY road ROWS 20 SLIDE 10]", "GROUP BY road", "C_BIRCH(6)"),
    "dense": TEXT.format("", "[RANGE 20 SECONDS SLIDE 5 SECONDS]", "", "EXTRA_N(4, 3)"),
    "fine": TEXT.format("", "[RANGE 20 SECONDS SLIDE 5 SECONDS]", "", "C_BIRCH(5)"),
    "no slide": TEXT.format("road, ", "[RANGE 20 SECONDS]", "GROUP BY road", "EXTRA_N(4, 3)"),
    "wide": TEXT.format("", "[RANGE 20 SECONDS SLIDE 5 SECONDS]", "", "C_BIRCH(9)"),
}


def test_a_job_tells_what_replay_tells(spark, tmp_path):
    put(tmp_path / "in", EVENTS)
    session = Session(spark, shards=2)
    session.stream("events", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, road STRING, x DOUBLE, y DOUBLE"), "ts")
    for name, text in TEXTS.items():
        session.query(name, text)
    assert "clusters = C_BIRCH(9), from the summary of C_BIRCH(5)" in session.explain()
    sinks = {name: windrow.sink("parquet", path=str(tmp_path / name)) for name in TEXTS}
    finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"), flush=False)
    replayed = windrow.replay(TEXTS, events=EVENTS)
    for name in TEXTS:
        rows = [table_of(tmp_path / name).to_pylist(), replayed[name].to_pylist()]
        told, expected = (
            sorted((_when(row), str(row.get("road")), row["n"], round(row["cx"], 6)) for row in found) for found in rows
        )
        assert told == expected and len(told) > 10, name


def _when(row: dict) -> tuple[float, str]:
    """When a window ended, or what changed when."""
    return (row["window_end"].timestamp(), "") if "window_end" in row else (row["time"].timestamp(), row["op"])
