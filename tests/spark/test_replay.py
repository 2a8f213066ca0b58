"""Spark and replay are one engine: the same files, batch by batch, give the same answers."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.local.replay import Replay
from windrow.spark.job.job import Job

from .streams import SECOND, START, assert_same, finish, instants, put, rows_of, stream_of, table_of

BATCHES, BATCH_ROWS, LATENESS = 5, 80, 2 * SECOND
SCHEMA = "ts TIMESTAMP, k STRING, i BIGINT, d DOUBLE, m DECIMAL(12, 2), b BOOLEAN, day DATE, at TIMESTAMP"
AGGREGATES = [
    "COUNT(*)",
    "COUNT(i)",
    "COUNT_IF(d > 0)",
    *(
        f"{name}({column})"
        for name in ("SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_POP")
        for column in "idm"
    ),
    *(
        f"{name}({column})"
        for name in ("MIN", "MAX", "FIRST", "LAST")
        for column in ("i", "d", "m", "k", "b", "day", "at")
    ),
    "REGR_SLOPE(i, ts)",
    "REGR_INTERCEPT(i, ts)",
    "REGR_R2(m, at)",
    "FILLED_SLOPE(i, ts, '1 second')",
    "CORR(i, m)",
    "COVAR_POP(day, day)",
    "COVAR_SAMP(i, i) FILTER (WHERE b)",
    "FIRST(i) IGNORE NULLS",
    "LAST(k) IGNORE NULLS",
    "BOOL_AND(b)",
    "BOOL_OR(b)",
    "SUM(i) FILTER (WHERE b)",
    "MAX(d) FILTER (WHERE i % 2 = 0)",
    "MEDIAN(d)",
    "QUANTILE(i, 0.3)",
    "MAD(m)",
    "MODE(k)",
    "COUNT(DISTINCT d)",
    "COUNT(DISTINCT k)",
    "COLLECT_LIST(day)",
    "APPROX_COUNT_DISTINCT(at)",
    "APPROX_QUANTILE(d, 0.5)",
    "MIN_BY(k, d)",
    "MAX_BY(m, k)",
    "ANY_VALUE(day)",
    "TOPK(d, 3)",
    "TOPK(k, 2)",
    "BIT_XOR(i)",
    "REGR_AVGX(d, at)",
    "REGR_AVGY(d, i)",
    "REGR_SXY(d, i)",
    "SKEWNESS(i)",
    "KURTOSIS(i)",
    "GEOMETRIC_MEAN(i)",
    "STRING_AGG(k, ', ')",
    "LISTAGG(i, '-')",
    "MAP_AGG(k, day)",
    "HISTOGRAM_NUMERIC(i, 40)",
    "APPROX_TOP_K(day, 2)",
    "EWMA(d, '5 seconds')",
]
EVERY = ", ".join(f"{text} AS a{i}" for i, text in enumerate(AGGREGATES))
THIRDS = [", ".join(f"{text} AS a{i}" for i, text in enumerate(AGGREGATES[third::3])) for third in range(3)]
TEXTS = {
    "every": f"SELECT k, {EVERY} FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "odd": f"SELECT {THIRDS[0]} FROM ticks [RANGE 7 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND] WHERE i > 2",
    "gaps": "SELECT b, k, AVG(d) AS x FROM ticks [RANGE 2 SECONDS SLIDE 5 SECONDS] GROUP BY k, b HAVING COUNT(*) > 1",
    "landmark": f"SELECT b, {THIRDS[1]} FROM ticks [RANGE UNBOUNDED SLIDE 10 SECONDS] GROUP BY b",
    "long": f"SELECT k, {THIRDS[2]} FROM ticks [RANGE 3 MINUTES SLIDE 5 SECONDS] GROUP BY k",
    "early": """SELECT k, COUNT(*) AS n, SUM(i) AS total, MAX(d) AS high
                FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS EMIT EVERY 5 SECONDS] GROUP BY k""",
    "levels": """SELECT k, COUNT(*) AS n, MAX(d) AS high, REGR_SLOPE(i, ts) AS trend
                 FROM ticks [RANGES 40 SECONDS, 10 SECONDS, 4 SECONDS SLIDES 20 SECONDS, 5 SECONDS, 2 SECONDS] GROUP BY k""",
    "aged": """SELECT k, RECURRING(k) AS again, COUNT(*) AS n, SUM(i) AS total, AVG(m) AS mean
               FROM ticks [RANGES 40 SECONDS, 10 SECONDS SLIDES 20 SECONDS, 5 SECONDS AGING (1, 0.25)] GROUP BY k""",
    "trips": """SELECT k, COUNT(*) AS n, SUM(m) AS total, MAX(d) AS high
                FROM ticks [PARTITION BY k FROM b UNTIL i > 3 EMIT EVERY 15 SECONDS] WHERE i < 9""",
    "shifts": "SELECT k, COUNT(*) AS n, LAST(i) AS last FROM ticks [FROM i = 7 UNTIL d < 0] GROUP BY k",
    "steps": """SELECT k, COUNT(*) AS n, SUM(i) AS total, MAX(m) AS high
                FROM ticks [ROWS 100, 20 SLIDES 50, 5] GROUP BY k""",
    "aged steps": """SELECT i, RECURRING(i) AS again, COUNT(*) AS n, AVG(m) AS mean
                     FROM ticks [ROWS 100, 20 SLIDES 50, 5 AGING (1, 0.5)] WHERE b GROUP BY i""",
    "top": """SELECT k, day, SUM(i) AS total FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY k, day
              ORDER BY total DESC, k, day LIMIT 3""",
    "clusters": """SELECT cid, CENTER(cid) AS center, RADIUS(cid) AS radius, COUNT(cid) AS n, AVG(d) AS mean,
                     MAX(k) FILTER (WHERE b) AS last
                   FROM ticks [RANGE 30 SECONDS SLIDE 2 SECONDS] WHERE b CLUSTER BY i, m AS cid USING C_BIRCH(2)""",
    "hulls": """SELECT k, cid, CENTER(cid)[0] AS x, CONVEX_HULL(cid) AS hull FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS]
                GROUP BY k CLUSTER BY i, m AS cid USING DBSCAN(3, 2)""",
    "changes": """SELECT k, COUNT(*) AS n, SUM(d) > 3 AS much FROM ticks [RANGE 10 SECONDS SLIDE 2 SECONDS] GROUP BY k
                  HAVING COUNT(*) > 1 EMIT CHANGES""",
    "lives": """SELECT k, cid, COUNT(cid) AS n FROM ticks [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k
                CLUSTER BY i, m AS cid USING DBSCAN(3, 1) EMIT CHANGES""",
}
KEYS = {
    "clusters": ["cid"],
    "hulls": ["k", "cid"],
    "changes": ["op", "k"],
    "lives": ["op", "k", "cid"],
    **{"early": ["k", "final"], "levels": ["k", "level"], "aged": ["k", "level"]},
    **{"steps": ["k", "level", "window_row"], "aged steps": ["i", "level", "window_row"]},
    **{"every": ["k"], "gaps": ["k", "b"], "landmark": ["b"], "long": ["k"], "top": ["k", "day"]},
}


UNTOLD = ("trips", "shifts")
"""Windows from row to row may have the same times, and an open one may be told twice with the same rows."""


def some_events(seed: int) -> pa.Table:
    """A stream with ties, a gap, holes in every column, and events out of order: most within the lateness."""
    random = np.random.default_rng(seed)
    rows = BATCHES * BATCH_ROWS
    batch = np.arange(rows) // BATCH_ROWS
    steps = random.integers(0, 48, rows) - np.where(random.random(rows) < 0.05, 40, 0)
    times = START + batch * 10 * SECOND + (batch >= 3) * 75 * SECOND + steps * SECOND // 4

    def holed(values: list, share: float = 0.1) -> list:
        return [None if hole else value for value, hole in zip(values, random.random(rows) < share)]

    doubles = random.choice(
        [1.5, -0.0, 0.0, 3.25, float("nan"), 1e9, -7.1, 1e-9], rows, p=[0.2, 0.1, 0.1, 0.2, 0.02, 0.1, 0.18, 0.1]
    )
    return pa.table(
        {
            "ts": instants(holed(times.tolist(), 0.02)),
            "k": pa.array(holed(random.choice(["a", "b", "c", "é", ""], rows).tolist())),
            "i": pa.array(holed(random.integers(-9, 10, rows).tolist()), pa.int64()),
            "d": pa.array(holed(doubles.tolist()), pa.float64()),
            "m": pa.array(
                holed([Decimal(int(n)).scaleb(-2) for n in random.integers(-999, 999, rows)]), pa.decimal128(12, 2)
            ),
            "b": pa.array(holed((random.random(rows) < 0.7).tolist()), pa.bool_()),
            "day": pa.array(
                holed([date(2024, 2, 27) + timedelta(int(n)) for n in random.integers(0, 4, rows)]), pa.date32()
            ),
            "at": instants(holed((random.integers(0, 10**15, rows)).tolist())),
        }
    )


class Runs:
    """The same events through Spark, all queries at once, and through replay, one query at a time."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.events = some_events(seed=5)
        self.batches = [self.events.slice(n * BATCH_ROWS, BATCH_ROWS) for n in range(BATCHES)]
        put(folder / "in", *self.batches)
        self.session = windrow.Session(spark, shards=2)
        self.session.stream("ticks", stream_of(spark, folder / "in", SCHEMA), time="ts", lateness="2 seconds")
        for name, text in TEXTS.items():
            self.session.query(name, text)
        self.out = folder / "out"
        sinks = {name: windrow.sink("parquet", path=self.out / name) for name in TEXTS}
        self.job: Job = self.session.start(str(folder / "checkpoint"), sinks, trigger="available now")
        finish(self.job)

    def replay(self, name: str) -> Replay:
        return Replay(TEXTS[name], lateness="2 seconds", ticks=self.events)


@pytest.fixture(scope="module")
def runs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(spark, tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", TEXTS)
def test_spark_answers_as_replay_does(runs: Runs, name: str):
    expected = rows_of(runs.replay(name).run(BATCH_ROWS, flush=True))
    assert len(expected) > 10
    if name in UNTOLD:
        assert sorted(map(repr, rows_of(runs.out / name))) == sorted(map(repr, expected))
        return
    assert_same(rows_of(runs.out / name), expected, KEYS.get(name, ()))


def test_a_window_is_answered_in_the_batch_whose_newest_event_ends_it(runs: Runs):
    replay = runs.replay("every")
    for number, batch in enumerate(runs.batches):
        expected = [row for table in replay.step(batch) for row in rows_of(table)]
        assert_same(rows_of(table_of(runs.out / "every", number)), expected, ["k"])
        clock = max(time for time in batch["ts"].cast(pa.int64()).to_pylist() if time is not None) - LATENESS
        last = max(row["window_end"] for row in expected)
        assert clock - 2 * SECOND < last <= clock


def test_progress_counts_what_was_read_and_what_was_not_used(runs: Runs):
    figures = runs.job.progress()["ticks"]
    assert figures["events"] == runs.events.num_rows
    assert figures["batches"] == BATCHES + 1
    assert figures["rejected"]["no time"] == runs.events["ts"].null_count


def test_session_sql_is_a_typed_streaming_dataframe(runs: Runs, spark: SparkSession):
    results = runs.session.sql(TEXTS["every"])
    assert results.isStreaming
    types = {field.name: field.dataType.simpleString() for field in results.schema}
    assert list(types)[:4] == ["window_start", "window_end", "k", "a0"]
    assert types["window_start"] == types["window_end"] == "timestamp"
    named = {text: types[f"a{i}"] for i, text in enumerate(AGGREGATES)}
    assert named["COUNT(*)"] == named["SUM(i)"] == "bigint"
    assert (named["SUM(d)"], named["AVG(i)"], named["SUM(m)"], named["AVG(m)"]) == (
        "double",
        "double",
        "decimal(22,2)",
        "decimal(16,6)",
    )
    assert (named["MAX(day)"], named["FIRST(at)"], named["LAST(k)"], named["BOOL_OR(b)"]) == (
        "date",
        "timestamp",
        "string",
        "boolean",
    )
    writer = runs.session.sql(TEXTS["gaps"]).writeStream.format("memory").queryName("in_memory")
    writer.trigger(availableNow=True).start().awaitTermination()
    expected = rows_of(runs.replay("gaps").run(BATCH_ROWS))
    assert_same(rows_of(spark.table("in_memory")), expected, ["k", "b"])
