"""Windows that count rows on Spark: the same files, batch by batch, give the answers of replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from runtime.core import plan_of
from windrow.runtime.answers.finish import finish_part
from windrow.spark.sinks.results import finished_by_spark

from .streams import SECOND, START, Rows, finish, instants, plain, put, rows_of, stream_of

BATCHES, BATCH_ROWS = 4, 60
AGGREGATES = "COUNT(*) AS n, SUM(i) AS s, AVG(d) AS a, MAX(d) AS m, LAST(k) AS l, REGR_SLOPE(i, ts) AS r"
TEXTS = {
    "rows": f"SELECT k, {AGGREGATES} FROM ticks [ROWS 40 SLIDE 7] WHERE i <> 3 GROUP BY k",
    "range": f"SELECT k, {AGGREGATES} FROM ticks [RANGE 6 SECONDS SLIDE 10 ROWS] GROUP BY k",
    "slide": f"SELECT k, {AGGREGATES} FROM ticks [ROWS 25 SLIDE 3 SECONDS] GROUP BY k",
    "whole": f"SELECT {AGGREGATES} FROM ticks [ROWS UNBOUNDED SLIDE 20]",
    "keys": f"SELECT k, i > 0 AS up, {AGGREGATES} FROM ticks [PARTITION BY k ROWS 9 SLIDE 2] GROUP BY k, up",
    "keys range": f"SELECT k, {AGGREGATES} FROM ticks [PARTITION BY k RANGE 8 SECONDS SLIDE 3 ROWS]",
    "keys slide": f"SELECT {AGGREGATES} FROM ticks [PARTITION BY k ROWS 5 SLIDE 4 SECONDS]",
    "top": "SELECT k, SUM(i) AS s FROM ticks [ROWS 30 SLIDE 1] GROUP BY k ORDER BY s DESC, k LIMIT 2",
    "items": "SELECT k, i + 1 AS j, d, window_row % 2 AS odd FROM ticks [PARTITION BY k ROWS 5 SLIDE 4] WHERE i <> 3",
    "sessions": f"SELECT k, i > 0 AS up, {AGGREGATES} FROM ticks [PARTITION BY k SESSION 1 SECOND] GROUP BY k, up",
    "changes": "SELECT k, COUNT(*) AS n, SUM(i) AS s FROM ticks [ROWS 40 SLIDE 7] GROUP BY k EMIT CHANGES",
    "each row": "SELECT k, SUM(i) AS s, STDDEV(d) AS d FROM ticks [PARTITION BY k ROWS 3] WHERE i <> 3",
    "gone": "SELECT i FROM ticks [ROWS 10] EMIT DELETES",
    "early": "SELECT k, SUM(i) AS s FROM ticks [ROWS 30 SLIDE 7 EMIT EVERY 3 SECONDS] GROUP BY k",
    "early keys": "SELECT k, SUM(i) AS s FROM ticks [PARTITION BY k ROWS 9 SLIDE 4 EMIT EVERY 2 SECONDS] EMIT CHANGES",
    "early sessions": "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 1 SECOND EMIT EVERY 2 SECONDS] EMIT CHANGES",
    "alerts": "SELECT k, COUNT(*) AS n, SUM(i) AS s FROM ticks [ROWS 10 SLIDE 3] GROUP BY k EMIT WHEN n > 2 AND s > 0",
    "levels": """SELECT k, SUM(i) AS s FROM ticks
                 [RANGES UNBOUNDED, 4 SECONDS SLIDES 8 SECONDS, 2 SECONDS OFFSET 1 SECOND EMIT EVERY 3 SECONDS]
                 GROUP BY k HAVING level < 2 EMIT CHANGES""",
    "share": "SELECT k, SUM(i) FILTER (WHERE level = 0) AS f, SUM(i) AS s FROM ticks [ROWS 20, 10 SLIDES 5, 5] GROUP BY k",
    "inside": """SELECT window_row * 2 AS twice, s FROM (SELECT SUM(i) AS s FROM ticks [ROWS 10 SLIDE 5]) AS sums
                 WHERE window_row > 20""",
}


def some_events() -> pa.Table:
    """A stream with ties, holes, and events out of order, of which a few are late."""
    random = np.random.default_rng(3)
    rows = BATCHES * BATCH_ROWS
    times = START + (np.arange(rows) // BATCH_ROWS * 10 + random.integers(0, 12, rows)) * SECOND
    return pa.table(
        {
            "ts": instants(None if random.random() < 0.03 else time for time in times.tolist()),
            "k": pa.array(random.choice(["a", "b", "c", None], rows).tolist(), pa.string()),
            "i": pa.array(random.integers(-9, 10, rows)),
            "d": pa.array(random.choice([1.5, -0.0, 7.25, float("nan")], rows, p=[0.4, 0.2, 0.38, 0.02])),
        }
    )


@pytest.fixture(scope="module")
def results(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a job with all queries has written, stopped in the middle and started again from its checkpoint."""
    folder = tmp_path_factory.mktemp("rows")
    batches = [some_events().slice(n * BATCH_ROWS, BATCH_ROWS) for n in range(BATCHES)]
    put(folder / "in", *batches[:2])
    for last in (False, True):
        session = windrow.Session(spark, shards=2)
        schema = "ts TIMESTAMP, k STRING, i BIGINT, d DOUBLE"
        session.stream("ticks", stream_of(spark, folder / "in", schema), time="ts", lateness="1 second")
        for name, text in TEXTS.items():
            session.query(name.replace(" ", "_"), text)
        names = [name.replace(" ", "_") for name in TEXTS]
        sinks = {name: windrow.sink("parquet", path=folder / "out" / name) for name in names}
        finish(session.start(str(folder / "checkpoint"), sinks, trigger="available now"), flush=last)
        put(folder / "in", *batches[2:])
    return folder / "out"


@pytest.mark.parametrize("name", TEXTS)
def test_spark_answers_as_replay_does(results: Path, name: str):
    expected = windrow.replay(TEXTS[name], lateness="1 second", batch_rows=BATCH_ROWS, flush=True, ticks=some_events())
    told = ["window_start", "window_end", "window_row"][: 2 if name == "sessions" else 3]
    leading = ["op", "time"] if "op" in expected.column_names else told
    assert expected.column_names[: len(leading)] == leading
    assert expected.num_rows > 10
    assert comparable(rows_of(results / name.replace(" ", "_"))) == comparable(rows_of(expected))


def comparable(rows: Rows) -> list[tuple]:
    """Rows in an order of their own: windows by key may be equal in all that is shown."""
    return sorted(([(name, plain(value)) for name, value in row.items()] for row in rows), key=str)


def test_sessions_are_those_of_sparks_session_window(spark: SparkSession, tmp_path: Path):
    """Over a stream in which no event is late: Spark's batch gives the same sessions, also of rows just a gap apart."""
    events = some_events()
    put(tmp_path, events)
    text = "SELECT k, COUNT(*) AS n, SUM(i) AS s FROM ticks [PARTITION BY k SESSION 1 SECOND]"
    mine = windrow.replay(text, lateness="1 hour", batch_rows=37, flush=True, ticks=events)
    theirs = spark.sql(
        "SELECT session_window.start AS window_start, session_window.end AS window_end, k, COUNT(*) AS n, SUM(i) AS s"
        f" FROM parquet.`{tmp_path}` WHERE ts IS NOT NULL GROUP BY session_window(ts, '1 second'), k"
    )
    assert mine.num_rows > 30
    assert comparable(rows_of(mine)) == comparable(rows_of(theirs.toArrow()))


def test_spark_finishes_alerts_as_tasks_do(spark: SparkSession):
    """Of a group that has fulfilled the condition and goes on to, nothing is told, whatever else has changed."""
    schema = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.string())])
    text = "SELECT k, COUNT(*) AS n FROM ticks [ROWS 10 SLIDE 3] GROUP BY k EMIT WHEN n > 2"
    (query,) = plan_of([text], schema).queries
    counts = [
        (True, True, 5, 4),
        (True, True, 3, 2),
        (True, False, 3, None),
        (False, True, None, 9),
        (True, True, 1, 3),
    ]
    has, had, n, was = (list(column) for column in zip(*counts))
    columns = {
        "time": instants([START] * 5),
        "has": has,
        "had": had,
        "key_0": list("abcde"),
        "agg_0": n,
        "was_agg_0": was,
    }
    rows = pa.table({name: pa.array(values, query.emitted.field(name).type) for name, values in columns.items()})
    by_tasks = finish_part(rows.cast(query.emitted), query)
    by_spark = finished_by_spark(spark.createDataFrame(rows), query).toArrow()
    assert by_tasks["k"].to_pylist() == ["b", "c"]
    assert sorted(by_spark["k"].to_pylist()) == ["b", "c"] and set(by_spark["op"].to_pylist()) == {"+"}


def test_joined_answers_and_groupings_of_sessions_are_those_of_replay(spark: SparkSession, tmp_path: Path):
    """Answers of two kinds of windows meet in a stage of their own, also where a job goes on from its checkpoint."""
    texts = {
        "joined": """SELECT a.k, a.n, b.n AS m, a.window_end AS ended FROM
                     (SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY k SESSION 1 SECOND]) AS a
                     JOIN (SELECT k, COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY k) AS b
                     ON a.k = b.k AND b.window_end BETWEEN a.window_end AND a.window_end + INTERVAL 3 SECONDS""",
        "groupings": "SELECT k, i > 0 AS up, COUNT(*) AS n FROM ticks [SESSION 1 SECOND] GROUP BY CUBE (k, up)",
    }
    events = some_events()
    put(tmp_path / "in", events.slice(0, 2 * BATCH_ROWS))
    for last in (False, True):
        session = windrow.Session(spark, shards=2)
        schema = "ts TIMESTAMP, k STRING, i BIGINT, d DOUBLE"
        session.stream("ticks", stream_of(spark, tmp_path / "in", schema), time="ts", lateness="3 seconds")
        for name, text in texts.items():
            session.query(name, text)
        sinks = {name: windrow.sink("parquet", path=tmp_path / "out" / name) for name in texts}
        finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"), flush=last)
        put(tmp_path / "in", events.slice(2 * BATCH_ROWS))
    for name, text in texts.items():
        expected = windrow.replay(text, lateness="3 seconds", batch_rows=2 * BATCH_ROWS, flush=True, ticks=events)
        assert expected.num_rows > 10
        assert comparable(rows_of(tmp_path / "out" / name)) == comparable(rows_of(expected)), name
