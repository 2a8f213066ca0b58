"""Tables that are read again while a job runs: what is joined is in the checkpoint first, and a lost database stops nobody."""

from __future__ import annotations

import json
import os
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lab.postgres import missing_postgres, running_postgres
from pyspark.sql import DataFrame, SparkSession

import windrow
from kafka.broker import needed
from windrow.application import Application
from windrow.errors import QueryError, SettingsError
from windrow.plan.refresh import Refresh
from windrow.spark.job.refresh_tables import Refresher
from windrow.spark.job.table_editions import keep_editions, kept_table
from windrow.spark.sources.tables import Tables

from .streams import SECOND, START, instants, put, rows_of, until

HOUR = 3_600_000_000


class Told:
    """A job that notes what it is asked."""

    is_active = True

    def __init__(self) -> None:
        self.joined: list[str] = []
        self.failures: list[str | None] = []

    def join_refreshed(self, table: str) -> None:
        self.joined.append(table)

    def tell_table(self, table: str, *, failed: str | None = None) -> None:
        self.failures.append(failed)


def test_what_has_changed_is_joined_anew_and_what_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = iter(
        [pa.table({"k": [1]}), pa.table({"k": [1]}), SettingsError("the database is gone"), pa.table({"k": [2]})]
    )

    def read(self: Tables, name: str) -> pa.Table:
        found = next(reads)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(Tables, "_read", read)
    tables, job = Tables(), Told()
    tables.refreshes["limits"] = Refresh(HOUR, "read_at")
    first = tables.rows("limits")
    refresher = Refresher(job, tables)
    for _ in range(3):
        refresher.refresh("limits")
    refresher.end()
    assert job.joined == ["limits"] and job.failures == [None, None, "the database is gone", None]
    assert first["k"].to_pylist() == [1] and tables.rows("limits")["k"].to_pylist() == [2]
    assert tables.rows("limits")["read_at"][0].as_py() > first["read_at"][0].as_py()


def test_a_table_that_is_not_there_at_a_start_has_the_rows_that_the_checkpoint_has_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refresh = Refresh(HOUR, "read_at")
    for stream, cap in (("older", 5), ("newer", 7)):
        rows = refresh.rows(pa.table({"k": ["a"], "cap": [cap]}), cap)
        (tmp_path / stream).mkdir()
        keep_editions(tmp_path / stream, {"limits": rows})
        for file in (tmp_path / stream / "tables").iterdir():
            os.utime(file, (cap, cap))

    def gone() -> DataFrame:
        raise SettingsError("jdbc cannot be read: the database does not answer")

    tables = Tables()
    assert tables.declare_kept("limits", gone, refresh) is None
    tables.begin(partial(kept_table, tmp_path))
    assert tables.declare_kept("others", gone, refresh) is None and tables.declare_kept("limits", gone, None) is None
    shown = tables.declare_kept("limits", gone, refresh)
    assert shown is not None and shown.names == ["k", "cap", "read_at"]
    assert tables.rows("limits").equals(rows)
    held = tables.held("limits")
    assert held is not None and held.plain.column_names == ["k", "cap"] and held.read_us == 7_000_000
    assert "the job goes on with the 1 rows" in caplog.text and "does not answer" in tables.unread["limits"]
    tables._shown["limits"] = shown.remove(1)  # declared otherwise by now
    tables.begin(partial(kept_table, tmp_path))
    with pytest.raises(SettingsError, match="table 'limits' is not there: jdbc cannot be read"):
        tables.rows("limits")


def test_a_refresh_that_cannot_be_is_refused() -> None:
    with pytest.raises(SettingsError, match="has a column 'K' of its own"):
        Refresh(HOUR, "K").columns("t", pa.schema({"k": pa.int32()}))
    with pytest.raises(SettingsError, match="no time between two refreshes"):
        Refresh.read("0 seconds", None)
    with pytest.raises(SettingsError, match="for a table that is read again"):
        Refresh.read(None, "read_at")


SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, k STRING, x BIGINT) USING parquet OPTIONS (path '{home}/in') TIMESTAMP BY ts
  AHEAD UNBOUNDED;
CREATE TABLE limits {limits} REFRESH 1 SECOND AS read_at;
CREATE SINK over USING parquet OPTIONS (path '{home}/over');
INSERT INTO over SELECT ticks.k, SUM(x) AS total, cap, read_at FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]
  JOIN limits ON ticks.k = limits.k GROUP BY ticks.k, cap, read_at;
"""


def ticks(first: int, last: int) -> pa.Table:
    seconds = range(first, last)
    times = instants(START + second * SECOND for second in seconds)
    return pa.table({"ts": times, "k": ["a"] * len(seconds), "x": pa.array(seconds, pa.int64())})


def run(spark: SparkSession, home: Path, limits: str, source: SimpleNamespace) -> None:
    """A limit changes, and then its source is lost: answers say which they have used."""
    put(home / "in", ticks(0, 15))
    session = windrow.Session(spark, shards=2)
    application = Application(session, SCRIPT.format(home=home, limits=limits))
    job = session.start(str(home / "checkpoint"), application.sinks, on_error="stop", restarts=0)
    try:

        def answers() -> list[dict]:  # type: ignore[type-arg]
            folder = home / "over"
            return sorted(rows_of(folder), key=lambda row: row["window_end"]) if list(folder.glob("*.parquet")) else []

        until(lambda: len(answers()) == 1)
        before = job.progress()["ticks"].tables["limits"]
        source.change()
        until(lambda: job.progress()["ticks"].tables["limits"]["version"] != before["version"])
        put(home / "in", ticks(15, 25))
        until(lambda: len(answers()) == 2)
        source.lose()
        until(lambda: job.progress()["ticks"].tables["limits"]["failed"] is not None)
        assert "limits" in str(job.progress())
        put(home / "in", ticks(25, 35))
        until(lambda: len(answers()) == 3)
        told = job.progress()["ticks"].tables["limits"]
        assert job.is_active and "cannot be read" in told["failed"]
    finally:
        job.stop()
    found = answers()
    assert [(row["total"], row["cap"]) for row in found] == [(45, 5), (145, 7), (245, 7)]
    assert found[0]["read_at"] == _instant_us(before["read"])
    assert found[1]["read_at"] == found[2]["read_at"] == _instant_us(told["read"]) > found[0]["read_at"]
    noted = json.loads((home / "checkpoint" / "status.json").read_text())
    assert noted["streams"]["ticks"]["tables"]["limits"]["version"] == told["version"]
    editions = json.loads((home / "checkpoint" / "ticks" / "tables.json").read_text())
    assert editions["limits"][-1][1] == told["version"]
    put(home / "in", ticks(35, 45))  # a start while it is lost goes on with the rows that were joined last
    session = windrow.Session(spark, shards=2)
    session.tables_kept_in(str(home / "checkpoint"))
    application = Application(session, SCRIPT.format(home=home, limits=limits))
    job = session.start(str(home / "checkpoint"), application.sinks, "available now", on_error="stop", restarts=0)
    try:
        job.wait()
        again = job.progress()["ticks"].tables["limits"]
    finally:
        job.stop()
    assert again["version"] == told["version"] and "table 'limits'" in again["failed"]
    assert [(row["total"], row["cap"]) for row in answers()][3:] == [(345, 7)]
    assert answers()[3]["read_at"] == found[2]["read_at"]


def _instant_us(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000)


def test_answers_say_which_rows_they_were_joined_with(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "limits").mkdir()
    place = tmp_path / "limits" / "0.parquet"

    def write(cap: int) -> None:
        pq.write_table(pa.table({"k": ["a"], "cap": pa.array([cap], pa.int64())}), place.with_name("_new"))
        place.with_name("_new").rename(place)

    write(5)
    source = SimpleNamespace(change=lambda: write(7), lose=lambda: place.write_bytes(b"lost"))
    run(spark, tmp_path, f"(k STRING, cap BIGINT) USING parquet OPTIONS (path '{tmp_path}/limits')", source)


@pytest.mark.slow
def test_a_database_that_is_lost_keeps_nobody(spark: SparkSession, tmp_path: Path) -> None:
    needed("postgresql")
    lacks = missing_postgres()
    if lacks is not None:
        pytest.skip(lacks)
    with running_postgres(_made(tmp_path / "database")) as database:
        database.ask("CREATE TABLE limits (k TEXT, cap BIGINT)")
        database.ask("INSERT INTO limits VALUES ('a', 5)")
        source = SimpleNamespace(
            change=lambda: database.ask("UPDATE limits SET cap = 7"),
            lose=lambda: database.ask("DROP TABLE limits"),
        )
        let_in = r'does not let the user in: FATAL: role "postgres_is_a_stranger" does not exist'
        with pytest.raises(QueryError, match=f"jdbc cannot be read: the database {let_in}"):
            stranger = f"USING jdbc OPTIONS (url '{database.url}_is_a_stranger', dbtable 'limits')"
            put(tmp_path / "none" / "in", ticks(0, 1))
            Application(windrow.Session(spark), SCRIPT.format(home=tmp_path / "none", limits=stranger))
        run(spark, tmp_path, f"USING jdbc OPTIONS (url '{database.url}', dbtable 'limits')", source)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_table_that_changing_rows_are_joined_with_is_not_read_again(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", ticks(0, 3))
    session = windrow.Session(spark, shards=2)
    session.stream_files("ticks", str(tmp_path / "in"), time="ts")
    session.table("limits", spark.createDataFrame([("a", 5)], "k STRING, cap BIGINT"), refresh="1 hour")
    session.query(
        "q", "SELECT ticks.k, cap FROM ticks [RANGE 10 SECONDS] JOIN limits ON ticks.k = limits.k EMIT CHANGES"
    )
    with pytest.raises(SettingsError, match="'limits' is joined by queries over rows that come and go"):
        session.start(str(tmp_path / "checkpoint"), {"q": windrow.sink("noop")})
    with pytest.raises(QueryError, match=r"expected a duration|REFRESH"):
        Application(windrow.Session(spark), "CREATE TABLE t USING csv OPTIONS (path 'x') REFRESH; SELECT 1 FROM t")
