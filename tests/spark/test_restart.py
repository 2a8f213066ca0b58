"""A checkpoint: what a job started again goes on with, and what it refuses."""

from __future__ import annotations

import json
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow
from windrow.errors import JobError, SettingsError
from windrow.runtime.shard import FORMAT
from windrow.session import Session
from windrow.spark.job.file_names import file_name
from windrow.spark.job.job_requests import JobRequests
from windrow.spark.stages import slide
from windrow.spark.stages.slide import SlideProcessor

from .streams import PATIENCE, SECOND, START, assert_same, finish, instants, put, rows_of, stream_of, until

TEXT = """SELECT k, COUNT(*) AS n, SUM(x) AS total, MAX(x) AS most, STDDEV(x) AS spread
          FROM ticks [RANGE 1 MINUTE SLIDE 5 SECONDS] GROUP BY k"""
BATCH_ROWS = 30


def some_events(batches: int) -> pa.Table:
    random = np.random.default_rng(6)
    rows = batches * BATCH_ROWS
    return pa.table(
        {
            "ts": instants((START + np.arange(rows) * SECOND // 2 + random.integers(0, 3 * SECOND, rows)).tolist()),
            "k": pa.array(random.choice(["a", "b", "c", "d", "e"], rows)),
            "x": pa.array(random.normal(size=rows)),
        }
    )


def batches_of(events: pa.Table) -> list[pa.Table]:
    return [events.slice(start, BATCH_ROWS) for start in range(0, events.num_rows, BATCH_ROWS)]


def session_over(spark: SparkSession, folder: Path, shards: int = 2, files_a_batch: int = 1) -> Session:
    session = windrow.Session(spark, shards=shards)
    stream = stream_of(spark, folder / "in", "ts TIMESTAMP, k STRING, x DOUBLE", files_a_batch)
    session.stream("ticks", stream, time="ts", lateness="3 seconds")
    return session


def test_a_job_that_was_stopped_goes_on_where_it_was(spark: SparkSession, tmp_path: Path):
    """Also in a session that would cut state into another number of shards, and under another query name."""
    events = some_events(batches=6)
    batches = batches_of(events)
    sink = windrow.sink("parquet", path=tmp_path / "out")
    for shards, some in ((2, batches[:2]), (3, batches[2:4])):
        put(tmp_path / "in", *some)
        session = session_over(spark, tmp_path, shards)
        session.query("before", TEXT)
        job = session.start(str(tmp_path / "checkpoint"), {"before": sink})
        deadline = time.monotonic() + PATIENCE
        while job.progress()["ticks"]["events"] < 2 * BATCH_ROWS:
            assert not job.wait(0.1) and time.monotonic() < deadline
        shards_seen = job.progress()["ticks"].shards
        assert list(shards_seen) == [0, 1] and all(shard.received_bytes > 0 for shard in shards_seen.values())
        assert all(shard.seconds > 0 for shard in shards_seen.values())
        job.stop()
        assert not job.is_active
    put(tmp_path / "in", *batches[4:])
    session = session_over(spark, tmp_path)
    session.query("after", TEXT)
    finish(session.start(str(tmp_path / "checkpoint"), {"after": sink}, trigger="available now"))
    expected = windrow.replay(TEXT, lateness="3 seconds", batch_rows=BATCH_ROWS, flush=True, ticks=events)
    assert_same(rows_of(tmp_path / "out"), rows_of(expected), ["k"])


class Started:
    """Starts a DataFrame of results again and again, on one checkpoint, and keeps all that it gives."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint = checkpoint
        self.rows: list[dict[str, Any]] = []

    def work_off(self, results: DataFrame) -> None:
        def keep(batch: DataFrame, number: int) -> None:
            self.rows += rows_of(batch)

        writing = results.writeStream.foreachBatch(keep).option("checkpointLocation", str(self._checkpoint))
        assert writing.trigger(availableNow=True).start().awaitTermination(PATIENCE)


@pytest.mark.slow
def test_results_that_are_written_twice_have_each_their_own_state(spark: SparkSession, tmp_path: Path):
    """One DataFrame, started with two checkpoints: both shards have the same number and version in one worker."""
    events = some_events(batches=3)
    first, second, third = batches_of(events)
    put(tmp_path / "in", first)
    results = session_over(spark, tmp_path, shards=1, files_a_batch=9).sql(TEXT)
    early, late = Started(tmp_path / "early"), Started(tmp_path / "late")
    early.work_off(results)
    put(tmp_path / "in", second)
    late.work_off(results)
    put(tmp_path / "in", third)
    early.work_off(results)
    late.work_off(results)
    replay = windrow.local.replay.Replay(TEXT, lateness="3 seconds", ticks=events)
    expected = [
        row for batch in (first, events.slice(BATCH_ROWS)) for table in replay.step(batch) for row in rows_of(table)
    ]
    assert_same(early.rows, expected, ["k"])
    replay = windrow.local.replay.Replay(TEXT, lateness="3 seconds", ticks=events)
    expected = [
        row
        for batch in (events.slice(0, 2 * BATCH_ROWS), third)
        for table in replay.step(batch)
        for row in rows_of(table)
    ]
    assert_same(late.rows, expected, ["k"])


@pytest.fixture
def newer_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs leave state of format 99, as a later version might: in the state alone, since workers run other jobs too."""

    class Newer(SlideProcessor):  # defined in here, so that workers get it with the plan
        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
            yield from super().handleInputRows(key, rows, timerValues)
            place = ("snapshot/0",)
            kept = json.loads(bytes(self._blocks.getValue(place)[0]))
            self._blocks.updateValue(place, (json.dumps(kept | {"format": 99}).encode(),))

    monkeypatch.setattr(slide, "SlideProcessor", Newer)


def test_a_checkpoint_of_another_format_is_refused_by_name(
    spark: SparkSession, tmp_path: Path, newer_state: None, monkeypatch: pytest.MonkeyPatch
):
    first, second = batches_of(some_events(batches=2))
    put(tmp_path / "in", first)
    session = session_over(spark, tmp_path)
    session.query("q", TEXT)
    sinks, checkpoint = {"q": windrow.sink("noop")}, str(tmp_path / "checkpoint")
    finish(session.start(checkpoint, sinks, trigger="available now"), flush=False)
    monkeypatch.undo()
    put(tmp_path / "in", second)
    job = session.start(checkpoint, sinks, trigger="available now")
    told = rf"holds state of format 99, and this version of Windrow reads format {FORMAT}: .* a new checkpoint"
    with pytest.raises(JobError, match=told):
        job.wait(PATIENCE)


@pytest.mark.slow
def test_streams_of_any_name_stay_in_their_checkpoint(spark: SparkSession, tmp_path: Path):
    names = ("../../evil", "letters")
    place = tmp_path / "deep" / "deeper" / "checkpoint"
    for number, batch in enumerate(batches_of(some_events(batches=2))):
        put(tmp_path / "in", batch)
        session = windrow.Session(spark, shards=1)
        for name in names:
            session.stream(name, stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, x DOUBLE"), time="ts")
            session.query(f"../{name}", f"SELECT COUNT(*) AS n FROM `{name}` [RANGE 1 MINUTE SLIDE 1 MINUTE]")
        sinks = {f"../{name}": windrow.sink("json", path=tmp_path / "out") for name in names}
        job = session.start(str(place), sinks, trigger="available now")
        finish(job, flush=number == 1)
        assert [job.progress()[name]["events"] for name in names] == [BATCH_ROWS] * 2
    assert sum(row["n"] for row in rows_of(tmp_path / "out")) == 4 * BATCH_ROWS
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "deep"}
    assert [path.name for path in (tmp_path / "deep" / "deeper").iterdir()] == ["checkpoint"]
    own = {"windrow.json", "script.json", "lock.json", "status.json", "job.requests", *map(file_name, names)}
    assert {path.name: path.stat().st_mode & 0o77 for path in place.iterdir()} == dict.fromkeys(own, 0)


def test_jobs_beside_each_other_work_and_a_second_one_on_a_checkpoint_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    put(tmp_path / "in", some_events(batches=1))
    session = session_over(spark, tmp_path)
    session.query("q", "SELECT COUNT(*) AS n FROM ticks [RANGE 1 MINUTE SLIDE 1 MINUTE]")
    sinks, checkpoint = {"q": windrow.sink("noop")}, str(tmp_path / "checkpoint")
    with pytest.raises(SettingsError, match="needs a path"):
        session.start(sinks={"q": windrow.sink("csv")})
    assert not list((tmp_path / "temporary").iterdir())
    idle, temporary = session.start(checkpoint, sinks), session.start(sinks=sinks)
    for job in (idle, temporary):
        until(lambda job=job: job.progress()["ticks"]["events"] == BATCH_ROWS)
    with pytest.raises(
        SettingsError, match=f"a job runs on the checkpoint {checkpoint} already: process {os.getpid()} on"
    ):
        session.start(checkpoint, sinks)
    assert JobRequests(checkpoint).ask({"list": True})["queries"] == ["q"]
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    for job in (idle, temporary):
        job.stop()
    assert not list((tmp_path / "temporary").iterdir())
    finish(session.start(checkpoint, sinks, trigger="available now"), flush=False)
    (tmp_path / "checkpoint" / "ticks" / "spark" / "metadata").write_text('{"id')
    with pytest.raises(
        SettingsError, match=r"Spark does not start on \S+ticks: .*\nhint: if its files there are damaged"
    ):
        session.start(checkpoint, sinks)


@pytest.mark.slow
def test_results_can_be_a_stream_of_their_own(spark: SparkSession, tmp_path: Path):
    events = some_events(batches=2)
    put(tmp_path / "in", *batches_of(events))
    session = session_over(spark, tmp_path)
    inner = "SELECT k, COUNT(*) AS n, MAX(x) AS most FROM ticks [RANGE 2 SECONDS SLIDE 2 SECONDS] GROUP BY k"
    session.stream("seconds", session.sql(inner), time="window_end")
    outer = "SELECT k, SUM(n) AS n, MAX(most) AS most FROM seconds [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k"
    session.query("outer", outer)
    job = session.start(
        str(tmp_path / "checkpoint"), {"outer": windrow.sink("parquet", path=tmp_path / "out")}, trigger="available now"
    )
    finish(job)
    between = windrow.replay(inner, lateness="3 seconds", batch_rows=BATCH_ROWS, ticks=events)
    expected = windrow.replay(outer, time="window_end", flush=True, seconds=between)
    assert_same(rows_of(tmp_path / "out"), rows_of(expected), ["k"])
    assert job.progress()["seconds"]["events"] == events.num_rows


@pytest.mark.slow
def test_a_clock_that_one_event_has_moved_far_ahead_is_set_back_while_the_job_runs_and_when_it_does_not(
    spark: SparkSession, tmp_path: Path
):
    """All events after the far one would be late; afterwards windows are as if it had not been, from the reset on."""
    text = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM ticks [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k"
    year = 365 * 86_400 * SECOND

    def some(*seconds: int) -> pa.Table:
        times = [START + second * SECOND if second >= 0 else START + year for second in seconds]
        ks = pa.array(["ab"[second % 2] for second in seconds])
        return pa.table({"ts": instants(times), "k": ks, "x": pa.array([float(second) for second in seconds])})

    def over() -> Session:
        session = windrow.Session(spark, shards=2)
        frame = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, x DOUBLE")
        session.stream("ticks", frame, time="ts", ahead="unbounded")
        session.query("q", text)
        return session

    sinks, checkpoint = {"q": windrow.sink("parquet", path=tmp_path / "out")}, str(tmp_path / "checkpoint")
    put(tmp_path / "in", some(1, 2, 5), some(-1), some(7))
    job = over().start(checkpoint, sinks)
    until(lambda: job.progress()["ticks"]["rejected"]["late"] == 1)
    requests = JobRequests(checkpoint)
    told = requests.ask({"reset_clock": "ticks", "to": "2123-11-14 22:14:08"})
    assert "can only be set back" in told["error"]
    assert requests.ask({"reset_clock": "ticks", "to": "2023-11-14 22:14:08"}) == {"reset": "ticks"}
    until(lambda: job.progress()["ticks"]["dropped"] == 1)
    put(tmp_path / "in", some(9, 11, 12, 13), some(16, 19, 20))
    until(lambda: job.progress()["ticks"]["events"] == 12)
    put(tmp_path / "in", some(-1))
    until(lambda: job.progress()["ticks"]["events"] == 13)
    job.stop()
    assert job.progress()["ticks"]["rejected"]["late"] == 1
    job.reset_clock("ticks", datetime(2023, 11, 14, 22, 14, 21, tzinfo=UTC))
    put(tmp_path / "in", some(22, 23, 27), some(30, 34))
    job = over().start(checkpoint, sinks, trigger="available now")
    finish(job)
    assert job.progress()["ticks"]["rejected"]["late"] == 0
    good = [1, 2, 5, 9, 11, 12, 13, 16, 19, 20, 22, 23, 27, 30, 34]
    plain = rows_of(windrow.replay(text, ticks=some(*good), flush=True))
    # of the pane that the clock is set back into some events may be lost, so windows are known from the next one on
    first, second = START + 10 * SECOND, START + 22 * SECOND
    known = [row for row in plain if row["window_start"] >= second]
    between = [row for row in plain if row["window_start"] >= first and row["window_end"] <= START + 20 * SECOND]
    found = rows_of(tmp_path / "out")
    assert_same(
        [row for row in found if row["window_start"] >= second and row["window_end"] < START + year], known, ["k"]
    )
    told_before = [row for row in found if row["window_start"] >= first and row["window_end"] <= START + 20 * SECOND]
    assert_same(told_before, between, ["k"])
