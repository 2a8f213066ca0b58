"""Where results go: files, views, the console, and any other format that Spark writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.session import Session

from .streams import SECOND, START, Rows, assert_same, finish, instants, put, rows_of, stream_of

TEXT = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k"
SINKS = ["parquet", "csv", "json", "orc", "noop", "memory", "console"]
TICKS = pa.table(
    {
        "ts": instants(START + n * SECOND for n in (1, 3, 6, 8, 13, 14)),
        "k": pa.array(["a", "b", "a", 'comma, "quote"', "b", "a"]),
        "x": pa.array([0.1, 1e-7, 1 / 3, 1e300, -0.5, 2.0]),
    }
)


def sessions(spark: SparkSession, folder: Path) -> Session:
    put(folder / "in", TICKS.slice(0, 3), TICKS.slice(3))
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, folder / "in", "ts TIMESTAMP, k STRING, x DOUBLE"), time="ts")
    return session


def expected(flush: bool = True) -> Rows:
    return rows_of(windrow.replay(TEXT, batch_rows=3, flush=flush, ticks=TICKS))


def test_every_sink_gets_every_row_once(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    session = sessions(spark, tmp_path)
    sinks = {}
    for format in SINKS:
        session.query(f"to {format}", TEXT)
        options = {"header": True} if format == "csv" else {"numRows": 3} if format == "console" else {}
        places = {} if format in ("noop", "memory", "console") else {"path": tmp_path / format}
        sinks[f"to {format}"] = windrow.sink(format, **places, **options)
    finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"))

    assert_same(rows_of(tmp_path / "parquet"), expected(), ["k"], relative=0)
    for format in ("csv", "json"):
        written = rows_of(
            getattr(spark.read.schema(_schema(spark, tmp_path)), format)(
                str(tmp_path / format), **({"header": True} if format == "csv" else {})
            )
        )
        assert_same(written, expected(), ["k"], relative=0)
    assert_same(rows_of(spark.table("`to memory`")), expected(), ["k"], relative=0)
    headers = [path.read_text().splitlines()[0] for path in (tmp_path / "csv").glob("*.csv")]
    assert set(headers) == {"window_start,window_end,k,n,total"}

    numbered = rows_of(spark.read.orc(str(tmp_path / "orc")))
    assert {row["batch"] for row in numbered} == {0, 1, 2}
    assert_same(
        [{name: row[name] for name in row if name != "batch"} for row in numbered], expected(), ["k"], relative=0
    )

    shown = capsys.readouterr().out
    assert "-- to console, batch 1" in shown and "|window_start" in shown and 'comma, "quote"' in shown


def _schema(spark: SparkSession, folder: Path):
    return spark.read.parquet(str(folder / "parquet")).schema


def test_jobs_and_queries_that_share_a_folder_do_not_overwrite_each_other(spark: SparkSession, tmp_path: Path):
    session = sessions(spark, tmp_path)
    session.query("one", TEXT)
    session.query("two", TEXT)
    shared = {name: windrow.sink("parquet", path=tmp_path / "shared") for name in ("one", "two")}
    for checkpoint in ("first", "second"):
        finish(session.start(str(tmp_path / checkpoint), shared, trigger="available now"), flush=False)
    found = [tuple(row.values()) for row in rows_of(tmp_path / "shared")]
    assert sorted(found) == sorted(tuple(row.values()) for row in expected(flush=False) * 4)


def test_a_batch_is_computed_once_for_the_console(spark: SparkSession, tmp_path: Path):
    session = sessions(spark, tmp_path)
    session.query("alone", TEXT)
    job = session.start(str(tmp_path / "checkpoint"), {"alone": windrow.sink("console")}, trigger="available now")
    finish(job, flush=False)
    figures = job.progress()["ticks"]
    assert (figures["events"], figures["batches"]) == (TICKS.num_rows, 2)


def test_a_folder_that_cannot_be_written_is_refused_in_a_line(spark: SparkSession, tmp_path: Path):
    session = sessions(spark, tmp_path)
    session.query("blocked", TEXT)
    (tmp_path / "taken").write_text("a file, where a folder is needed")
    sinks = {"blocked": windrow.sink("parquet", path=tmp_path / "taken")}
    with pytest.raises(SettingsError) as told:
        session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
    assert "taken" in str(told.value) and "Traceback" not in str(told.value)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("sinks", "told"),
    [
        ({}, "no sink for one"),
        ({"one": windrow.sink("csv")}, "writes csv files and needs a path"),
        ({"one": windrow.sink("noop"), "two": windrow.sink("noop")}, "sink 'two' has no query; known queries: one"),
    ],
)
def test_sinks_that_do_not_fit_are_refused_before_anything_starts(
    spark: SparkSession, tmp_path: Path, sinks: dict[str, windrow.Sink], told: str
):
    session = sessions(spark, tmp_path)
    session.query("one", TEXT)
    with pytest.raises(SettingsError, match=told):
        session.start(str(tmp_path / "checkpoint"), sinks)
