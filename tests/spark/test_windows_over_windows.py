"""Windows over windows on Spark: the answers of replay and of DuckDB, in the same batch, also where a job goes on."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.errors import QueryError, SettingsError
from windrow.session import Session
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.job import Job

from .streams import SECOND, START, Rows, finish, instants, put, rows_of, stream_of, table_of, until

SCHEMA = "ts TIMESTAMP, item STRING, qty BIGINT, price BIGINT"
FILES, ROWS = 3, 80
LATENESS = 2 * SECOND
TABLE = pa.table({"item": ["nut", "nut", "gear"], "who": ["ann", "bob", "bob"]})
DERIVED = {
    "per_second": """SELECT item, qty, SUM(price) AS s, COUNT(*) AS n FROM a [RANGE 1 SECOND SLIDE 1 SECOND]
                     GROUP BY item, qty"""
}
LONG = "[RANGE 10 SECONDS SLIDE 2 SECONDS]"
EACH = "SELECT item, SUM(price) AS s FROM a [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY item"
FIVE = "SELECT item, MAX(s) AS s FROM per_second [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY item"
QUERIES = {
    "plain": f"SELECT item, COUNT(*) AS n FROM a {LONG} GROUP BY item",
    "same": f"SELECT item, qty, MAX(n) AS m, COUNT(*) AS c FROM per_second {LONG} GROUP BY item, qty",
    "fewer": f"SELECT item, SUM(n) AS m, MAX(s) AS s FROM per_second {LONG} GROUP BY item",
    "inline": f"SELECT MAX(s) AS s, COUNT(*) AS n FROM ({EACH}) AS q {LONG} WHERE s > 3",
    "deep": f"WITH five AS ({FIVE}) SELECT SUM(s) AS s, COUNT(*) AS n FROM five [RANGE 20 SECONDS SLIDE 10 SECONDS]",
    "joined": f"""SELECT who, SUM(n) AS n FROM per_second {LONG} JOIN fav ON per_second.item = fav.item GROUP BY who""",
    "changes": f"SELECT item, MAX(n) AS m FROM per_second {LONG} GROUP BY item EMIT CHANGES",
    "distinct": "SELECT DISTINCT item, n FROM per_second [RANGE 4 SECONDS SLIDE 4 SECONDS]",
    "levels": """SELECT item, SUM(n) AS n FROM per_second [RANGES 20 SECONDS, 10 SECONDS SLIDES 10 SECONDS, 5 SECONDS]
                 GROUP BY item""",
    "rows": """SELECT MAX(n) AS m FROM (SELECT COUNT(*) AS n FROM a [RANGE 2 SECONDS SLIDE 1 SECOND]) AS q
               [ROWS 5 SLIDE 2]""",
}
JUDGED = {
    "same": ("per_second", 10, 2, "item, qty, MAX(n) AS m, COUNT(*) AS c", "item, qty"),
    "fewer": ("per_second", 10, 2, "item, SUM(n) AS m, MAX(s) AS s", "item"),
    "inline": ("(SELECT * FROM each WHERE s > 3)", 10, 2, "MAX(s) AS s, COUNT(*) AS n", None),
    "deep": ("five", 20, 10, "SUM(s) AS s, COUNT(*) AS n", None),
    "joined": ("(SELECT * FROM per_second JOIN fav USING (item))", 10, 2, "who, SUM(n) AS n", "who"),
    "distinct": ("per_second", 4, 4, "item, n", "item, n"),
}
"""What DuckDB is asked: over whose rows, the range and slide in seconds, what, and by which groups."""


def some_events() -> pa.Table:
    random = np.random.default_rng(7)
    rows = FILES * ROWS
    times = START + np.sort(random.integers(0, 90 * SECOND, rows)) - random.integers(0, LATENESS, rows)
    return pa.table(
        {
            "ts": instants(np.maximum(times, START).tolist()),
            "item": pa.array(random.choice(["nut", "bolt", "gear", None], rows).tolist()),
            "qty": pa.array(random.integers(1, 4, rows)),
            "price": pa.array(random.integers(0, 5, rows)),
        }
    )


def session_over(
    spark: SparkSession, folder: Path, queries: dict[str, str] = QUERIES, table: pa.Table = TABLE
) -> Session:
    session = windrow.Session(spark, shards=2)
    session.stream("a", stream_of(spark, folder / "a", SCHEMA), time="ts", lateness="2 seconds")
    session.table("fav", spark.createDataFrame(table))
    for name, text in DERIVED.items():
        session.derive(name, text)
    for name, text in queries.items():
        session.query(name, text)
    return session


def sinks_of(folder: Path, queries: dict[str, str] = QUERIES) -> dict[str, windrow.Sink]:
    return {name: windrow.sink("parquet", path=folder / "out" / name) for name in queries}


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a job that was stopped after half of the files, and went on with the others."""
    folder = tmp_path_factory.mktemp("over")
    files = [some_events().slice(start, ROWS) for start in range(0, FILES * ROWS, ROWS)]
    for half in (slice(0, 2), slice(2, FILES)):
        put(folder / "a", *files[half])
        session = session_over(spark, folder)
        job = session.start(str(folder / "checkpoint"), sinks_of(folder), trigger="available now")
        finish(job, flush=False)
        if half.stop == FILES:
            _check_horizon(job)
            finish(job)
    return folder


def _check_horizon(job: Job) -> None:
    """What a query with levels holds is read from the stage that folds it, as of the last batch."""
    at = job.state_at("levels", "15 seconds")
    with duckdb.connect() as db:
        db.register("happened", some_events().append_column("t", some_events()["ts"].cast(pa.int64())))
        within = f"end_us > {at.start_us} AND end_us <= {at.end_us}"
        expected = db.sql(
            f"SELECT item, COUNT(*) FROM (SELECT item, (t // {SECOND} + 1) * {SECOND} AS end_us FROM happened) WHERE {within} GROUP BY item"
        ).fetchall()
    assert at.end_us - at.start_us >= 15 * SECOND
    assert sorted(((row["item"], row["n"]) for row in at.rows.collect()), key=repr) == sorted(expected, key=repr)


def replayed(name: str) -> pa.Table:
    settings = {"tables": {"fav": TABLE}, "derived": DERIVED, "lateness": "2 seconds", "batch_rows": ROWS}
    return windrow.replay(QUERIES[name], flush=True, a=some_events(), **settings)


def sorted_rows(rows: Rows) -> list[str]:
    return sorted(repr({name: value for name, value in row.items() if name != "window_start"}) for row in rows)


@pytest.mark.parametrize("name", QUERIES)
def test_spark_answers_as_replay_does(folder: Path, name: str):
    expected = replayed(name)
    assert expected.num_rows > 5
    assert sorted_rows(rows_of(folder / "out" / name)) == sorted_rows(rows_of(expected))


@pytest.mark.parametrize("name", JUDGED)
def test_a_window_holds_exactly_the_answers_that_lie_in_it(folder: Path, name: str):
    with duckdb.connect() as db:
        db.register("happened", some_events().append_column("t", some_events()["ts"].cast(pa.int64())))
        db.register("fav", TABLE)

        def over(
            source: str, range_s: int, slide_s: int, what: str, keys: str | None, at: str = "window_end - 1"
        ) -> str:
            ends = f"SELECT unnest(generate_series({START}, {START + 200 * SECOND}, {slide_s * SECOND})) AS e"
            group = "" if keys is None else f", {keys}"
            within = f"{at} >= e - {range_s * SECOND} AND {at} < e"
            return f"SELECT e AS window_end, {what} FROM (SELECT * FROM {source}), ({ends}) WHERE {within} GROUP BY e{group}"

        def table(name: str, *asked: str | int | None) -> None:
            db.execute(f"CREATE TABLE {name} AS {over(*asked)}")

        table("per_second", "happened", 1, 1, "item, qty, SUM(price) AS s, COUNT(*) AS n", "item, qty", "t")
        table("each", "happened", 2, 1, "item, SUM(price) AS s", "item", "t")
        table("five", "(SELECT * RENAME (window_end AS t) FROM per_second)", 5, 5, "item, MAX(s) AS s", "item", "t - 1")
        source, *asked = JUDGED[name]
        renamed = f"(SELECT * RENAME (window_end AS t) FROM {source})"
        expected = db.sql(over(renamed, *asked, at="t - 1")).to_arrow_table().to_pylist()
    whole = [{k: v if isinstance(v, str | None) else int(v) for k, v in row.items()} for row in expected]
    assert len(whole) > 5
    assert sorted_rows(rows_of(folder / "out" / name)) == sorted_rows(whole)


@pytest.mark.parametrize(("name", "slide"), [("plain", 2), ("same", 2), ("fewer", 2), ("inline", 2), ("deep", 10)])
def test_the_outer_window_is_answered_in_the_batch_that_closes_the_inner(folder: Path, name: str, slide: int):
    clock, times = START, some_events()["ts"].cast(pa.int64()).to_numpy()
    for batch in range(FILES):
        before, clock = clock, max(clock, int(times[: (batch + 1) * ROWS].max()) - LATENESS)
        due = set(range(before // (slide * SECOND) * slide * SECOND, clock + 1, slide * SECOND))
        due = {end for end in due if before < end <= clock}
        found = table_of(folder / "out" / name, batch)["window_end"].cast(pa.int64()).to_pylist()
        assert set(found) == due, f"batch {batch}"


def test_a_query_with_more_stages_comes_to_a_running_job_and_stays(spark: SparkSession, tmp_path: Path):
    """It runs in a Spark query of its own, since a checkpoint keeps the number of stages, and reads the stream anew."""
    files = [some_events().slice(start, ROWS) for start in range(0, FILES * ROWS, ROWS)]
    put(tmp_path / "a", *files[:1])
    began = {"same": QUERIES["same"]}
    start = (str(tmp_path / "checkpoint"), sinks_of(tmp_path, began))
    job = session_over(spark, tmp_path, began).start(*start)
    try:
        until(lambda: job.progress().get("a", {}).get("batches", 0) >= 1)
        sink = windrow.sink("parquet", path=tmp_path / "out" / "fewer")
        with pytest.raises(SettingsError, match="cannot have maintenance 'subtract'"):
            job.add("fewer", QUERIES["fewer"], sink, choose={"maintenance": "subtract"})
        job.add("fewer", QUERIES["fewer"], sink, choose={"maintenance": "DABA"})
        job.add("changes", QUERIES["changes"], windrow.sink("parquet", path=tmp_path / "out" / "changes"))
        until(lambda: job.progress().get("changes-2-a", {}).get("batches", 0) >= 1)
        job.drop("changes")
    finally:
        job.stop()
    put(tmp_path / "a", *files[1:])
    job = session_over(spark, tmp_path, began).start(*start, trigger="available now")
    finish(job)
    assert sorted(job.queries) == ["fewer", "same"]
    assert QueryEdits.read(job.checkpoint).added["fewer"].choose == (("maintenance", "DABA"),)
    for name in job.queries:
        assert sorted_rows(rows_of(tmp_path / "out" / name)) == sorted_rows(rows_of(replayed(name)))


CAPPED = {
    name: f"SELECT {keys}, SUM(n * cap) AS c FROM per_second [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    f" JOIN caps ON per_second.item = caps.item GROUP BY {keys}"
    for name, keys in {"here": "per_second.item, qty", "away": "per_second.item"}.items()
}
"""Answers that are joined in the shards that give them, and in a stage more."""


@pytest.mark.slow
def test_a_batch_that_runs_again_joins_answers_with_the_table_it_had(spark: SparkSession, tmp_path: Path):
    files = [some_events().slice(start, ROWS) for start in range(0, FILES * ROWS, ROWS)]
    old, new = (
        pa.table({"item": ["nut", "gear"], "cap": pa.array(caps, pa.int64())})
        for caps in ([1, 100], [10_000, 1000_000])
    )
    start = (str(tmp_path / "checkpoint"), sinks_of(tmp_path, CAPPED), "available now")
    for table, some in ((old, files[:2]), (new, files[2:])):
        put(tmp_path / "a", *some)
        session = session_over(spark, tmp_path, {})
        session.table("caps", spark.createDataFrame(table))
        for name, text in CAPPED.items():
            session.query(name, text)
        finish(session.start(*start), flush=table is new)
        if table is old:
            before = {name: table_of(tmp_path / "out" / name, batch=1) for name in CAPPED}
            for run in ("changes-2-a",):
                for log in (tmp_path / "checkpoint" / run / "spark" / "commits").glob("*1*"):
                    log.unlink()  # as if the job had died before batch 1 was done
    clock = int(some_events()["ts"].cast(pa.int64()).to_numpy()[: 2 * ROWS].max()) - LATENESS
    with duckdb.connect() as db:
        db.register("happened", some_events().append_column("t", some_events()["ts"].cast(pa.int64())))
        db.register("old", old)
        db.register("new", new)
        db.execute(f"""CREATE TABLE each AS SELECT item, qty, t // {SECOND} + 1 AS second, COUNT(*) AS n FROM happened GROUP BY ALL;
            CREATE TABLE joined AS SELECT e.*, n * if(second * {SECOND} <= {clock}, o.cap, w.cap) AS c,
            (second - 1) // 10 * 10 + 10 AS w FROM each AS e JOIN old AS o USING (item) JOIN new AS w USING (item)""")
        keys = {"here": "item, qty", "away": "item"}
        expected = {
            name: db.sql(f"SELECT w * {SECOND} AS window_end, {own}, SUM(c)::BIGINT AS c FROM joined GROUP BY ALL")
            .to_arrow_table()
            .to_pylist()
            for name, own in keys.items()
        }
    for name in CAPPED:
        assert table_of(tmp_path / "out" / name, batch=1).equals(before[name])
        assert before[name].num_rows and any(row["c"] >= 10_000 for row in expected[name])
        assert sorted_rows(rows_of(tmp_path / "out" / name)) == sorted_rows(expected[name])


def test_a_script_makes_streams_of_answers(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "a", some_events().slice(0, 5))
    made = Application(
        windrow.Session(spark, shards=2),
        f"""CREATE STREAM a (ts TIMESTAMP, item STRING, qty BIGINT, price BIGINT)
              USING parquet OPTIONS (path '{tmp_path / "a"}') TIMESTAMP BY ts;
            CREATE STREAM per_second AS {DERIVED["per_second"]};
            CREATE SINK fewer USING parquet OPTIONS (path '{tmp_path / "out" / "fewer"}');
            INSERT INTO fewer {QUERIES["fewer"]}""",
    )
    assert list(made.sinks) == ["fewer"]
    told = made.session.explain()
    assert "stream per_second: made of the answers of query #per_second; its clock is that of a" in told
    assert "changes-2-a: 2 stages in each batch, for fewer" in told
    with pytest.raises(QueryError, match="only whole answers are events of a stream"):
        made.session.derive("told", f"{DERIVED['per_second']} EMIT CHANGES")
    with pytest.raises(QueryError, match="only final answers are events of a stream"):
        made.session.derive(
            "early", "SELECT COUNT(*) AS n FROM a [RANGE 4 SECONDS SLIDE 4 SECONDS EMIT EVERY 1 SECOND]"
        )
