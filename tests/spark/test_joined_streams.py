"""A stream joined with tables on Spark: the answers of replay, Spark's own functions, and one table for each batch."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import ChangeError
from windrow.session import Session

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of, table_of, until

SCHEMA = "ts TIMESTAMP, item STRING, price DOUBLE, qty BIGINT"
TABLE = pa.table(
    {
        "item": ["nut", "nut", "gear", None, "cog"],
        "who": ["ann", "bob", "bob", "eve", "cid"],
        "most": pa.array([40, 60, None, 1, 5], pa.int64()),
    }
)
ON = "JOIN fav AS f ON a.item = f.item"
QUERIES = {
    "sums": f"SELECT who, SUM(qty * most) AS s, COUNT(*) AS n FROM a [RANGE 9 SECONDS SLIDE 4 SECONDS] {ON} GROUP BY who",
    "longer": f"SELECT who, MAX(most - qty) AS m FROM a [RANGE 20 SECONDS SLIDE 5 SECONDS] {ON} GROUP BY who",
    "left": f"SELECT a.item, who, SUM(price) AS p FROM a [RANGE 9 SECONDS SLIDE 4 SECONDS] LEFT {ON} GROUP BY 1, 2",
    "rows": f"SELECT COUNT(*) AS n, LAST(who) AS w, SUM(qty) AS q FROM a [ROWS 12 SLIDE 5] {ON}",
    "keyed": f"SELECT who, LAST(qty) AS q FROM a [PARTITION BY item ROWS 3 SLIDE 2] {ON} GROUP BY who",
    "levels": f"SELECT COUNT(*) AS n, SUM(most) AS s FROM a [RANGES 20 SECONDS, 8 SECONDS SLIDES 4 SECONDS, 2 SECONDS] {ON}",
    "early": f"SELECT who, COUNT(*) AS n FROM a [RANGE 10 SECONDS SLIDE 5 SECONDS EMIT EVERY 2 SECONDS] {ON} GROUP BY who",
    "first": f"SELECT who, SUM(qty) AS q FROM a [RANGE 9 SECONDS SLIDE 4 SECONDS] {ON} GROUP BY who ORDER BY q DESC LIMIT 1",
    "plain": "SELECT item, COUNT(*) AS n FROM a [RANGE 9 SECONDS SLIDE 4 SECONDS] GROUP BY item",
}
FILES, ROWS = 6, 40


def some_events(seed: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    rows = FILES * ROWS
    times = START + np.sort(random.integers(0, 160, rows)) * SECOND // 2
    return pa.table(
        {
            "ts": instants(times.tolist()),
            "item": pa.array(random.choice(["nut", "bolt", "gear", None], rows).tolist()),
            "price": pa.array(random.integers(0, 5, rows) * 0.5),
            "qty": pa.array(random.integers(1, 4, rows)),
        }
    )


def files_of(events: pa.Table) -> list[pa.Table]:
    return [events.slice(start, ROWS) for start in range(0, events.num_rows, ROWS)]


def session_over(spark: SparkSession, folder: Path, table: pa.Table, queries: dict[str, str]) -> Session:
    session = windrow.Session(spark, shards=2)
    session.stream("a", stream_of(spark, folder / "a", SCHEMA), time="ts")
    session.table("fav", spark.createDataFrame(table))
    for name, text in queries.items():
        session.query(name, text)
    return session


def sinks_of(folder: Path, queries: dict[str, str]) -> dict[str, windrow.Sink]:
    return {name: windrow.sink("parquet", path=folder / "out" / name) for name in queries}


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a job that was stopped after half of the files, and went on with the others."""
    folder = tmp_path_factory.mktemp("joined")
    files = files_of(some_events())
    for half in (slice(0, FILES // 2), slice(FILES // 2, FILES)):
        put(folder / "a", *files[half])
        job = session_over(spark, folder, TABLE, QUERIES).start(
            str(folder / "checkpoint"), sinks_of(folder, QUERIES), trigger="available now"
        )
        finish(job, flush=half.stop == FILES)
    return folder


@pytest.mark.parametrize("name", QUERIES)
def test_spark_answers_as_replay_does(folder: Path, name: str):
    expected = windrow.replay(QUERIES[name], tables={"fav": TABLE}, batch_rows=ROWS, flush=True, a=some_events())
    assert expected.num_rows > 5
    assert sorted(map(repr, rows_of(folder / "out" / name))) == sorted(map(repr, rows_of(expected)))


def test_all_run_over_one_scan_and_those_of_equal_rows_share_panes(spark: SparkSession, tmp_path: Path):
    (tmp_path / "a").mkdir()
    told = session_over(spark, tmp_path, TABLE, QUERIES).explain()
    assert told.count("one scan,") == 1
    assert "shared by 4 queries: sums, longer, early, first" in told
    assert "inner join with table fav on `item` = `fav.item`" in told


def windows_by_duckdb(events: pa.Table, table: pa.Table, select: str) -> list[tuple]:
    """`select` over the join of the events of each ten seconds."""
    with duckdb.connect() as db:
        db.register("a", events.append_column("t", events["ts"].cast(pa.int64())))
        db.register("f", table)
        end = f"(t // {10 * SECOND} + 1) * {10 * SECOND}"
        found = db.sql(f"SELECT {end} AS e, who, {select} FROM a JOIN f ON a.item = f.item GROUP BY e, who")
        return sorted(found.fetchall())


@pytest.mark.slow
def test_functions_that_only_spark_has_read_both_sides(spark: SparkSession, tmp_path: Path):
    """Rows are then joined in a step before, of which other queries over the stream know nothing."""
    queries = {
        "near": "SELECT who, SUM(len(mask(concat(a.item, who)))) AS s, SUM(1 / (qty - 1)) AS q, COUNT(*) AS n"
        " FROM a [RANGE 10 SECONDS SLIDE 10 SECONDS] JOIN fav ON a.item = fav.item GROUP BY who",
        "plain": QUERIES["plain"],
        "rows": QUERIES["rows"],
        "left": QUERIES["left"],
    }
    events = some_events()
    untimed = events.slice(0, 1).set_column(0, "ts", instants([None]))
    *files, last = files_of(events)
    put(tmp_path / "a", *files, pa.concat_tables([untimed, last]))
    session = session_over(spark, tmp_path, TABLE, queries)
    assert "go once more to Spark" in session.explain()
    assert "go once more to Spark" not in session.explain(QUERIES["sums"])
    rejected = windrow.sink("parquet", path=tmp_path / "rejected")
    sinks = sinks_of(tmp_path, queries)
    job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now", rejected=rejected)
    finish(job)
    (bad,) = rows_of(tmp_path / "rejected")  # once, whatever it would be joined to
    assert bad["cause"] == "no time"
    assert '"qty"' in bad["row"]
    with duckdb.connect() as db:
        db.register("a", events)
        db.register("f", TABLE)
        ((failing,),) = db.sql("SELECT COUNT(*) FROM a JOIN f ON a.item = f.item WHERE qty = 1").fetchall()
    assert job.progress()["a"]["failed"] == failing > 0
    select = "SUM(length(concat(a.item, who)))::BIGINT, SUM(1 / nullif(qty - 1, 0)), COUNT(*)"
    found = [
        tuple(row[name] for name in ("window_end", "who", "s", "q", "n")) for row in rows_of(tmp_path / "out" / "near")
    ]
    assert sorted(found) == windows_by_duckdb(events, TABLE, select)
    for name in ("plain", "rows", "left"):
        expected = windrow.replay(QUERIES[name], tables={"fav": TABLE}, batch_rows=ROWS, flush=True, a=events)
        assert sorted(map(repr, rows_of(tmp_path / "out" / name))) == sorted(map(repr, rows_of(expected)))


CAPPED = {
    "capped": "SELECT a.item, SUM(qty) AS q, cap FROM a [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    " JOIN caps ON a.item = caps.item GROUP BY a.item, cap HAVING SUM(qty) > cap",
    "all": "SELECT item, SUM(qty) AS q FROM a [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY item",
}


@pytest.mark.slow
def test_a_table_that_is_read_anew_is_joined_from_the_next_batch_on(spark: SparkSession, tmp_path: Path):
    """One query looks the table up for its answers, and shares the panes of one that does not join."""
    events = some_events()
    files = files_of(events)
    caps, low = tmp_path / "caps", pa.table({"item": ["nut", "gear"], "cap": pa.array([3, 5], pa.int64())})
    put(caps, low)
    put(tmp_path / "a", *files[:3])
    session = windrow.Session(spark, shards=2)
    session.stream("a", stream_of(spark, tmp_path / "a", SCHEMA), time="ts", ahead="unbounded")
    session.table("caps", spark.read.parquet(str(caps)))
    for name, text in CAPPED.items():
        session.query(name, text)
    told = session.explain()
    assert "shared by 2 queries: capped, all" in told
    assert "inner join with table caps on `item` = `caps.item`, of each answer" in told
    job = session.start(str(tmp_path / "checkpoint"), sinks_of(tmp_path, CAPPED))
    try:
        done = tmp_path / "checkpoint" / "a" / "spark" / "commits"
        until((done / "2").exists)
        with pytest.raises(ChangeError, match="no query joins a table 'cups'\nhint: joined are caps"):
            job.refresh("cups")
        put(caps, pa.table({"item": ["bolt"], "cap": pa.array([0], pa.int64())}))
        job.refresh("caps")
        put(tmp_path / "a", *files[3:])
        until((done / "5").exists)
    finally:
        job.stop()
    caps_in = [dict(zip(low["item"].to_pylist(), low["cap"].to_pylist()))]
    caps_in.append(caps_in[0] | {"bolt": 0})
    expected = []
    for batch in range(FILES):
        known = caps_in[batch > 2]
        every = table_of(tmp_path / "out" / "all", batch).to_pylist() if _answers(tmp_path, batch) else []
        expected += [row | {"cap": known[row["item"]]} for row in every if row["q"] > known.get(row["item"], 99)]
    found = table_of(tmp_path / "out" / "capped").to_pylist()
    assert {row["item"] for row in found} == {"nut", "gear", "bolt"}
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def _answers(folder: Path, batch: int) -> bool:
    return any(f"-{batch:09d}-" in path.name for path in (folder / "out" / "all").iterdir())


TUMBLING = {
    "t": "SELECT who, SUM(most) AS s, COUNT(*) AS n FROM a [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    " JOIN fav ON a.item = fav.item GROUP BY who"
}
OTHER = pa.table({"item": ["nut", "bolt"], "who": ["bob", "zoe"], "most": pa.array([1000, 2000], pa.int64())})


def totals(parts: list[tuple[pa.Table, pa.Table]]) -> dict[tuple, tuple]:
    """Of each window and `who`, what the events of each part joined with its own table add up to."""
    found: dict[tuple, tuple] = {}
    for events, table in parts:
        for end, who, most, count in windows_by_duckdb(events, table, "SUM(most)::BIGINT, COUNT(*)"):
            before = found.get((end, who), (None, 0))
            sums = [value for value in (before[0], most) if value is not None]
            found[end, who] = (sum(sums) if sums else None, before[1] + count)
    return found


def answered(folder: Path) -> dict[tuple, tuple]:
    return {(row["window_end"], row["who"]): (row["s"], row["n"]) for row in rows_of(folder / "out" / "t")}


def test_a_batch_that_runs_again_joins_with_the_table_it_had(spark: SparkSession, tmp_path: Path):
    """The table has changed meanwhile: later batches see the new rows, the one that was not finished the old ones."""
    events = some_events()
    files = files_of(events)
    put(tmp_path / "a", *files[:3])
    start = (str(tmp_path / "checkpoint"), sinks_of(tmp_path, TUMBLING), "available now")
    finish(session_over(spark, tmp_path, TABLE, TUMBLING).start(*start), flush=False)
    before = table_of(tmp_path / "out" / "t", batch=2)
    assert before.num_rows
    for log in (tmp_path / "checkpoint" / "a" / "spark" / "commits").glob("*2*"):
        log.unlink()  # as if the job had died before batch 2 was done
    put(tmp_path / "a", *files[3:])
    finish(session_over(spark, tmp_path, OTHER, TUMBLING).start(*start))
    assert table_of(tmp_path / "out" / "t", batch=2).equals(before)
    assert answered(tmp_path) == totals([(events.slice(0, 3 * ROWS), TABLE), (events.slice(3 * ROWS), OTHER)])
    held = list((tmp_path / "checkpoint" / "a" / "tables").glob("fav.*.arrow"))
    assert len(held) == 1, "the rows that no batch can be joined with any more are gone"
