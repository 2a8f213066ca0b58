"""A sink that holds the current answer: what all changes add up to, also if a batch runs again."""

from __future__ import annotations

import gzip
import math
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow
from windrow.application import Application
from windrow.errors import QueryError, SettingsError
from windrow.session import Session
from windrow.spark.sinks.answer_files import AnswerSink, answer_home, forget_answers

from .streams import SECOND, START, finish, instants, plain, put, stream_of, table_of

SCHEMA = "ts TIMESTAMP, item STRING, price DOUBLE, qty BIGINT"
COUNTS = "SELECT item, COUNT(*) AS n FROM a [RANGE 12 SECONDS SLIDE 2 SECONDS] GROUP BY item EMIT CHANGES"
MINUS = "SELECT item, qty FROM a [RANGE 9 SECONDS] EXCEPT ALL SELECT item, qty FROM b [RANGE 3 SECONDS]"
JOINED = """
    SELECT a.item, AVG(b.price) AS mean, STDDEV(a.price) AS spread, COUNT(*) AS n
    FROM a [RANGE 9 SECONDS] LEFT JOIN b [RANGE 3 SECONDS] ON a.item = b.item AND a.qty < b.qty GROUP BY a.item
"""


def sold(seed: int, count: int = 240) -> pa.Table:
    """A minute of sales, the last at its end."""
    draw = np.random.default_rng(seed)
    times = np.sort(draw.integers(0, 120, count)) * (SECOND // 2)
    times[-1] = 60 * SECOND
    return pa.table(
        {
            "ts": instants((START + times).tolist()),
            "item": pa.array(draw.choice(["nut", "bolt", "gear", None], count).tolist()),
            "price": pa.array(draw.choice([0.1, 1 / 3, 1e-7, 12.5], count)),
            "qty": pa.array(draw.integers(1, 4, count)),
        }
    )


def asked(text: str, until: int, **streams: pa.Table) -> Counter:
    """What DuckDB says of the windows at an instant just before `until` seconds."""
    with duckdb.connect() as database:
        for name, events in streams.items():
            database.register(name, events)
        for words, stream, seconds in (
            ("a [RANGE 12 SECONDS SLIDE 2 SECONDS]", "a", 12),
            ("a [RANGE 9 SECONDS]", "a", 9),
            ("b [RANGE 3 SECONDS]", "b", 3),
        ):
            first, last = (START + (until - seconds) * SECOND, START + until * SECOND)
            rows = f"(SELECT * FROM {stream} WHERE epoch_us(ts) >= {first} AND epoch_us(ts) < {last}) AS {stream}"
            text = text.replace(words, rows)
        return rounded(database.execute(text.replace("EMIT CHANGES", "")).fetchall())


def rounded(rows: Sequence[Sequence[Any]]) -> Counter:
    """Rows, each as often as it is there; doubles to what two ways to add them agree on."""
    return Counter(tuple(float(f"{v:.9g}") if isinstance(v, float) else v for v in row) for row in rows)


def shown(folder: Path) -> Counter:
    """What a plain reader of a folder finds: in one file."""
    assert [path.name for path in folder.iterdir() if path.name[0] not in "._"] == ["answer.parquet"]
    return rounded([tuple(row.values()) for row in pq.read_table(folder).to_pylist()])


def test_the_answer_is_what_the_windows_hold_also_after_a_restart_and_a_batch_that_runs_again(
    spark: SparkSession, tmp_path: Path
):
    streams = {"a": sold(1), "b": sold(2)}
    queries = {"counts": COUNTS, "minus": MINUS, "joined": JOINED}

    def run() -> None:
        session = windrow.Session(spark, shards=2)
        for name in streams:
            session.stream(name, stream_of(spark, tmp_path / name, SCHEMA), time="ts")
        sinks = {}
        for name, text in queries.items():
            session.query(name, text)
            sinks[name] = windrow.sink("parquet", path=tmp_path / "out" / name, holds="answer")
        finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"), flush=False)

    halves = {name: START + 30 * SECOND for name in streams}
    for name, events in streams.items():
        first = sum(time < halves[name] for time in events["ts"].cast(pa.int64()).to_pylist())
        marker = events.slice(first, 1).set_column(0, "ts", instants([halves[name]]))  # the clock says 30 seconds
        streams[name] = pa.concat_tables([events.slice(0, first), marker, events.slice(first)])
        put(tmp_path / name, streams[name].slice(0, first + 1))
        halves[name] = first + 1
    run()
    for name, text in queries.items():
        assert shown(tmp_path / "out" / name) == asked(text, 30, **streams)

    for commits in (tmp_path / "checkpoint").glob("*/spark/commits"):
        last = max((file for file in commits.iterdir() if file.name.isdigit()), key=lambda file: int(file.name))
        (commits / f".{last.name}.crc").unlink(missing_ok=True)
        last.unlink()  # as after a kill between the last write and Spark's note of it
    for name, events in streams.items():
        put(tmp_path / name, events.slice(halves[name]))
    run()
    for name, text in queries.items():
        assert shown(tmp_path / "out" / name) == asked(text, 60, **streams)
    kept = [len(list(home.iterdir())) for home in (tmp_path / "checkpoint" / "answers").glob("*/*")]
    assert kept == [2, 2, 2]


def changes(spark: SparkSession, *rows: tuple) -> DataFrame:
    schema = "op STRING, time TIMESTAMP, op_ STRING, `a.b` DOUBLE, n ARRAY<BIGINT>"
    return spark.createDataFrame([(op, None, *rest) for op, *rest in rows], schema).withColumnRenamed("op_", "op")


def test_rows_of_every_kind_come_and_go(spark: SparkSession, tmp_path: Path):
    writer = AnswerSink(windrow.sink("parquet", path=tmp_path / "out", holds="answer"), str(tmp_path / "home"), 2)

    def found() -> list:
        table = table_of(tmp_path / "out")
        assert table.column_names == ["op", "a.b", "n"]
        return sorted(([plain(value.as_py()) for value in row] for row in zip(*table.columns)), key=repr)

    first = changes(spark, ("+", "x, y", 0.5, [1]), ("+", "x, y", 0.5, [1]), ("+", None, math.nan, None))
    writer.write(first, 3)
    assert found() == [["x, y", 0.5, (1,)]] * 2 + [[None, "NaN", None]]
    rest = changes(
        spark, ("-", "x, y", 0.5, [1]), ("-", None, math.nan, None), ("+", "z", -0.0, []), ("-", "z", 0.0, [])
    )
    for _ in range(2):  # the second time after a failure
        writer.write(rest, 7)
        assert found() == [["x, y", 0.5, (1,)]]
    writer.write(changes(spark, ("-", "x, y", 0.5, [1])), 8)
    assert found() == []
    assert sorted(os.listdir(tmp_path / "home")) == ["000000007.parquet", "000000008.parquet"]


@pytest.mark.parametrize(
    ("format", "options", "file", "text"),
    [
        ("csv", {"header": True}, "answer.csv", 'op,a.b\n"x, y",0.5\n'),
        ("json", {"compression": "gzip"}, "answer.json.gz", '{"op":"x, y","a.b":0.5}\n'),
    ],
)
def test_an_answer_in_other_files(
    spark: SparkSession, tmp_path: Path, format: str, options: dict, file: str, text: str
):
    place = windrow.sink(format, path=tmp_path / "out", holds="answer", **options)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "answer.parquet").write_bytes(b"of a run before, in another format")
    AnswerSink(place, str(tmp_path / "home"), 2).write(changes(spark, ("+", "x, y", 0.5, [1])).drop("n"), 0)
    assert [path.name for path in (tmp_path / "out").glob("[!.]*")] == [file]
    written = (tmp_path / "out" / file).read_bytes()
    assert (gzip.decompress(written) if file.endswith(".gz") else written).decode() == text


def test_a_row_that_goes_without_having_come_stops_the_job(spark: SparkSession, tmp_path: Path):
    writer = AnswerSink(windrow.sink("parquet", path=tmp_path / "out", holds="answer"), str(tmp_path / "home"), 2)
    with pytest.raises(Exception, match=r"lost a row that it never had.*new checkpoint"):
        writer.write(changes(spark, ("-", "x", 0.5, [1])), 5)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("format", "options", "emit", "told"),
    [
        ("parquet", "holds 'answer'", "", "needs changes, and this query sends whole windows"),
        ("parquet", "holds 'answer'", "EMIT INSERTS", "needs all changes, and this query sends INSERTS only"),
        ("parquet", "HOLDS 'answers'", "EMIT CHANGES", "a sink holds 'changes' or 'answer', not 'answers'"),
        (
            "console",
            "holds 'answer'",
            "EMIT CHANGES",
            "a sink of console cannot hold the answer.*parquet, csv, json, delta, iceberg, jdbc and kafka can",
        ),
    ],
)
def test_what_has_no_answer_to_hold_is_refused_before_anything_starts(
    spark: SparkSession, tmp_path: Path, format: str, options: str, emit: str, told: str
):
    (tmp_path / "a").mkdir()
    text = COUNTS.replace("EMIT CHANGES", emit)
    script = f"""
        CREATE STREAM a ({SCHEMA}) USING parquet OPTIONS (path '{tmp_path / "a"}') TIMESTAMP BY ts;
        CREATE SINK counts USING {format} OPTIONS (path '{tmp_path / "out"}', {options});
        INSERT INTO counts {text}
    """
    with pytest.raises(QueryError, match=f"(?s){told}") as error:
        Application(windrow.Session(spark, shards=2), script)
    assert "line 3" in str(error.value)
    session = fed(spark, tmp_path)
    session.query("counts", text)
    name, value = options.replace("'", "").split()
    with pytest.raises(SettingsError, match=f"(?s){told}"):
        session.start(str(tmp_path / "cp"), {"counts": windrow.sink(format, path=tmp_path / "out", **{name: value})})


def fed(spark: SparkSession, folder: Path) -> Session:
    (folder / "a").mkdir(exist_ok=True)
    session = windrow.Session(spark, shards=2)
    session.stream("a", stream_of(spark, folder / "a", SCHEMA), time="ts")
    return session


def test_an_answer_has_a_folder_of_its_own(spark: SparkSession, tmp_path: Path):
    session = fed(spark, tmp_path)
    session.query("counts", COUNTS)
    session.query("all", COUNTS)
    held = windrow.sink("parquet", path=tmp_path / "out", holds="answer")
    with pytest.raises(SettingsError, match="'counts' holds an answer, and 'all' writes to"):
        session.start(str(tmp_path / "cp"), {"counts": held, "all": windrow.sink("csv", path=f"{tmp_path}/out/")})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "earlier.parquet").write_bytes(b"")
    with pytest.raises(SettingsError, match=r"has other files, such as earlier\.parquet"):
        session.start(str(tmp_path / "cp"), {"counts": held, "all": windrow.sink("noop")})
    with pytest.raises(SettingsError, match="rejected events have no answer"):
        session.start(
            str(tmp_path / "cp"), {"counts": windrow.sink("noop"), "all": windrow.sink("noop")}, rejected=held
        )


def test_another_query_of_the_same_name_begins_anew(spark: SparkSession, tmp_path: Path):
    session = fed(spark, tmp_path)
    homes = [
        answer_home(str(tmp_path), session.plan(name, text))
        for name, text in (("now", COUNTS), ("now", COUNTS.replace("12", "24")), ("other", COUNTS), ("now", COUNTS))
    ]
    assert homes[3] == homes[0] and len(set(homes)) == 3
    for home in set(homes):
        os.makedirs(home.path)
    forget_answers(str(tmp_path), "now")
    assert [home.exists() for home in homes[:3]] == [False, False, True]
