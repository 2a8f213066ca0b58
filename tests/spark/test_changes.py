"""Queries come to a running job and go; the others lose nothing and repeat nothing, also if it is killed meanwhile."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import windrow
from windrow.cli.main import app
from windrow.control import add_script, obey
from windrow.errors import ChangeError, QueryError
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.spark.job.checkpoint import Added, QueryEdits
from windrow.spark.job.job import Job
from windrow.spark.job.job_requests import JobRequests
from windrow.spark.job.running import check_beside

from . import changed_job
from .streams import SECOND, START, Rows, assert_same, instants, put, rows_of, until
from .test_kill import child

STEP = 20
"""So many seconds of events are in a file."""


def events(number: int) -> pa.Table:
    """The events of file `number`, in order of time."""
    draw = np.random.default_rng(number)
    times = np.sort(draw.integers(number * STEP * SECOND, (number + 1) * STEP * SECOND, 60))
    return pa.table(
        {
            "ts": instants((START + times).tolist()),
            "k": pa.array(draw.choice(["a", "b", None], 60).tolist()),
            "x": pa.array(draw.normal(size=60)),
            "i": pa.array(draw.integers(-9, 9, 60)),
        }
    )


def answers(text: str, files: int) -> Rows:
    """What a query answers over all events, by itself."""
    return rows_of(windrow.replay(text, ticks=pa.concat_tables([events(number) for number in range(files)])))


def caught_up(job: Job, files: int) -> None:
    until(lambda: job.wait(0.05) or job.progress()["ticks"]["events"] == 60 * files)


def test_queries_come_and_go_while_the_others_go_on(spark: SparkSession, tmp_path: Path):
    source, out = tmp_path / "in", tmp_path / "out"
    put(source, events(0), events(1))
    job = changed_job.start(spark, source, out)
    caught_up(job, 2)
    job.add("added", changed_job.ADDED, windrow.sink("parquet", path=out / "added"))
    assert job.queries == ["sums", "last", "added"]
    for wrong, error, told in (
        (lambda: job.add("sums", changed_job.ADDED), ChangeError, "there is a query 'sums' already"),
        (lambda: job.drop("sum"), ChangeError, "there is no query 'sum'.*running are sums, last, added"),
        (lambda: job.add("bad", "SELECT nothing, COUNT(*) FROM ticks [RANGE 1 MINUTE]"), QueryError, "nothing|slide"),
        (
            lambda: job.add("bad", "SELECT COUNT(*) AS n FROM trips [RANGE 9 SECONDS SLIDE 3 SECONDS]"),
            QueryError,
            "trips",
        ),
    ):
        with pytest.raises(error, match=f"(?s){told}"):
            wrong()
    put(source, events(2), events(3))
    caught_up(job, 4)
    job.drop("added")
    put(source, events(4))
    caught_up(job, 5)
    job.stop()
    with pytest.raises(ChangeError, match="has ended"):
        job.add("more", changed_job.ADDED)
    for name, text in (("sums", changed_job.SUMS), ("last", changed_job.LAST)):
        assert_same(rows_of(out / name), answers(text, 5), ["k"] if name == "sums" else [])
    found = rows_of(out / "added")
    first, last = (edge(row["window_end"] for row in found) for edge in (min, max))
    assert START + 40 * SECOND < first <= START + 40 * SECOND + 2 * 14 * SECOND
    assert last > START + 70 * SECOND
    expected = [row for row in answers(changed_job.ADDED, 5) if first <= row["window_end"] <= last]
    assert_same(found, expected, ["k"])


def test_an_aggregate_that_was_registered_anew_cannot_join_the_state_of_the_one_before():
    running = StreamPlan("ticks", 0, (), (), user_code=(("spread", int),))
    check_beside(running, StreamPlan("ticks", 0, (), (), user_code=(("spread", int), ("other", str))))
    with pytest.raises(ChangeError, match="'spread' has been registered anew"):
        check_beside(running, StreamPlan("ticks", 0, (), (), user_code=(("spread", str),)))


def test_the_command_line_changes_a_running_job(spark: SparkSession, tmp_path: Path):
    source, out, cli = tmp_path / "in", tmp_path / "out", CliRunner()
    put(source, events(0))
    job = changed_job.start(spark, source, out)
    folder = str(out / "checkpoint")
    script = tmp_path / "more.sql"
    script.write_text(
        f"CREATE SINK added USING parquet OPTIONS (path '{out / 'added'}');\nINSERT INTO added {changed_job.ADDED};"
    )
    done = cli.invoke(app, ["add", folder, str(script)])
    assert (done.exit_code, done.output) == (0, "added added; running: sums, last, added\n")
    again = cli.invoke(app, ["add", folder, script.read_text()])
    assert again.exit_code == 2
    assert "there is a query 'added' already" in again.output
    typo = cli.invoke(app, ["add", folder, "SELECT COUNT(*) AS n\nFROM tiks [RANGE 9 SECONDS SLIDE 3 SECONDS]"])
    assert typo.exit_code == 2
    assert "unknown stream 'tiks' (line 2, column 6)\n  FROM tiks [RANGE" in typo.output
    dropped = cli.invoke(app, ["drop", folder, "last"])
    assert (dropped.exit_code, dropped.output) == (0, "dropped last; running: sums, added\n")
    assert cli.invoke(app, ["drop", folder, "last"]).exit_code == 2
    job.add("last", changed_job.ADDED, windrow.sink("noop"))  # another one under the name of one that was dropped
    job.drop("last")
    job.stop()
    ended = cli.invoke(app, ["drop", folder, "sums"])
    assert ended.exit_code == 2
    assert "no job runs on this checkpoint" in ended.output
    assert cli.invoke(app, ["drop", str(tmp_path / "nowhere"), "sums"]).exit_code == 2
    again_started = changed_job.start(spark, source, out)
    assert again_started.queries == ["sums", "added"]
    again_started.stop()


def test_changes_are_read_as_they_were_written(tmp_path: Path):
    assert QueryEdits.read(str(tmp_path)) == QueryEdits()
    rounded = Added("SELECT 1", windrow.sink("parquet", path="out"), slide_us=96)
    changes = QueryEdits({"a": rounded, "b": Added("SELECT 2", windrow.sink("console"))}, ["c"], {"ticks": ["d"]})
    changes.write(str(tmp_path))
    assert QueryEdits.read(str(tmp_path)) == changes


def test_queries_without_a_sink_get_names_of_their_own():
    class Running:
        def __init__(self) -> None:
            self.queries, self.added = ["query_1", "sums"], []

        def add(self, name: str, text: str, sink: object, *, choose: object) -> None:
            self.added.append((name, choose))

    job = Running()
    text = "SELECT COUNT(*) AS n FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS]"
    assert add_script(job, f"{text}; {text}") == ["query_2", "query_3"]
    assert obey(job, {"add": text, "choose": {"maintenance": "DABA"}})["added"] == ["query_2"]
    assert job.added == [("query_2", None), ("query_3", None), ("query_2", {"maintenance": "DABA"})]


@pytest.mark.slow
def test_after_a_kill_the_queries_are_what_they_were(spark: SparkSession, tmp_path: Path):
    source, out = tmp_path / "in", tmp_path / "out"
    out.mkdir()
    put(source, *(events(number) for number in range(3)))
    requests = JobRequests(str(out / "checkpoint"))
    commits = out / "checkpoint" / "ticks" / "spark" / "commits"

    def committed() -> int:
        return len([name for name in os.listdir(commits) if name.isdigit()]) if commits.exists() else 0

    with child(source, out, script=changed_job.__file__):
        until(lambda: committed() >= 3)
        script = (
            f"CREATE SINK added USING parquet OPTIONS (path '{out / 'added'}'); INSERT INTO added {changed_job.ADDED}"
        )
        assert requests.ask({"add": script})["queries"] == ["sums", "last", "added"]
        put(source, events(3))  # killed with this under way
        time.sleep(0.3)
    with child(source, out, script=changed_job.__file__):
        until(lambda: committed() >= 4)
        assert requests.ask({"list": True})["queries"] == ["sums", "last", "added"]
        put(source, events(4))
        until(lambda: committed() >= 5)
        assert requests.ask({"drop": "last"})["queries"] == ["sums", "added"]
        put(source, events(5))
    job = changed_job.start(spark, source, out)  # in another process: it knows only the folder
    until(lambda: committed() >= 6)
    assert requests.ask({"list": True})["queries"] == job.queries == ["sums", "added"]
    job.stop()
    assert_same(rows_of(out / "sums"), answers(changed_job.SUMS, 6), ["k"])
    found, last = rows_of(out / "added"), rows_of(out / "last")
    first = min(row["window_end"] for row in found)
    assert first <= START + 60 * SECOND + 2 * 14 * SECOND
    assert_same(found, [row for row in answers(changed_job.ADDED, 6) if row["window_end"] >= first], ["k"])
    assert_same(last, [row for row in answers(changed_job.LAST, 5) if row["window_end"] <= START + 100 * SECOND])
