"""Rankings of the rows of windows that are folded: over all shards, finished by tasks, by Spark, and as current answers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import windrow

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of

WINDOW = "[RANGES 10 SECONDS, 5 SECONDS SLIDES 5 SECONDS, 5 SECONDS]"
TOP = "QUALIFY place <= 2"
QUERIES = {
    "groups": f"SELECT k, SUM(i) AS total, RANK() OVER (ORDER BY SUM(i) DESC) AS place FROM e {WINDOW} GROUP BY k {TOP}",
    "rows": f"SELECT k, i, ROW_NUMBER() OVER (PARTITION BY i % 2 ORDER BY i DESC) AS place FROM e [ROWS 8 SLIDE 4] {TOP}",
    "kinds": f"SELECT DISTINCT SUM(i) % 3 AS kind FROM e {WINDOW} GROUP BY k",
    "seen": "SELECT DISTINCT k FROM e [ROWS 8 SLIDE 4]",
    "beside": (
        "SELECT k, i, LAG(i, 1, -1) OVER (PARTITION BY k ORDER BY i) AS before, SUM(i) OVER (ORDER BY i ROWS 2 PRECEDING) AS s"
        " FROM e [RANGE 10 SECONDS SLIDE 5 SECONDS]"
    ),
    "drawn": (
        "SELECT DISTINCT k AS same, SUM(SUM(i)) OVER () AS total, LAG(k) OVER (ORDER BY k) AS before"
        f" FROM e {WINDOW} GROUP BY k QUALIFY total > 4"
    ),
}
SPARKS_OWN = QUERIES["groups"].replace("SUM(i) AS total", "elt(1, k) AS same, SUM(i) AS total")
SPARKS_DRAWN = QUERIES["drawn"].replace("DISTINCT k", "DISTINCT elt(1, k)").replace("LAG(k)", "LAG(elt(1, k))")


def events(first: int) -> pa.Table:
    times = range(first, first + 20)
    ks = pa.array(["abcdefg"[time % 7] for time in times])
    return pa.table({"ts": instants(START + t * SECOND for t in times), "k": ks, "i": pa.array(times, pa.int64())})


def test_rows_of_all_shards_are_ranked_together(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", events(0), events(20))
    session = windrow.Session(spark, shards=3)
    session.stream("e", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, i BIGINT"), time="ts")
    for name, text in {**QUERIES, "sparks": SPARKS_OWN, "sparks_drawn": SPARKS_DRAWN}.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in [*QUERIES, "sparks", "sparks_drawn"]}
    sinks["groups"] = windrow.sink("parquet", path=tmp_path / "groups", keep="answer")
    told = session.explain(sinks=sinks)
    assert "qualify (place_0) <= 2" in told and "place_0 = rank over (order by agg_0 desc nulls last)" in told
    assert f"parquet files in {tmp_path}/groups, written by the driver, which ranks the rows of all shards" in told
    job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
    finish(job)
    together = pa.concat_tables([events(0), events(20)])
    for name, text in QUERIES.items():
        theirs = windrow.replay(text, e=together, flush=True)
        columns = [column for column in theirs.column_names if column != "window_row"]
        wanted = theirs.select(columns).to_pylist()
        found = [tuple(row[column] for column in columns) for row in rows_of(tmp_path / name)]
        assert len(found) == len(wanted) > 8, name
        times = {"window_start", "window_end"}
        expected = [
            tuple(int(row[c].timestamp() * 1_000_000) if c in times else row[c] for c in columns) for row in wanted
        ]
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), name
    finest = [row for row in rows_of(tmp_path / "groups") if row["level"] == 0]
    newest = max(row["window_end"] for row in finest)
    kept = {(row["k"], row["place"]) for row in job.answer("groups").to_pylist() if row["level"] == 0}
    assert kept == {(row["k"], row["place"]) for row in finest if row["window_end"] == newest}
    mine, own = rows_of(tmp_path / "groups"), rows_of(tmp_path / "sparks")
    assert all(row.pop("same") == row["k"] for row in own), "what only Spark can finish is ranked by Spark"
    assert sorted(map(repr, mine)) == sorted(map(repr, own))
    mine, own = rows_of(tmp_path / "drawn"), rows_of(tmp_path / "sparks_drawn")
    assert sorted(map(repr, mine)) == sorted(map(repr, own)), "what Spark evaluates is drawn from all rows of a window"
