"""Script and checkpoint never drift silently: a start says what differs from the one before, or refuses it."""

from __future__ import annotations

import logging
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.plan.instants import shown_instant
from windrow.spark.job.bring_back import bring_back

from .streams import SECOND, START, finish, instants, put, stream_of

SUMS = "SELECT k, SUM(v) AS total FROM events [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k"


def events(first: int, count: int) -> pa.Table:
    """One event a second."""
    numbers = range(first, first + count)
    columns = {"ts": instants([START + n * SECOND for n in numbers]), "k": ["a"] * count, "v": list(numbers)}
    return pa.table(columns)


def started(spark: SparkSession, folder: Path, queries: dict[str, str], lateness: str = "0 seconds", **options):
    session = windrow.Session(spark, shards=1)
    stream = stream_of(spark, folder / "in", "ts TIMESTAMP, k STRING, v BIGINT")
    session.stream("events", stream, time="ts", lateness=lateness)
    for name, text in queries.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=folder / name) for name in queries}
    return session.start(str(folder / "checkpoint"), sinks, "available now", **options)


def at(second: int) -> str:
    return str(shown_instant(START + second * SECOND))


def ends_of(folder: Path) -> list[int]:
    files = f"read_parquet('{folder}/*.parquet', union_by_name = true)"
    found = duckdb.sql(f"SELECT epoch_us(window_end) FROM {files} ORDER BY 1").fetchall()
    return [(end - START) // SECOND for (end,) in found]


def test_a_start_says_what_differs_and_from_which_window_each_query_answers(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    put(tmp_path / "in", events(0, 10))
    other = SUMS.replace("6 SECONDS", "4 SECONDS")
    job = started(spark, tmp_path, {"same": SUMS, "window": SUMS, "rows": SUMS, "shown": SUMS, "gone": other})
    assert job.drift == []
    finish(job, flush=False)
    before = {name: ends_of(tmp_path / name) for name in ("window", "rows", "shown")}
    put(tmp_path / "in", events(10, 12))
    now = {
        "same": SUMS,
        "window": SUMS.replace("6 SECONDS", "4 SECONDS"),
        "rows": SUMS.replace("GROUP", "WHERE v > 3 GROUP"),
        "shown": SUMS.replace("AS total", "AS total, k AS kind"),
        "new": SUMS.replace("SUM(v)", "MAX(v)"),
    }
    with pytest.raises(SettingsError, match=r"has run other queries than these:\n  query 'window' has changed"):
        started(spark, tmp_path, now, strict=True)
    caplog.clear()
    with caplog.at_level(logging.WARNING, "windrow"):
        job = started(spark, tmp_path, now)
    told = dict(zip(("window", "rows", "shown", "new", "gone"), job.drift))
    assert job.drift == [record.message for record in caplog.records if record.name == "windrow"] and len(told) == 5
    firsts = {"window": (6, 10), "rows": (10, 16), "shown": (4, 10), "new": (10, 16)}
    for name, (start, end) in firsts.items():
        assert told[name].startswith(f"query {name!r} {'is new' if name == 'new' else 'has changed'}")
        assert told[name].endswith(f"answers from the window from {at(start)} to {at(end)}"), told[name]
    assert "[range 4 s slide 2 s], before [range 6 s slide 2 s]; it keeps its state of the same rows" in told["window"]
    assert "by `k` string, before events by `k` string; it begins anew" in told["rows"]
    assert "select list" in told["shown"] and "it keeps all its state" in told["shown"]
    assert told["gone"].startswith("query 'gone' is gone") and "windrow clean" in told["gone"]
    finish(job, flush=False)
    for name, (_, end) in firsts.items():  # what was said is what came
        assert ends_of(tmp_path / name)[len(before.get(name, ())) :][0] == end

    job = started(spark, tmp_path, now, lateness="2 seconds")
    assert len(job.drift) == 5
    assert all("lateness events 2 s, before events 0 s; it keeps all" in line for line in job.drift)
    finish(job, flush=False)


def test_a_query_that_was_dropped_is_told_of_and_comes_back(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(0, 4))
    session = windrow.Session(spark, shards=1)
    session.stream("events", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, v BIGINT"), time="ts")
    for name in ("one", "other"):
        session.query(name, SUMS)
    sinks = {name: windrow.sink("noop") for name in ("one", "other")}
    place = str(tmp_path / "checkpoint")
    job = session.start(place, sinks)
    job.drop("other")
    job.stop()
    with pytest.raises(SettingsError, match="query 'other' was dropped while the job ran"):
        session.start(place, sinks, strict=True)
    job = session.start(place, sinks, "available now")
    assert job.queries == ["one"]
    assert job.drift == [
        f"query 'other' was dropped while the job ran, and does not run: windrow resume {place} other brings it back"
    ]
    finish(job, flush=False)
    bring_back(place, "other")
    job = session.start(place, sinks, "available now", strict=True)
    assert job.queries == ["one", "other"]
    finish(job, flush=False)
