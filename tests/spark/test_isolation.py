"""One bad query does not end the others: it stops, is told of, stays stopped after a restart, and can come back."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

import windrow
from windrow.errors import ChangeError, JobError, SettingsError, StoppedQueriesError

from .streams import PATIENCE, SECOND, START, finish, instants, put, stream_of, until

WINDOW = "FROM events [RANGE 6 SECONDS SLIDE 2 SECONDS]"
BAD_TO_ADD, BAD_TO_FINISH, BAD_TO_CALL = 15, 25, 35


class FailsToAdd:
    def init(self):
        return 0

    def add(self, state, value):
        if value == BAD_TO_ADD:
            raise ValueError("no such value")
        return state + value

    def merge(self, state, other):
        return state + other

    def finish(self, state):
        return state


class FailsToFinish(FailsToAdd):
    def add(self, state, value):
        return max(state, value)

    def merge(self, state, other):
        return max(state, other)

    def finish(self, state):
        return state // (0 if state >= BAD_TO_FINISH else 1)


def fails_to_call(value: int) -> int:
    if value == BAD_TO_CALL:
        raise LookupError("not in the book")
    return value


def events(first: int, count: int) -> pa.Table:
    """One event a second."""
    numbers = range(first, first + count)
    return pa.table({"ts": instants([START + n * SECOND for n in numbers]), "v": pa.array(numbers, pa.int64())})


def session_over(spark: SparkSession, folder: Path) -> windrow.Session:
    spark.udf.register("fails_to_call", fails_to_call, LongType())
    session = windrow.Session(spark, shards=1)
    session.stream("events", stream_of(spark, folder / "in", "ts TIMESTAMP, v BIGINT"), time="ts")
    session.aggregate("fails_to_add", FailsToAdd, "BIGINT")
    session.aggregate("fails_to_finish", FailsToFinish, "BIGINT")
    return session


def good_rows(folder: Path) -> list[tuple[int, int]]:
    return duckdb.sql(
        f"SELECT epoch_us(window_end), total FROM read_parquet('{folder}/good/*.parquet') ORDER BY ALL"
    ).fetchall()


def recomputed(last: int) -> list[tuple[int, int]]:
    """Every window over the values 0 to `last`, one a second, each by itself."""
    ends = range(2, last + 7, 2)
    return [(START + end * SECOND, sum(range(max(0, end - 6), min(end, last + 1)))) for end in ends]


def test_queries_that_fail_stop_alone_and_stay_stopped_until_they_are_brought_back(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", *(events(first, 10) for first in range(0, 40, 10)))
    sinks = {name: windrow.sink("noop") for name in ("adds", "finishes", "calls", "also_calls")}
    sinks |= {"good": windrow.sink("parquet", path=tmp_path / "good")}

    def started(**options) -> windrow.Job:
        session = session_over(spark, tmp_path)
        session.query("good", f"SELECT SUM(v) AS total {WINDOW}")
        session.query("adds", f"SELECT fails_to_add(v) AS total {WINDOW}")
        session.query("finishes", f"SELECT fails_to_finish(v) AS top {WINDOW}")
        session.query("calls", f"SELECT COUNT(*) AS n {WINDOW} WHERE fails_to_call(v) > 3")
        session.query("also_calls", f"SELECT COUNT(*) AS n {WINDOW} WHERE fails_to_call(least(v, 34)) > 3")
        return session.start(str(tmp_path / "checkpoint"), sinks, "available now", **options)

    job = started()
    with pytest.raises(StoppedQueriesError) as told:
        job.wait(PATIENCE)
    why = told.value.queries
    assert sorted(why) == ["adds", "calls", "finishes"]
    assert "aggregate 'fails_to_add': add failed: ValueError: no such value" in why["adds"]
    assert "aggregate 'fails_to_finish': finish failed: ZeroDivisionError" in why["finishes"]
    assert "LookupError: not in the book" in why["calls"]
    assert job.progress()["events"].stopped == why == job.stopped and "has stopped" in str(job.progress())
    assert sorted(job.queries) == ["also_calls", "good"]
    job.stop()  # it has been told

    put(tmp_path / "in", events(40, 5))
    job = started()
    assert job.stopped == why, "as it was, without trying again"
    with pytest.raises(StoppedQueriesError):
        finish(job)
    finish(job)
    assert good_rows(tmp_path) == recomputed(44)
    with pytest.raises(ChangeError, match="the job has ended"):
        job.resume("adds")


@pytest.mark.slow
def test_a_sink_that_goes_and_a_query_that_came_later_end_none_of_the_others_and_can_be_brought_back(
    spark: SparkSession, tmp_path: Path
):
    put(tmp_path / "in", events(0, 10))
    session = session_over(spark, tmp_path)
    session.query("good", f"SELECT SUM(v) AS total {WINDOW}")
    session.query("sunk", f"SELECT COUNT(*) AS n {WINDOW}")
    sinks = {
        "good": windrow.sink("parquet", path=tmp_path / "good"),
        "sunk": windrow.sink("csv", path=tmp_path / "sunk"),
    }
    job = session.start(str(tmp_path / "checkpoint"), sinks)
    until(lambda: job.progress()["events"].batches == 1)
    shutil.rmtree(tmp_path / "sunk")
    (tmp_path / "sunk").touch()
    job.add("adds", f"SELECT fails_to_add(v) AS total {WINDOW}", windrow.sink("parquet", path=tmp_path / "adds"))
    put(tmp_path / "in", events(10, 10))
    until(lambda: job.stopped.keys() == {"adds", "sunk"})  # nobody waits for the job: it looks after itself
    assert "cannot be written" in job.stopped["sunk"]
    put(tmp_path / "in", events(20, 10))
    until(lambda: job.progress()["events"].waiting and job.progress()["events"].events == 30)
    with pytest.raises(ChangeError, match="hint: there are adds, sunk"):
        job.resume("others")
    job.resume("adds")
    assert [*job.stopped] == ["sunk"] and sorted(job.queries) == ["adds", "good"]
    put(tmp_path / "in", events(30, 20))
    until(lambda: job.progress()["events"].events == 50 and job.progress()["events"].waiting)
    job.flush()
    until(lambda: recomputed(49)[-1] in good_rows(tmp_path))
    with pytest.raises(StoppedQueriesError, match="query 'sunk' has stopped"):
        job.stop()
    assert good_rows(tmp_path) == recomputed(49)
    found = f"SELECT epoch_us(window_end), total FROM read_parquet('{tmp_path}/adds/*.parquet') ORDER BY ALL"
    again = duckdb.sql(found).fetchall()
    assert again and set(again) <= set(recomputed(49)), "whole windows only"


def test_who_wants_it_stops_the_job_with_its_first_bad_query_and_loses_nothing(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(0, 10), events(10, 10))
    session = session_over(spark, tmp_path)
    session.query("good", f"SELECT SUM(v) AS total {WINDOW}")
    session.query("adds", f"SELECT fails_to_add(v) AS total {WINDOW}")
    sinks = {"good": windrow.sink("parquet", path=tmp_path / "good"), "adds": windrow.sink("noop")}
    with pytest.raises(SettingsError, match="on_error='go on' is neither 'isolate' nor 'stop'"):
        session.start(str(tmp_path / "checkpoint"), sinks, "available now", on_error="go on")
    job = session.start(str(tmp_path / "checkpoint"), sinks, "available now", on_error="stop")
    with pytest.raises(JobError, match=r"fails_to_add.*no such value"):
        job.wait(PATIENCE)
    job.stop()
    before = good_rows(tmp_path)
    assert before == [row for row in recomputed(9) if row[0] < START + 10 * SECOND]
