"""History first, then live: files give what happened before an instant, the stream the rest, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application.application import Application
from windrow.errors import ChangeError, QueryError, SettingsError

from .history_job import QUERY, SCHEMA, UNTIL, declare

HERE = Path(__file__).parent
START, SECOND = 1_767_225_600_000_000, 1_000_000
SEAM_US = START + 300 * SECOND


def events_between(first: int, last: int, seed: int) -> pa.Table:
    """Events of some seconds, a little out of order."""
    draw, rows = np.random.default_rng(seed), 2 * (last - first)
    times = START + (first * SECOND + np.arange(rows) * SECOND // 2 + draw.integers(-2 * SECOND, SECOND, rows))
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": pa.array(draw.choice(["a", "b", "c"], rows)),
            "x": pa.array(draw.integers(0, 100, rows)),
        }
    )


def put(folder: Path, events: pa.Table, files: int, begun: int = 0) -> None:
    """Files in the order of their events: Spark reads them by the time at which they were written."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        start, end = (events.num_rows * edge // files for edge in (number, number + 1))
        path = folder / f"{(number * 7) % 10}-{begun + number}.parquet"
        pq.write_table(events.slice(start, end - start), folder / f".{path.name}")
        os.utime(folder / f".{path.name}", (1e9 + begun + number,) * 2)
        (folder / f".{path.name}").rename(path)


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A lake that goes on after the seam, and a stream that begins before it: both have what lies between."""
    put(tmp_path / "lake", events_between(0, 310, seed=1), files=4)
    put(tmp_path / "live", events_between(285, 420, seed=2), files=3)
    return tmp_path


def expected(folder: Path) -> Counter[tuple[object, ...]]:
    """What DuckDB says of one stream that has it all."""
    return Counter(
        duckdb.sql(
            f"""WITH events AS (
                    SELECT * FROM read_parquet('{folder}/lake/*.parquet') WHERE epoch_us(ts) < {SEAM_US} UNION ALL
                    SELECT * FROM read_parquet('{folder}/live/*.parquet') WHERE epoch_us(ts) >= {SEAM_US}),
                ends AS (SELECT {START} + UNNEST(range(0, 560, 10)) * {SECOND} AS w)
                SELECT w, k, COUNT(*), SUM(x)::BIGINT FROM events
                JOIN ends ON epoch_us(ts) < w AND epoch_us(ts) >= w - 100 * {SECOND} GROUP BY ALL"""
        ).fetchall()
    )


def beyond(folder: Path) -> int:
    ((counted,),) = duckdb.sql(
        f"""SELECT (SELECT COUNT(*) FROM read_parquet('{folder}/lake/*.parquet') WHERE epoch_us(ts) >= {SEAM_US})
                 + (SELECT COUNT(*) FROM read_parquet('{folder}/live/*.parquet') WHERE epoch_us(ts) < {SEAM_US})"""
    ).fetchall()
    assert counted > 20
    return int(counted)


def found(folder: Path) -> Counter[tuple[object, ...]]:
    rows = duckdb.sql(f"SELECT epoch_us(window_end), k, n, total FROM read_parquet('{folder}/out/*.parquet')")
    return Counter(rows.fetchall())


def start(spark: SparkSession, folder: Path, trigger: str | None = "available now") -> windrow.Job:
    session = declare(windrow.Session(spark, shards=2), folder)
    sinks = {"sums": windrow.sink("parquet", path=folder / "out")}
    return session.start(str(folder / "checkpoint"), sinks, trigger)


def finish(job: windrow.Job) -> None:
    job.wait()
    job.flush()
    job.wait()
    job.stop()


def test_windows_over_the_seam_are_those_of_one_stream_that_has_it_all(spark: SparkSession, places: Path) -> None:
    job = start(spark, places)
    finish(job)
    figures = job.progress()["tx"]
    assert found(places) == expected(places)
    assert figures.seam == beyond(places)
    assert figures.rejected == {"late": 0, "no time": 0, "unreadable": 0}
    assert figures.history is None
    assert json.loads((places / "checkpoint" / "tx" / "history.json").read_text())["over"] is True


def test_events_of_files_out_of_order_are_late_counted_and_told(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "lake", events_between(0, 300, seed=1), files=3)
    put(tmp_path / "live", events_between(305, 320, seed=2), files=1)
    oldest, *_, newest = sorted((tmp_path / "lake").iterdir(), key=lambda path: path.stat().st_mtime)
    os.utime(oldest, (newest.stat().st_mtime + 1,) * 2)
    job = start(spark, tmp_path)
    finish(job)
    late = job.progress()["tx"].rejected["late"]
    ((in_oldest,),) = duckdb.sql(f"SELECT COUNT(*) FROM read_parquet('{oldest}')").fetchall()
    assert 0 < late <= in_oldest
    assert f"{late} events of the history of tx were late" in caplog.text


def test_a_job_that_is_stopped_in_its_history_goes_on_there_and_then_live(spark: SparkSession, places: Path) -> None:
    job = start(spark, places, None)
    until = time.monotonic() + 60
    while (tx := job.progress().get("tx")) is None or tx.batches < 1:
        assert time.monotonic() < until
        time.sleep(0.02)
    with pytest.raises(ChangeError, match="still being read"):
        job.flush()
    left = job.progress()["tx"].history
    job.stop()
    assert left is not None and left["files"] == 4 and left["left"] < 4
    assert json.loads((places / "checkpoint" / "tx" / "history.json").read_text())["over"] is False
    assert found(places)  # windows of the history are answered as it is read

    job = start(spark, places, None)
    while not job.progress()["tx"].clock or job.progress()["tx"].history is not None:
        assert job.is_active and time.monotonic() < until
        time.sleep(0.05)
    put(places / "live", events_between(420, 450, seed=3), files=1, begun=5)  # what comes later is read, too
    finish_live(job, places)
    assert found(places) == expected(places)


def finish_live(job: windrow.Job, folder: Path) -> None:
    until, log = time.monotonic() + 60, folder / "checkpoint" / "tx" / "spark" / "sources" / "1"
    while len(list(log.glob("[0-9]*"))) < 4 or not job.progress()["tx"].waiting:
        assert job.is_active and time.monotonic() < until
        time.sleep(0.05)
    job.flush()
    while not job.progress()["tx"].waiting or max(end for end, *_ in found(folder)) < START + 540 * SECOND:  # type: ignore[type-var]
        assert job.is_active and time.monotonic() < until
        time.sleep(0.05)
    job.stop()


def test_the_same_by_statements_with_files_that_spark_reads(spark: SparkSession, places: Path) -> None:
    """JSON, and rejected events: those beyond the seam are not among them."""
    for name in ("lake", "live"):
        rows = f"SELECT * REPLACE (strftime(ts AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS ts) FROM read_parquet('{places}/{name}/*.parquet')"
        (places / f"{name}-json").mkdir()
        duckdb.sql(f"COPY ({rows} ORDER BY ts) TO '{places}/{name}-json/all.json' (FORMAT json)")
    session = windrow.Session(spark, shards=2)
    application = Application(
        session,
        f"""CREATE STREAM tx ({SCHEMA}) USING json OPTIONS (path '{places}/live-json')
            TIMESTAMP BY ts LATENESS 5 SECONDS AFTER json OPTIONS (path '{places}/lake-json') UNTIL '{UNTIL}';
            CREATE SINK out USING parquet OPTIONS (path '{places}/out');
            CREATE SINK bad USING json OPTIONS (path '{places}/bad') FOR REJECTED;
            INSERT INTO out {QUERY};""",
    )
    job = session.start(None, application.sinks, "available now", rejected=application.rejected)
    finish(job)
    assert found(places) == expected(places)
    assert job.progress()["tx"].seam == beyond(places)
    assert not list((places / "bad").glob("*.json"))


def test_a_checkpoint_holds_a_stream_to_its_history(spark: SparkSession, places: Path) -> None:
    start(spark, places).wait()
    sinks = {"sums": windrow.sink("parquet", path=places / "out")}
    for until in (None, "2026-01-01 00:06"):
        session = declare(windrow.Session(spark, shards=2), places, until)
        with pytest.raises(SettingsError, match="the checkpoint began with the history of 'tx' until 2026-01-01T00:05"):
            session.start(str(places / "checkpoint"), sinks, "available now")
    plain = declare(windrow.Session(spark, shards=2), places, None)
    plain.start(str(places / "plain"), sinks, "available now").wait()
    session = declare(windrow.Session(spark, shards=2), places)
    with pytest.raises(SettingsError, match="the checkpoint began without a history"):
        session.start(str(places / "plain"), sinks, "available now")


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("AFTER kafka OPTIONS (topic 'x') UNTIL '2026-01-01'", "a history is read from files, and not from 'kafka'"),
        ("AFTER parquet OPTIONS (path '/none') UNTIL '2026-01-01'", "there is nothing at '/none'"),
        ("AFTER parquet OPTIONS (path '{lake}') UNTIL 'later'", "'later' is not a time"),
        ("AFTER parquet OPTIONS (path '{lake}', pth 1) UNTIL '2026-01-01'", "option 'pth'"),
        ("AFTER parquet OPTIONS (path '{lake}')", "UNTIL"),
        ("AFTER parquet OPTIONS (path '{lake}') UNTIL 5", "expected the instant"),
    ],
)
def test_what_cannot_be_a_history_is_refused(spark: SparkSession, places: Path, after: str, message: str) -> None:
    text = f"""CREATE STREAM tx ({SCHEMA}) USING parquet OPTIONS (path '{places}/live') TIMESTAMP BY ts
               {after.format(lake=places / "lake")}; {QUERY}"""
    with pytest.raises(QueryError, match=message):
        Application(windrow.Session(spark, shards=2), text)


def test_columns_that_no_file_of_a_history_has_are_named(spark: SparkSession, places: Path) -> None:
    session = windrow.Session(spark, shards=2)
    after = windrow.history("parquet", UNTIL, path=places / "lake")
    with pytest.raises(SettingsError, match="the history of stream 'tx': no file has the column 'y'"):
        session.stream_files("tx", str(places / "live"), schema=f"{SCHEMA}, y INT", time="ts", after=after)
    with pytest.raises(SettingsError, match="timed by arrival"):
        session.stream_files("tx", str(places / "live"), schema=SCHEMA, after=after)
    session.stream_files("tx", str(places / "live"), schema=SCHEMA, time="ts", after=after)
    with pytest.raises(SettingsError, match="read by a job"):
        session.sql(QUERY)


@pytest.mark.slow
def test_kills_in_the_history_and_after_it_lose_nothing(places: Path) -> None:
    commits = places / "checkpoint" / "tx" / "spark" / "commits"
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}
    for kill in range(6):
        job = subprocess.Popen(
            [sys.executable, str(HERE / "history_job.py"), str(places)], env=environment, start_new_session=True
        )
        before, until = len(list(commits.glob("[0-9]*"))), time.monotonic() + 120
        while job.poll() is None and (kill == 5 or len(list(commits.glob("[0-9]*"))) <= before):
            assert time.monotonic() < until
            time.sleep(0.01)
        if job.poll() is None:
            time.sleep(0.1 * kill)
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    assert found(places) == expected(places)
