"""An index over what windows and functions that remember have answered: on Spark as in replay, and in replay by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.errors import NotSupportedYet

from .streams import SECOND, START, finish, instants, put

COUNTED = "SELECT * FROM counted(TABLE s PARTITION BY k)"
WINDOWS = "SELECT k, COUNT(*) AS n FROM s [RANGE 5 SECONDS SLIDE 1 SECOND] GROUP BY k"
INDEXES = {
    "told": "CREATE INDEX told ON f [RANGE 20 SECONDS SLIDE 5 SECONDS] (k, n) INCLUDE (x)",
    "counts": "CREATE INDEX counts ON w [RANGE 20 SECONDS SLIDE 5 SECONDS] (k) INCLUDE (n, window_end)",
}
REQUESTS = "SELECT r.x, COUNT(p.n) AS n FROM s AS r JOIN told AS p ON p.k = r.k GROUP BY r.x"


def counting() -> type:
    class Counted:
        returns = "n BIGINT, x BIGINT"

        def init(self) -> dict[str, int]:
            return {"n": 0}

        def step(self, state: dict[str, int], event: Any) -> tuple[int, int]:
            state["n"] += 1
            return (state["n"], event.x)

    return Counted


def some_events() -> pa.Table:
    draw, rows = random.Random(4), 70
    times = [START + (second + draw.choice([0, 0, -2])) * SECOND for second in range(rows)]
    keys = pa.array([draw.randint(0, 4) for _ in range(rows)], pa.int32())
    return pa.table({"ts": instants(times), "k": keys, "x": list(range(rows))})


def replayed(events: pa.Table) -> dict[str, windrow.Replay]:
    derived, functions = {"f": COUNTED, "w": WINDOWS}, {"counted": counting()}
    settings: dict[str, Any] = {"derived": derived, "functions": functions, "lateness": "3 seconds"}
    return {name: windrow.Replay(text, s=events, **settings) for name, text in INDEXES.items()}


def test_what_is_found_of_a_function_is_what_it_said_in_the_window() -> None:
    events = some_events()
    replay = replayed(events)["told"]
    said = windrow.replay(
        COUNTED, s=events, functions={"counted": counting()}, lateness="3 seconds", flush=True
    ).to_pylist()
    for begin in range(0, 70, 7):
        replay.step(events.slice(begin, 7))
        clock = max(events["ts"].slice(0, begin + 7).cast(pa.int64()).to_pylist()) - 3 * SECOND
        held = [row for row in said if clock - 20 * SECOND <= round(row["time"].timestamp() * SECOND) < clock]
        found = replay.scan("told").to_pylist()
        assert sorted((row["k"], row["n"], row["x"]) for row in found) == sorted(
            (row["k"], row["n"], row["x"]) for row in held
        )


def test_a_job_finds_of_answers_what_replay_finds(spark: SparkSession, tmp_path: Path) -> None:
    events = some_events()
    script = f"""CREATE STREAM s (ts TIMESTAMP, k INT, x BIGINT) USING parquet OPTIONS (path '{tmp_path}/s', maxFilesPerTrigger '1')
        TIMESTAMP BY ts LATENESS 3 SECONDS; CREATE STREAM f AS {COUNTED}; CREATE STREAM w AS {WINDOWS}; {"; ".join(INDEXES.values())}"""
    replays = replayed(events)
    for begin, rows in ((0, 40), (40, 30)):
        put(tmp_path / "s", events.slice(begin, rows))
        session = windrow.Session(spark, shards=3)
        session.stream_function("counted", counting())
        job = session.start(str(tmp_path / "kept"), Application(session, script).sinks, trigger="available now")
        finish(job, flush=False)
        for name, replay in replays.items():
            replay.step(events.slice(begin, rows))
            assert job.scan(name).num_rows > 5
            assert job.scan(name).to_pylist() == replay.scan(name).to_pylist()
    finish(job)
    for name, replay in replays.items():
        replay.end()
        assert job.scan(name).to_pylist() == replay.scan(name).to_pylist()


def test_requests_inside_of_the_job_are_not_joined_with_it() -> None:
    events = some_events()
    settings: dict[str, Any] = {"derived": {"f": COUNTED}, "functions": {"counted": counting()}}
    with pytest.raises(NotSupportedYet, match=r"where 'f' is made of the answers of a query(.|\n)*job\.ask"):
        windrow.replay(REQUESTS, s=events, indexes=[INDEXES["told"]], **settings)
