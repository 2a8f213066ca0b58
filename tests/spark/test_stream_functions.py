"""Functions that remember on Spark: the rows of replay, in the same batch, also where a job goes on from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import FunctionError, SettingsError

from .streams import SECOND, START, Rows, finish, instants, put, rows_of, stream_of

FILES, ROWS = 3, 60
QUERIES = {
    "rows": "SELECT * FROM runs(TABLE s PARTITION BY k)",
    "without_key": "SELECT n, x FROM runs(TABLE s PARTITION BY k) WHERE n > 1",
    "windows": "SELECT n, COUNT(*) AS c, SUM(x) AS x FROM named [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY n",
    "many": "SELECT * FROM sums(TABLE named PARTITION BY n)",
}


def classes() -> dict[str, type]:
    """Classes that are not of a module, as those of a notebook are: they travel to the workers."""

    class Runs:
        """How long x goes up, told when it goes down, or when nothing has come for ten seconds."""

        returns = "n BIGINT, x BIGINT, run ARRAY<BIGINT>, ends STRUCT<least: INT, most: INT>"

        def init(self) -> dict[str, Any]:
            return {"run": [], "time": 0}

        def step(self, state: dict[str, Any], event: Any) -> Iterator[tuple[Any, ...]]:
            if state["run"] and event.x < state["run"][-1]:
                run = state["run"]
                yield (len(run), sum(run), run, {"least": run[0], "most": run[-1]})
                state["run"] = []
            state["run"].append(event.x)
            state["time"] = event.time_us

        def wake(self, state: dict[str, Any]) -> int:
            return int(state["time"]) + 10_000_000

        def on_clock(self, state: dict[str, Any], time_us: int) -> dict[str, Any]:
            row = {"x": sum(state["run"]), "n": len(state["run"]), "run": state["run"]}
            state["run"], state["time"] = [], time_us
            return row

        def done(self, state: dict[str, Any]) -> bool:
            return not state["run"]

    class Sums:
        returns = "so_far BIGINT"

        def init(self) -> dict[str, int]:
            return {"sum": 0}

        def step_many(self, states: Any, keys: np.ndarray, events: pa.RecordBatch) -> Any:
            told = []
            for key, x in zip(keys.tolist(), events["x"].to_pylist()):
                states["sum"][key] += x
                told.append(int(states["sum"][key]))
            return np.arange(len(told)), [told]

    return {"runs": Runs, "sums": Sums}


def some_events() -> pa.Table:
    random, rows = np.random.default_rng(3), FILES * ROWS
    times = START + np.sort(random.integers(0, 90 * SECOND, rows)) + random.integers(0, 2 * SECOND, rows)
    keys = random.choice(["a", "b", "c", "d", "e", None], rows).tolist()
    return pa.table({"ts": instants(times.tolist()), "k": keys, "x": random.integers(0, 100, rows)})


def told(rows: Rows) -> list[str]:
    return sorted(repr({name: value for name, value in row.items() if name != "window_start"}) for row in rows)


def test_spark_gives_the_rows_of_replay(spark: SparkSession, tmp_path: Path) -> None:
    files = [some_events().slice(start, ROWS) for start in range(0, FILES * ROWS, ROWS)]
    for half in (slice(0, 2), slice(2, FILES)):
        put(tmp_path / "s", *files[half])
        session = windrow.Session(spark, shards=2)
        stream = stream_of(spark, tmp_path / "s", "ts TIMESTAMP, k STRING, x BIGINT")
        session.stream("s", stream, time="ts", lateness="4 seconds")
        for name, code in classes().items():
            session.stream_function(name, code)
        session.derive("named", "SELECT * FROM runs(TABLE s PARTITION BY k)")
        for name, text in QUERIES.items():
            session.query(name, text)
        assert "function runs: told the events of each" in session.explain()
        sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in QUERIES}
        finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"), flush=half.stop == FILES)
    named = {"named": "SELECT * FROM runs(TABLE s PARTITION BY k)"}
    settings = {"lateness": "4 seconds", "functions": classes(), "derived": named, "flush": True, "batch_rows": ROWS}
    expected = windrow.replay(QUERIES, s=some_events(), **settings)
    for name in QUERIES:
        found = rows_of(tmp_path / name)
        assert len(found) > 10
        if name == "many":  # of several rows at one instant, in any order, the sums so far differ
            found, answer = ([row["n"] for row in rows] for rows in (found, expected[name].to_pylist()))
            assert sorted(found) == sorted(answer)
            continue
        assert told(found) == told(rows_of(expected[name])), name


def test_names_and_states_are_checked_where_a_function_is_registered(spark: SparkSession) -> None:
    session, (runs, sums) = windrow.Session(spark, shards=2), classes().values()
    session.stream_function("sums", sums)
    with pytest.raises(SettingsError, match="there is a stream function 'sums' already"):
        session.aggregate("sums", type("Sum", (runs,), {"add": print, "finish": print}))
    odd = type("Odd", (runs,), {"init": lambda self: object()})
    with pytest.raises(FunctionError, match=r"holds a builtins\.object, which cannot be stored"):
        session.stream_function("odd", odd)
    session.stream_function("odd", odd, state="pickle")
