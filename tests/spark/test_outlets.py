"""Rows that tasks finish and write: one Spark job a batch, and the same rows and types that Spark would have written."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError, SettingsError

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of

SCHEMA = "ts TIMESTAMP, k STRING, i INT, x DOUBLE, m DECIMAL(8, 3), day DATE, list ARRAY<INT>"
SUMS = "SELECT k, SUM(i) AS total FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k"
QUERIES = {
    "sums": SUMS,
    "top": f"{SUMS} ORDER BY total DESC LIMIT 1",
    "changes": f"{SUMS} EMIT CHANGES",
    "rows": "SELECT DISTINCT k FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS]",
    "types": """SELECT k, MAX(i) AS i, MAX(x) AS x, MAX(m) AS m, MAX(day) AS day, MAX(ts) AS ts, FIRST(list) AS list,
                       COLLECT_LIST(i) AS every, SUM(m) / 3 AS share, upper(k) AS name
                FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k""",
    "texts": f"{SUMS} HAVING SUM(i) >= 0",
    "lines": SUMS,
    "folders": SUMS,
    "ranked": f"{SUMS} ORDER BY total DESC LIMIT 1",
    "sounds": SUMS.replace("SELECT k", "SELECT k AS sound"),
    "by_spark": """SELECT elt(1, k) AS sound, total FROM (SELECT k, SUM(i) AS total
                   FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k) AS sums""",
}


def ticks(first: int) -> pa.Table:
    times = range(first, first + 20)
    return pa.table(
        {
            "ts": instants(START + time * SECOND for time in times),
            "k": pa.array(["ab", "cd", None][time % 3] for time in times),
            "i": pa.array(times, pa.int32()),
            "x": pa.array(time / 7 for time in times),
            "m": pa.array(times, pa.int64())
            .cast(pa.decimal128(19))
            .cast(pa.decimal128(22, 3))
            .cast(pa.decimal128(8, 3)),
            "day": pa.array((19_000 + time for time in times), pa.int32()).cast(pa.date32()),
            "list": pa.array([[time, None] for time in times], pa.list_(pa.int32())),
        }
    )


def run(spark: SparkSession, folder: Path, names: list[str], sinks: dict[str, windrow.Sink] | None = None):
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, folder / "in", SCHEMA), time="ts")
    for name in names:
        session.query(name, QUERIES[name])
    usual = {name: windrow.sink("parquet", path=folder / name) for name in names}
    job = session.start(str(folder / "checkpoint"), usual | (sinks or {}), trigger="available now")
    finish(job, flush=False)
    figures = job.progress()["ticks"]
    assert set(figures.query_seconds) == set(names), "each has its part of the time, whatever it shares"
    assert set(figures.sink_seconds) <= set(names)
    return session


def jobs_of(spark: SparkSession, work: Callable[[], object]) -> int:
    """How many Spark jobs `work` starts."""

    def newest() -> int:
        jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
        return max((jobs.apply(place).jobId() for place in range(jobs.size())), default=-1)

    before = newest()
    work()
    return newest() - before


def test_a_batch_is_one_spark_job_however_many_sinks_it_has(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", ticks(0), ticks(20))
    names = ["sums", "top", "changes", "types", "texts", "lines", "folders", "rows", "ranked"]
    shared = windrow.sink("csv", path=tmp_path / "texts", header=True, compression="gzip")
    other = {
        "top": windrow.sink("memory"),
        "changes": windrow.sink("noop"),
        "texts": shared,
        "lines": shared,
        "ranked": shared,
        "folders": windrow.sink("json", path=tmp_path / "folders", partitionBy="k"),
    }
    assert jobs_of(spark, lambda: run(spark, tmp_path, names, other)) == 2
    sums = [(row["window_end"], row["k"], row["total"]) for row in rows_of(tmp_path / "sums")]
    tops = [(row["window_end"], row["k"], row["total"]) for row in rows_of(spark.table("top"))]
    schema = "window_start TIMESTAMP, window_end TIMESTAMP, k STRING, total BIGINT"
    texts = rows_of(spark.read.schema(schema).csv(str(tmp_path / "texts"), header=True))
    assert Counter((row["window_end"], row["k"], row["total"]) for row in texts) == Counter(sums + sums + tops)
    assert len(list((tmp_path / "texts").glob("*.csv.gz"))) == 2 * 2 + 2, "a file of a shard, and the ranked rows"
    folders = spark.read.schema("window_end TIMESTAMP, total BIGINT, k STRING").json(str(tmp_path / "folders"))
    assert sorted(map(repr, ((row["window_end"], row["k"], row["total"]) for row in rows_of(folders)))) == sorted(
        map(repr, sums)
    )
    found = {path.name for path in (tmp_path / "folders").iterdir()}
    assert found == {"k=ab", "k=cd", "k=__HIVE_DEFAULT_PARTITION__", "_windrow"}
    first = [row["total"] for row in rows_of(tmp_path / "sums") if row["window_end"] == START + 5 * SECOND]
    assert sorted(first) == [2, 3, 5]
    assert spark.table("top").count() == 7


def test_tasks_write_what_spark_would_have(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", ticks(0))
    session = run(spark, tmp_path, ["types", "rows", "changes"])
    for name in ("types", "rows", "changes"):
        results = session.sql(QUERIES[name])
        written = spark.read.parquet(str(tmp_path / name))
        assert [(f.name, f.dataType) for f in written.schema] == [(f.name, f.dataType) for f in results.schema]
        query = results.writeStream.format("memory").queryName(f"{name}_in_memory").trigger(availableNow=True).start()
        query.awaitTermination()
        expected = rows_of(spark.table(f"{name}_in_memory"))
        assert len(expected) > 5
        assert sorted(map(repr, rows_of(tmp_path / name))) == sorted(map(repr, expected))


def test_a_function_that_tasks_do_not_know_goes_through_spark_beside_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(tmp_path / "in", ticks(0))
    place = windrow.sink("parquet", path=tmp_path / "by_spark")
    session = run(spark, tmp_path, ["sums", "by_spark", "sounds"], {"sounds": place})
    told = session.explain(
        sinks={"sums": place, "by_spark": place, "sounds": windrow.sink("csv", path="x", quoteAll=True)}
    )
    assert f"sink of sums: parquet files in {place.path}, written by the tasks that slide\n" in told
    own = "through Spark, a job of its own in each batch: an expression over answers is Spark's own: ELT(1, key_0)"
    assert "sink of by_spark: " in told and own in told
    assert told.endswith("the option quoteAll is known to Spark's own writer alone")
    sums = [(row["window_end"], row["k"], row["total"]) for row in rows_of(tmp_path / "sums")]
    shared = [(row["window_end"], row["sound"], row["total"]) for row in rows_of(tmp_path / "by_spark")]
    assert Counter(shared) == Counter(sums + sums) and len(sums) > 5


def test_what_an_attempt_that_died_has_left_is_shown_to_nobody(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", ticks(0))
    run(spark, tmp_path, ["sums"])
    (shown,) = {path.name.rpartition("-000000000-")[0] for path in (tmp_path / "sums").glob("*.parquet")}
    left = tmp_path / "sums" / "_windrow" / f"{shown}-000000001-0123" / "00000-7.snappy.parquet"
    left.parent.mkdir(parents=True)
    left.write_text("half a file")
    put(tmp_path / "in", ticks(20))
    run(spark, tmp_path, ["sums"])
    expected = windrow.replay(SUMS, ticks=pa.concat_tables([ticks(0), ticks(20)]))
    assert sorted(map(repr, rows_of(tmp_path / "sums"))) == sorted(map(repr, rows_of(expected)))
    assert not left.parent.exists()


def test_rows_of_other_columns_are_refused_in_a_folder_that_has_a_query_already(spark: SparkSession, tmp_path: Path):
    session = windrow.Session(spark, shards=2)
    session.stream_files("ticks", str(tmp_path), schema=SCHEMA, time="ts")
    session.query("sums", SUMS)
    session.query("named", SUMS.replace("SELECT k", "SELECT 'all' AS k"))
    session.query("means", SUMS.replace("SUM(i) AS total", "AVG(i) AS mean"))
    sinks = {name: windrow.sink("parquet", path=tmp_path / "out") for name in ("sums", "named", "means")}
    told = (
        "the rows of 'means' cannot be in one file with those of 'sums': column 4 is mean double here, and total int64"
    )
    with pytest.raises(SettingsError, match=told):
        session.start(str(tmp_path / "checkpoint"), sinks)
    assert not (tmp_path / "checkpoint").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few pages."""
    place = tmp_path / "disk"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full_stops_the_job_by_name_and_it_goes_on_when_there_is_room(
    spark: SparkSession, tmp_path: Path, small_disk: Path
) -> None:
    put(tmp_path / "in", ticks(0), ticks(20))
    sink = {"sums": windrow.sink("parquet", path=small_disk / "sums")}
    with open(small_disk / "filler", "wb", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(4096)):
            pass
    with pytest.raises(JobError, match=r"disk/sums.* cannot be written: .*[Nn]o space left on device"):
        run(spark, tmp_path, ["sums"], sink)
    assert [path for path in small_disk.rglob("*.parquet")] == [], "nothing half-written is left, or shown"
    (small_disk / "filler").unlink()
    run(spark, tmp_path, ["sums"], sink)
    expected = windrow.replay(SUMS, ticks=pa.concat_tables([ticks(0), ticks(20)]))
    assert sorted(map(repr, rows_of(small_disk / "sums"))) == sorted(map(repr, rows_of(expected)))
