"""Parquet files that tasks read by name give what Spark's own reader gives, in every folder and with every option."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError, SettingsError
from windrow.spark.job.job import Job
from windrow.spark.sources.asked import BY_NAME

from .streams import PATIENCE, SECOND, START, finish, instants, put, rows_of

SCHEMA = "ts TIMESTAMP, k STRING, x BIGINT, y DOUBLE"
QUERIES = {
    "sums": "SELECT k, SUM(x * 2) AS x, AVG(y) AS y, COUNT(*) AS n FROM ev [RANGE 5 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "few": "SELECT MAX(x) AS x, SUM(x / y) AS z FROM ev [RANGE 3 SECONDS SLIDE 3 SECONDS] WHERE x > 50 AND k <> 'b'",
}


def events(seed: int, rows: int = 40) -> pa.Table:
    drawn = random.Random(seed)
    times = [None if drawn.random() < 0.05 else START + (seed * 4 + drawn.randrange(8)) * SECOND for _ in range(rows)]
    return pa.table(
        {
            "ts": instants(times),
            "k": [drawn.choice(["a", "b", None, "c"]) for _ in range(rows)],
            "x": pa.array([drawn.choice([None, drawn.randrange(100), 2**62]) for _ in range(rows)], pa.int64()),
            "y": [drawn.choice([0.0, 1.5, None, drawn.random()]) for _ in range(rows)],
        }
    )


def run(
    spark: SparkSession,
    place: Path,
    declare: Callable[[windrow.Session], None],
    queries: dict[str, str] = QUERIES,
    flush: bool = False,
) -> tuple[dict[str, list], Any]:
    """All answers of the queries over a stream that `declare` registers, and the figures of the job."""
    session = windrow.Session(spark, shards=2)
    declare(session)
    for name, text in queries.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=place / name) for name in queries}
    job = session.start(str(place / "checkpoint"), sinks, trigger="available now")
    finish(job, flush=flush)
    found = {name: sorted(rows_of(place / name), key=repr) for name in queries}
    return found, job.progress()["ev"]


def by_name(session: windrow.Session, path: object, schema: str | None = SCHEMA, **options: Any) -> None:
    session.stream_files("ev", str(path), schema=schema, time="ts", lateness="1 second", **options)


def through_spark(session: windrow.Session, path: object, schema: str | None = SCHEMA, **options: Any) -> None:
    reader = session.spark.readStream.options(**options)
    frame = (reader.schema(schema) if schema else reader).parquet(str(path))
    session.stream("ev", frame, time="ts", lateness="1 second")


def compare(
    spark: SparkSession,
    tmp_path: Path,
    path: object,
    schema: str = SCHEMA,
    queries: dict[str, str] = QUERIES,
    **options: Any,
) -> Any:
    """The same files both ways, into the same answers and figures; returns the figures."""
    session = windrow.Session(spark, shards=2)
    by_name(session, path, schema, **options)
    assert all(BY_NAME in session.explain(text) for text in queries.values())
    mine, figures = run(spark, tmp_path / "mine", lambda s: by_name(s, path, schema, **options), queries)
    theirs, expected = run(spark, tmp_path / "theirs", lambda s: through_spark(s, path, schema, **options), queries)
    assert mine == theirs
    assert any(mine.values())
    for name in ("events", "batches", "rejected", "late_in_part", "failed", "windows", "clock", "groups"):
        assert figures[name] == expected[name], name
    return figures


def test_answers_and_figures_are_the_same_both_ways(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", *(events(seed) for seed in range(6)))
    term = "split(concat(k, ',', date_format(ts, 'E HH')), ',')[1]"
    windows = f"FROM ev [RANGE 3 SECONDS SLIDE 3 SECONDS] GROUP BY {term}"
    coded = {"coded": f"SELECT {term} AS t, format_number(SUM(hash(k, x)), 1) AS h {windows}"}
    figures = compare(spark, tmp_path, tmp_path / "in", queries=QUERIES | coded, maxFilesPerTrigger=2)
    assert figures["events"] == 240 and figures["batches"] >= 3
    assert figures["rejected"]["no time"] and figures["failed"] and figures["late_in_part"]


@pytest.mark.slow
def test_columns_in_the_names_of_folders(spark: SparkSession, tmp_path: Path):
    folders = ("day=2026-11-16/k=a%20b", "day=2026-11-17/k=b", "day=__HIVE_DEFAULT_PARTITION__/k=7")
    for seed, folder in enumerate(folders):
        put(tmp_path / "in" / folder, events(seed).drop_columns("k"))
    queries = {
        "days": "SELECT day, k, SUM(x) AS x, COUNT(*) AS n FROM ev [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY day, k",
        "one": "SELECT COUNT(*) AS n FROM ev [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE day = DATE '2026-11-16'",
    }
    compare(spark, tmp_path, tmp_path / "in", "day DATE, ts TIMESTAMP, x BIGINT, K STRING", queries)


@pytest.mark.slow
def test_columns_in_the_names_of_some_folders(spark: SparkSession, tmp_path: Path):
    for seed, folder in enumerate(("day=2026-11-16/k=a%20b", "day=2026-11-17/k=b", "day=2025-11-17/k=b")):
        put(tmp_path / "in" / folder, events(seed).drop_columns("k"))
    schema, base = "day DATE, ts TIMESTAMP, x BIGINT, K STRING", str(tmp_path / "in")
    queries = {"one": "SELECT COUNT(*) AS n FROM ev [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE k = 'b'"}
    compare(spark, tmp_path, f"{base}/day=2026*", schema, queries, basePath=base)


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("", {"latestFirst": "true", "maxFilesPerTrigger": 1, "pathGlobFilter": "*[01].parquet"}),
        pytest.param(
            "",
            {"recursiveFileLookup": "true", "maxBytesPerTrigger": 3_000, "fileNameOnly": "true", "maxFileAge": "9999d"},
            marks=pytest.mark.slow,
        ),
        pytest.param("/o*/*.parquet", {}, marks=pytest.mark.slow),
    ],
    ids=["latest", "deeper", "glob"],
)
def test_options_about_names(spark: SparkSession, tmp_path: Path, path: str, options: dict[str, Any]):
    for folder in ("", "one/deeper", "other"):
        put(tmp_path / "in" / folder, *(events(seed) for seed in range(3)))
    (tmp_path / "in" / "_hidden.parquet").write_bytes(b"no rows")
    compare(spark, tmp_path, f"{tmp_path}/in{path}", **options)


@pytest.mark.slow
def test_files_are_removed_when_they_are_done(spark: SparkSession, tmp_path: Path):
    left = []
    for way in (by_name, through_spark):
        folder = tmp_path / way.__name__
        put(folder / "in", *(events(seed) for seed in range(3)))
        run(
            spark,
            folder,
            lambda s, way=way, folder=folder: way(s, folder / "in", cleanSource="delete", maxFilesPerTrigger=1),
        )
        left.append(sorted(os.listdir(folder / "in")))
    assert left[0] == left[1] and len(left[0]) < 3


def test_files_of_other_columns_and_types_and_several_row_groups_that_tasks_share(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("windrow.spark.sources.shares.SMALL_BYTES", 1)
    folder = tmp_path / "in"
    put(folder, events(0), events(1).drop_columns("y"), events(2).drop_columns("k"))
    narrow = (
        events(3)
        .set_column(2, "X", pa.array(range(40), pa.int16()))
        .set_column(3, "Y", pa.array([1.5] * 40, pa.float32()))
    )
    put(folder, narrow)
    for number, table in enumerate((events(4), events(5))):
        place = folder / f"9{number}.parquet"
        pq.write_table(table, place, row_group_size=7, use_deprecated_int96_timestamps=bool(number))
        os.utime(place, (1_800_000_000 + number,) * 2)
    compare(spark, tmp_path, folder, maxFilesPerTrigger=2)


@pytest.mark.slow
def test_a_large_file_is_shared_by_all_tasks(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path / "in", *(events(seed, 400) for seed in range(2)))
    for number in range(2):
        pq.write_table(events(number, 400), tmp_path / "in" / f"0000{number}.parquet", row_group_size=50)
    monkeypatch.setattr("windrow.spark.sources.shares.SMALL_BYTES", 1)
    compare(spark, tmp_path, tmp_path / "in", maxFilesPerTrigger=1)


@pytest.mark.slow
def test_row_groups_that_no_query_wants_move_the_clock_all_the_same(spark: SparkSession, tmp_path: Path):
    table = pa.concat_tables([events(seed) for seed in range(4)]).drop_columns("x")
    table = table.append_column("x", pa.array([i // 40 for i in range(160)], pa.int64()))
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "0.parquet", row_group_size=40)
    queries = {
        "first": "SELECT COUNT(*) AS n, MAX(y) AS y FROM ev [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE x < 1",
        "second": "SELECT k, COUNT(*) AS n FROM ev [RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE 1 = x AND k IS NOT NULL GROUP BY k",
    }
    compare(spark, tmp_path, tmp_path / "in", queries=queries)


@pytest.mark.slow
def test_rows_that_are_counted_and_rows_that_come_and_go(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", *(events(seed, 20) for seed in range(3)))
    queries = {
        "last": "SELECT SUM(x) AS x FROM ev [ROWS 10 SLIDE 5] WHERE x > 3",
        "pairs": "SELECT DISTINCT k, x FROM ev [RANGE 2 SECONDS] WHERE x > 5",
    }
    assert compare(spark, tmp_path, tmp_path / "in", queries=queries)["events"] == 60


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT SUM(length(mask(k))) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE]", "tasks do not evaluate mask"),
        pytest.param(
            "SELECT MAX(x) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE luhn_check(k) IS NOT NULL",
            "tasks do not evaluate luhn_check",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_what_tasks_do_not_know_goes_through_spark_and_explain_says_why(
    spark: SparkSession, tmp_path: Path, text: str, reason: str
):
    put(tmp_path / "in", events(0))
    session = windrow.Session(spark, shards=1)
    by_name(session, tmp_path / "in")
    told = [line.strip() for line in session.explain(text).splitlines() if "rows come through Spark" in line]
    assert told == [f"rows come through Spark: {reason}"]
    run(spark, tmp_path, lambda s: by_name(s, tmp_path / "in"), {"q": text}, flush=True)


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    yield
    spark.conf.set(name, before)


def test_options_formats_and_files_that_are_spark_s(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(0))
    pq.write_table(
        pa.table({"ts": instants([START]), "x": pa.array([1], pa.date32())}), tmp_path / "in" / "odd.parquet"
    )
    (tmp_path / "csv").mkdir()

    def reason(
        declare: Callable[[windrow.Session], None],
        text: str = "SELECT COUNT(*) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE]",
    ) -> str:
        session = windrow.Session(spark, shards=1)
        declare(session)
        return session.explain(text).splitlines()[5].strip()

    assert reason(lambda s: by_name(s, tmp_path / "in")) == BY_NAME  # nobody asks for the odd column
    summed = "SELECT SUM(x) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE]"
    odd = reason(lambda s: by_name(s, tmp_path / "in"), summed)
    assert odd.endswith("odd.parquet has column x as date32[day], and the stream declares it BIGINT")
    merged = reason(lambda s: by_name(s, tmp_path / "in", mergeSchema=True))
    assert merged == "rows come through Spark: the option mergeSchema is for Spark's reader"
    texts = reason(lambda s: by_name(s, tmp_path / "csv", format="csv"))
    assert texts == "rows come through Spark: csv is read by Spark"
    with pytest.raises(SettingsError, match="there is nothing at"):
        by_name(windrow.Session(spark), tmp_path / "nowhere")
    words = "SELECT SUM(size(split(upper(k), ','))) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE]"
    days = "SELECT MAX(to_date(k, 'yyyy')) AS n FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE]"
    with setting(spark, "spark.sql.session.timeZone", "Asia/Tokyo"):
        assert {reason(lambda s: by_name(s, tmp_path / "in"), asked) for asked in (words, days)} == {BY_NAME}
    with setting(spark, "spark.sql.session.timeZone", "CST"):
        told = "rows come through Spark: tasks do not know the time zone CST"
        assert reason(lambda s: by_name(s, tmp_path / "in"), days) == told
    with setting(spark, "spark.sql.legacy.timeParserPolicy", "LEGACY"):
        told = "rows come through Spark: spark.sql.legacy.timeParserPolicy is LEGACY"
        assert reason(lambda s: by_name(s, tmp_path / "in"), days) == told


@pytest.mark.slow
def test_a_job_goes_on_the_other_way(spark: SparkSession, tmp_path: Path):
    """Names in a checkpoint are the same, whoever reads the files: a batch that runs again reads what it had read."""
    place = tmp_path / "switched"
    for number, way in enumerate((through_spark, by_name)):
        put(tmp_path / "in", events(number))
        session = windrow.Session(spark, shards=2)
        way(session, tmp_path / "in", maxFilesPerTrigger=1)
        session.query("sums", QUERIES["sums"])
        sinks = {"sums": windrow.sink("parquet", path=place / "sums")}
        finish(session.start(str(place / "checkpoint"), sinks, trigger="available now"), flush=number == 1)
        commits = place / "checkpoint" / "ev" / "spark" / "commits"
        last = max(int(name) for name in os.listdir(commits) if name.isdigit())
        for name in (f"{last}", f".{last}.crc") if number < 1 else ():  # as if it had been killed before it was done
            (commits / name).unlink(missing_ok=True)
    asked = {"sums": QUERIES["sums"]}
    expected, _ = run(
        spark, tmp_path, lambda s: through_spark(s, tmp_path / "in", maxFilesPerTrigger=1), asked, flush=True
    )
    assert sorted(rows_of(place / "sums"), key=repr) == expected["sums"]


def test_a_broken_file_stops_the_job_and_is_named(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in put", events(0))
    (tmp_path / "in put" / "00001 broken.parquet").write_bytes(b"PAR1 and then nothing that makes sense PAR1")
    with pytest.raises(JobError, match=r"the file \S*00001.*broken\.parquet cannot be read; remove it or mend it"):
        run(spark, tmp_path, lambda s: by_name(s, tmp_path / "in put"))


@pytest.mark.slow
def test_a_file_that_is_cut_off_inside_stops_the_job_and_is_named(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(0, 5_000))
    whole = (tmp_path / "in" / "00000.parquet").read_bytes()
    (tmp_path / "in" / "00000.parquet").write_bytes(whole[:4] + b"\0" * 3_000 + whole[3_004:])
    with pytest.raises(JobError, match=r"the file \S*00000\.parquet cannot be read; remove it or mend it"):
        run(spark, tmp_path, lambda s: by_name(s, tmp_path / "in"))


def test_a_file_of_another_type_that_comes_later_is_named(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(0))
    session = windrow.Session(spark, shards=1)
    by_name(session, tmp_path / "in", maxFilesPerTrigger=1)
    session.query("sums", QUERIES["sums"])
    job = session.start(str(tmp_path / "checkpoint"), {"sums": windrow.sink("noop")})
    put(tmp_path / "in", pa.table({"ts": instants([START]), "x": ["many"]}))
    with pytest.raises(JobError, match=r"00001.parquet has column x as string, and the stream declares it BIGINT"):
        job.wait(PATIENCE)


def test_a_file_that_is_gone_stops_the_job_by_name_or_is_counted(spark: SparkSession, tmp_path: Path):
    folder, checkpoint = tmp_path / "in put%20", tmp_path / "checkpoint"
    put(folder, *(pa.table({"ts": instants([START + second * SECOND])}) for second in (1, 2)))

    def started(**options: Any) -> Job:
        session = windrow.Session(spark, shards=1)
        by_name(session, folder, "ts TIMESTAMP", maxFilesPerTrigger=1, **options)
        session.query("counts", "SELECT COUNT(*) AS n FROM ev [RANGE 1 SECOND SLIDE 1 SECOND]")
        sinks = {"counts": windrow.sink("parquet", path=tmp_path / "out")}
        return session.start(str(checkpoint), sinks, trigger="available now")

    finish(started(), flush=False)
    before = sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").exists() else []
    for name in ("1", ".1.crc"):  # as if it had been killed before it was done
        (checkpoint / "ev" / "spark" / "commits" / name).unlink(missing_ok=True)
    (folder / "00001.parquet").rename(tmp_path / "elsewhere")
    with pytest.raises(JobError, match=r"the file \S+/in put%20/00001\.parquet is gone since Spark noted what to read"):
        started().wait(PATIENCE)
    assert (sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").exists() else []) == before
    job = started(ignoreMissingFiles=True)
    finish(job, flush=False)
    assert (job.progress()["ev"]["missing_files"], job.progress()["ev"]["events"]) == (1, 0)


@pytest.mark.slow
def test_a_script_reads_by_name_and_counts_what_is_ahead(spark: SparkSession, tmp_path: Path):
    from windrow.application import Application

    ahead = pa.table({"ts": instants([START, 4_000_000_000 * SECOND]), "x": [1, 2]})
    put(tmp_path / "in", ahead)
    script = f"""CREATE STREAM ev (ts TIMESTAMP, x BIGINT) USING parquet OPTIONS (path '{tmp_path}/in')
                 TIMESTAMP BY ts LATENESS 1 SECOND AHEAD 1 HOUR;
                 CREATE SINK s USING noop;
                 INSERT INTO s SELECT SUM(x) AS x FROM ev [RANGE 1 MINUTE SLIDE 1 MINUTE];"""
    application = Application(windrow.Session(spark, shards=1), script)
    assert BY_NAME in application.session.explain()
    job = application.session.start(str(tmp_path / "checkpoint"), application.sinks, trigger="available now")
    finish(job)
    assert (job.progress()["ev"]["rejected"]["ahead"], job.progress()["ev"]["events"]) == (1, 2)
