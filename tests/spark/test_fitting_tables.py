"""Tables that rows do not fit, and databases that do not answer, are refused by name before anything starts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError

from .streams import SECOND, START, instants, put

SUMS = "SELECT k, SUM(x) AS total FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k"
DRIVER = {"driver": "org.apache.derby.jdbc.EmbeddedDriver", "createTableColumnTypes": "k VARCHAR(20)"}


def test_rows_that_a_table_cannot_take_are_refused_before_anything_starts(spark: SparkSession, tmp_path: Path) -> None:
    ticks = pa.table({"ts": instants([START, START + SECOND]), "k": ["a", "b"], "x": pa.array([1, 2], pa.int64())})
    put(tmp_path / "in", ticks)
    url = f"jdbc:derby:{tmp_path / 'derby'};create=true"
    tables = {
        "keyless": "total BIGINT",
        "texts": "window_start TIMESTAMP, window_end TIMESTAMP, k STRING, total STRING",
        "fits": "window_start TIMESTAMP, window_end TIMESTAMP, k STRING, total BIGINT, more INT",
    }
    for name, columns in tables.items():
        empty = spark.createDataFrame([], columns)
        types = {"createTableColumnTypes": "k VARCHAR(20)"} if "k STRING" in columns else {}
        empty.write.format("jdbc").options(url=url, dbtable=name, driver=DRIVER["driver"], **types).save()

    def start(text: str, **options: object) -> None:
        session = windrow.Session(spark, shards=1)
        session.stream_files("ticks", str(tmp_path / "in"), time="ts")
        session.query("q", text)
        place = str(tmp_path / f"checkpoint_{len(list(tmp_path.iterdir()))}")
        job = session.start(place, {"q": windrow.sink("jdbc", **({"url": url} | DRIVER | options))}, "available now")
        try:
            job.wait()
        finally:
            job.stop()

    changes = SUMS + " EMIT CHANGES"
    with pytest.raises(SettingsError, match=r"rows do not fit the table keyless: it has no column k; its columns: "):
        start(changes, dbtable="keyless", holds="answer", key="k")
    with pytest.raises(SettingsError, match="it has no column window_start"):
        start(SUMS, dbtable="keyless")
    with pytest.raises(SettingsError, match="total is BIGINT in the rows, and STRING in the table"):
        start(SUMS, dbtable="texts")
    with pytest.raises(SettingsError, match=r"the database of table fits cannot be reached: .*not found"):
        start(SUMS, dbtable="fits", url=f"jdbc:derby:{tmp_path / 'elsewhere'}")
    start(SUMS, dbtable="fits")


def test_an_answer_that_a_table_of_a_lake_cannot_take_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "lake"), pa.table({"k": ["a"], "sums": pa.array([1], pa.int64())}))
    ticks = pa.table({"ts": instants([START]), "k": ["a"], "x": pa.array([1], pa.int64())})
    put(tmp_path / "in", ticks)
    session = windrow.Session(spark, shards=1)
    session.stream_files("ticks", str(tmp_path / "in"), time="ts")
    session.query("q", SUMS + " EMIT CHANGES")
    sink = windrow.sink("delta", path=tmp_path / "lake", holds="answer")
    with pytest.raises(SettingsError, match=r"do not fit the table .*: column 2 is total int64 here, and sums int64"):
        session.start(str(tmp_path / "checkpoint"), {"q": sink})
