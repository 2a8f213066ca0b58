"""Joins, set operators, DISTINCT and windows without a slide on Spark: as in replay, also where a job goes on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of

FILES, ROWS = 2, 80
TABLE = pa.table({"item": ["nut", "gear"], "who": ["ann", "bob"]})
QUERIES = {
    "distinct": "SELECT DISTINCT item FROM a [RANGE 1 SECOND]",
    "groups": "SELECT item, SUM(price) AS total, COUNT(DISTINCT qty) AS n FROM a [RANGE 5 SECONDS] GROUP BY item",
    "minus": "SELECT item FROM a [RANGE 5 SECONDS] MINUS SELECT item FROM b [RANGE 3 SECONDS]",
    "pairs": """SELECT a.item, upper(a.item) AS name, a.price, b.qty FROM a, b
                WHERE a.item = b.item AND a.price < 2 AND a.qty <= b.qty WINDOW 4 SECONDS""",
    "left": "SELECT x.item, b.qty FROM a [RANGE 3 SECONDS] AS x LEFT JOIN b [RANGE 1 SECOND] ON x.item = b.item",
    "table": "SELECT who, COUNT(*) AS n FROM a [RANGE 5 SECONDS] JOIN fav ON a.item = fav.item GROUP BY who",
    "known": """SELECT a.item, qty, f.who FROM a [RANGE 3 SECONDS] LEFT JOIN (SELECT item, MAX(who) AS who FROM fav GROUP BY item) AS f
                ON a.item = f.item WHERE qty > 2 OR a.item IN (SELECT item FROM fav) OR qty = (SELECT COUNT(*) FROM fav)""",
    "slides": "SELECT DISTINCT item, qty FROM a [RANGE 5 SECONDS SLIDE 2 SECONDS]",
    "union": """SELECT item FROM a [RANGE 5 SECONDS SLIDE 2 SECONDS]
                UNION ALL SELECT item FROM b [RANGE 3 SECONDS SLIDE 2 SECONDS] EMIT CHANGES""",
    "last": "SELECT item, COUNT(*) AS n FROM a [RANGE 3 SECONDS] GROUP BY item EMIT LAST EVERY 4 SECONDS",
    "when": "SELECT item, COUNT(*) AS n FROM a [RANGE 3 SECONDS] GROUP BY item EMIT WHEN n > 4",
    "empty": "SELECT COUNT(*) AS n, MAX(price) AS most FROM b [RANGE 1 SECOND] WHERE qty = 3 EMIT CHANGES WITH EMPTY",
    "nested": """SELECT total, COUNT(*) AS m FROM (SELECT a.item, SUM(b.qty) AS total FROM a, b WHERE a.item = b.item
                 GROUP BY a.item WINDOW 3 SECONDS) AS g GROUP BY total""",
    "right": """SELECT a.item, b.qty FROM a [RANGE 3 SECONDS] RIGHT JOIN b [RANGE 2 SECONDS] ON a.item = b.item AND a.qty < b.qty""",
    "full": """SELECT a.item, b.qty, a.price FROM a [RANGE 2 SECONDS] FULL JOIN b [RANGE 2 SECONDS] ON a.item = b.item AND a.qty = b.qty""",
    "in": """SELECT item, price FROM a [RANGE 3 SECONDS] WHERE qty IN (SELECT qty FROM b [RANGE 1 SECOND] WHERE price > 1)""",
    "no partner": """SELECT item, qty FROM a [RANGE 3 SECONDS] WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 2 SECONDS] WHERE b.item = a.item)""",
    "scalar": """SELECT item, price - (SELECT MAX(price) FROM b [RANGE 2 SECONDS]) AS d FROM a [RANGE 2 SECONDS]""",
    "any": """SELECT a.qty, b.item FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.price < b.price - 1""",
    "near": """SELECT a.item, b.price FROM a JOIN b ON a.item = b.item AND a.ts BETWEEN b.ts - INTERVAL 2 SECONDS AND b.ts""",
    "final": """SELECT a.item, b.price FROM a LEFT JOIN b ON a.item = b.item AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 SECOND EMIT FINAL""",
    "top": """SELECT item, price, qty FROM a [RANGE 5 SECONDS] QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY price DESC, qty) <= 2""",
    "first": """SELECT item, price FROM a [RANGE 5 SECONDS] ORDER BY price DESC, item LIMIT 3""",
    "before": """SELECT item, LAG(price) OVER (PARTITION BY item ORDER BY ts) AS p FROM a""",
    "frame": """SELECT item, SUM(price) OVER (PARTITION BY item ORDER BY ts RANGE INTERVAL 5 SECONDS PRECEDING) AS p FROM a""",
    "cube": """SELECT item, qty, COUNT(*) AS n, MAX_BY(price, qty) AS p FROM a [RANGE 5 SECONDS SLIDE 2 SECONDS] GROUP BY CUBE (item, qty)""",
    "rollup": """SELECT a.item, b.qty, COUNT(*) AS n FROM a [RANGE 3 SECONDS] JOIN b [RANGE 1 SECOND] ON a.item = b.item GROUP BY ROLLUP (a.item, b.qty)""",
    "hop": """SELECT item, COUNT(*) AS n FROM TABLE(HOP(TABLE a, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND)) GROUP BY window_start, window_end, item""",
    "top of joined": """SELECT a.item, b.qty FROM a, b WHERE a.item = b.item WINDOW 2 SECONDS ORDER BY b.qty DESC, a.item LIMIT 4""",
    "days": """SELECT item, qty, COUNT(*) AS n, MAX(price) AS p FROM a [RANGE 1 DAY SLIDE 1 DAY IN 'Europe/Berlin'] GROUP BY item, qty""",
    "growing": """SELECT item, COUNT(*) AS n, MIN(price) AS p FROM a [RANGE 8 SECONDS SLIDE 2 SECONDS CUMULATE] GROUP BY item""",
    "cube of levels": """SELECT item, qty, SUM(price) AS s FROM a [RANGES 8 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS] GROUP BY ROLLUP (item, qty)""",
}
USUAL = {
    "groups",
    "minus",
    "pairs",
    "table",
    "known",
    "union",
    "last",
    "nested",
    "full",
    "scalar",
    "near",
    "final",
    "top",
    "cube",
    "rollup",
}
"""What the job of the suite answers; another one, in `make matrix`, answers the others."""

SCHEMA = "ts TIMESTAMP, item STRING, price DOUBLE, qty BIGINT"
PAIRED = """SELECT n, COUNT(DISTINCT item) AS items FROM (SELECT a.item, b.qty, COUNT(*) AS n FROM a, b
            WHERE a.item = b.item GROUP BY a.item, b.qty WINDOW 4 SECONDS) AS pairs GROUP BY n"""


def some_events(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    rows = FILES * ROWS
    times = START + np.sort(random.integers(0, 80, rows)) * SECOND // 2
    return pa.table(
        {
            "ts": instants(times.tolist()),
            "item": pa.array(random.choice(["nut", "bolt", "gear", None], rows).tolist()),
            "price": pa.array(random.integers(0, 5, rows) * 0.5),
            "qty": pa.array(random.integers(1, 4, rows)),
        }
    )


@pytest.fixture(scope="module")
def results_of(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Path]:
    """The results of a job of some queries that was stopped after half of the files, and went on with the others."""

    @cache
    def results(usual: bool) -> Path:
        folder = tmp_path_factory.mktemp("changes")
        queries = {name: text for name, text in QUERIES.items() if (name in USUAL) is usual}
        for half in (slice(0, FILES // 2), slice(FILES // 2, FILES)):
            session = windrow.Session(spark, shards=2)
            for seed, name in enumerate("ab"):
                events = some_events(seed)
                put(folder / name, *[events.slice(n * ROWS, ROWS) for n in range(FILES)][half])
                session.stream(name, stream_of(spark, folder / name, SCHEMA), time="ts")
            session.table("fav", spark.createDataFrame(TABLE.to_pandas()))
            for name, text in queries.items():
                session.query(name, text)
            sinks = {name: windrow.sink("parquet", path=folder / "out" / name) for name in queries}
            finish(session.start(str(folder / "checkpoint"), sinks, trigger="available now"), flush=half.stop == FILES)
        return folder / "out"

    return results


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in USUAL else pytest.mark.slow) for name in QUERIES]
)
def test_spark_sends_the_changes_that_replay_sends(results_of: Callable[[bool], Path], name: str):
    streams = {stream: some_events(seed) for seed, stream in enumerate("ab")}
    expected = rows_of(windrow.replay(QUERIES[name], tables={"fav": TABLE}, batch_rows=ROWS, flush=True, **streams))
    assert len(expected) > 10
    assert sorted(map(repr, rows_of(results_of(name in USUAL) / name))) == sorted(map(repr, expected))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["negative tuples", "time probing"])
def test_every_way_to_expire_sends_the_same(spark: SparkSession, tmp_path: Path, way: str):
    """Asked for of all queries, or of one, whose checkpoint keeps it: a restart need not say it again."""
    common = way if way == "time probing" else None
    sinks = {"pairs": windrow.sink("parquet", path=tmp_path / "out")}

    def session_asking(expiry: str | None) -> windrow.Session:
        session = windrow.Session(spark, shards=2, expiry=common)
        for name in "ab":
            session.stream(name, stream_of(spark, tmp_path / name, SCHEMA), time="ts")
        session.query("pairs", PAIRED, choose=None if expiry is None else {"expiry": expiry})
        return session

    for half in (0, 2 * ROWS):
        for seed, name in enumerate("ab"):
            put(tmp_path / name, some_events(seed).slice(half, 2 * ROWS))
        session = session_asking(None if common is not None or half else way)
        job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
        finish(job, flush=half > 0)
    streams = {stream: some_events(seed) for seed, stream in enumerate("ab")}
    assert sorted(map(repr, rows_of(tmp_path / "out"))) == sorted(
        map(repr, rows_of(windrow.replay(PAIRED, flush=True, batch_rows=2 * ROWS, **streams)))
    )
    if common is None:
        with pytest.raises(SettingsError, match=f"query 'pairs' was started with expiry '{way}'"):
            session_asking("hybrid").start(str(tmp_path / "checkpoint"), sinks)
        return
    other = windrow.Session(spark, shards=2)
    other.stream("a", stream_of(spark, tmp_path / "a", SCHEMA), time="ts")
    other.query("pairs", QUERIES["distinct"])
    with pytest.raises(SettingsError, match=f"made with expiry='{way}'"):
        other.start(str(tmp_path / "checkpoint"), sinks)


def test_an_unknown_way_to_expire_is_refused(spark: SparkSession):
    with pytest.raises(SettingsError, match="none of input-triggered, time probing, negative tuples, hybrid"):
        windrow.Session(spark, expiry="never")


def test_explain_tells_the_stages(spark: SparkSession, tmp_path: Path):
    session = windrow.Session(spark, shards=2)
    for name in "ab":
        (tmp_path / name).mkdir()
        session.stream(name, stream_of(spark, tmp_path / name, SCHEMA), time="ts")
    session.query("pairs", PAIRED)
    lines = [line.strip() for line in session.explain().splitlines()]
    assert "rows of a: spread over 2 shards by `item`" in lines
    first, second = lines.index("stage 1 of 2"), lines.index("stage 2 of 2")
    (sent,) = [line for line in lines[second:] if line.startswith("changes of")]
    assert first < second and "spread over 2 shards by" in sent
    assert any(line.startswith(f"regroup: the {sent.split(':')[0]}") for line in lines)
