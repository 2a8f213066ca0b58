"""Any horizon of nested levels, asked of a running job: what replay answers after the same batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError, StateError

from .streams import assert_same, put, rows_of, stream_of, until
from .test_replay import BATCH_ROWS, SCHEMA, some_events

LEVELS = "[RANGES 40 SECONDS, 10 SECONDS, 4 SECONDS SLIDES 20 SECONDS, 5 SECONDS, 2 SECONDS]"
TEXT = f"""SELECT k, COUNT(*) AS n, SUM(m) / 2 AS half, REGR_SLOPE(i, ts) AS trend FROM ticks {LEVELS}
           GROUP BY k HAVING COUNT(*) > 1"""


ONE = "SELECT COUNT(*) AS n FROM ticks [RANGE 3 SECONDS SLIDE 3 SECONDS]"


class Counted(windrow.Replay):
    """Adds up the windows that it has answered, in one shard."""

    windows = 0

    def _finished(self, outcome):
        self.windows += outcome.windows
        return super()._finished(outcome)


def test_a_running_job_answers_for_any_horizon_and_goes_on(spark: SparkSession, tmp_path: Path):
    events = some_events(seed=7)
    batches = [events.slice(n * BATCH_ROWS, BATCH_ROWS) for n in range(2)]
    session = windrow.Session(spark, shards=2)
    (tmp_path / "in").mkdir()
    session.stream("ticks", stream_of(spark, tmp_path / "in", SCHEMA), time="ts", lateness="2 seconds")
    session.query("levels", TEXT)
    session.query("one", ONE)
    sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in ("levels", "one")}
    job = session.start(str(tmp_path / "checkpoint"), sinks)
    replay, one = (Counted(text, lateness="2 seconds", ticks=events) for text in (TEXT, ONE))
    told = []
    try:
        with pytest.raises(StateError, match="no batch has been finished yet"):
            job.state_at("levels", "7 seconds")
        for number, (batch, horizon) in enumerate(zip(batches, ("7 seconds", "40 seconds")), start=1):
            put(tmp_path / "in", batch)
            told += [row for table in replay.step(batch) for row in rows_of(table)]
            one.step(batch)
            until(lambda wanted=number: job.progress().get("ticks", {}).get("batches", 0) >= wanted)
            assert job.progress()["ticks"]["windows"] == replay.windows + one.windows  # each once, over both shards
            state, expected = job.state_at("levels", horizon), replay.state_at(horizon)
            assert (state.start_us, state.end_us) == (expected.start_us, expected.end_us)
            assert expected.rows.num_rows > 2
            assert_same(rows_of(state.rows), rows_of(expected.rows), ["k", "level"])
        with pytest.raises(SettingsError, match="only a query with levels"):
            job.state_at("one", "1 second")
        with pytest.raises(SettingsError, match="no query 'two'\nhint: running are levels, one"):
            job.state_at("two", "1 second")
        with pytest.raises(SettingsError, match="reaches back 40 SECONDS"):
            job.state_at("levels", "41 seconds")
    finally:
        job.stop()
    assert_same(rows_of(tmp_path / "levels"), told, ["k", "level"])
