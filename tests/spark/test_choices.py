"""A wish reaches a running job: its shards maintain, schedule and look up as they were asked to."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import windrow
from windrow.errors import SettingsError
from windrow.session import Session

from .streams import SECOND, START, finish, instants, put, stream_of, table_of

EVENTS = pa.table(
    {
        "ts": instants(START + second * SECOND for second in range(60) for _ in range(3)),
        "second": [second for second in range(60) for _ in range(3)],
        "k": [number % 4 for number in range(180)],
        "v": [number * 37 % 101 for number in range(180)],
    }
)
TEXT = "SELECT k, MAX(v) AS most FROM events [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY k"


class Nearest:
    """An index of a user's own, which travels to the workers."""

    def __init__(self) -> None:
        self._centers: list = []

    def insert(self, row, center) -> None:
        self._centers.insert(row, center)

    def move(self, row, center) -> None:
        self._centers[row] = center.copy()

    def nearest(self, point) -> int:
        return min(range(len(self._centers)), key=lambda row: ((self._centers[row] - point) ** 2).sum())


def test_a_job_runs_as_it_was_asked_to(spark, tmp_path):
    put(tmp_path / "in", EVENTS)
    wanted = {"schedule": "graph", "eviction": "LRU", "index": Nearest}
    session = Session(spark, shards=2, choose=wanted)
    session.stream("events", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, second BIGINT, k BIGINT, v BIGINT"), "ts")
    session.query("most", TEXT, choose={"maintenance": "DABA"})
    clusters = (
        "SELECT COUNT(cid) AS n FROM events [RANGE 20 SECONDS SLIDE 10 SECONDS] CLUSTER BY v AS cid USING C_BIRCH(5)"
    )
    session.query("near", clusters)
    with pytest.raises(SettingsError, match="query 'wrong' cannot have maintenance 'subtract'"):
        session.query("wrong", TEXT, choose={"maintenance": "subtract"})
    told = session.explain()
    assert "asked for: eviction LRU, index own, schedule graph, maintenance DABA for most" in told.splitlines()[2]
    assert "DABA, as asked for" in told
    sinks = {name: windrow.sink("parquet", path=str(tmp_path / name)) for name in ("most", "near")}
    job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
    finish(job, flush=False)
    found = table_of(tmp_path / "most")
    ends = [int(end.timestamp()) - START // SECOND for end in found["window_end"].to_pylist()]
    wanted_rows = duckdb.sql(
        """SELECT e, k, MAX(v) FROM EVENTS JOIN (SELECT unnest(range(2, 60, 2)) AS e) ON second >= e - 20 AND second < e
           GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    assert sorted(zip(ends, found["k"].to_pylist(), found["most"].to_pylist())) == wanted_rows
    near = table_of(tmp_path / "near").group_by("window_end").aggregate([("n", "sum")]).sort_by("window_end")
    assert near["n_sum"].to_pylist() == [30, 60, 60, 60, 60]
