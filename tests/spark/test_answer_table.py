"""A table of a database that holds the current answer: rows come and go by key, a batch at a time, each once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow
from windrow.errors import JobError, SettingsError
from windrow.spark.sinks.answer_table import AnswerTable
from windrow.spark.sinks.append_table import AppendTable
from windrow.spark.sinks.table_names import split_name

COLUMNS = ["item", "shop", "n"]


def table(folder: Path, key: str = "item, shop", mark: str = "one", dbtable: str = "answer") -> AnswerTable:
    """A sink into Derby, which Spark brings with it."""
    place = windrow.sink(
        "jdbc",
        url=f"jdbc:derby:{folder / 'derby'};create=true",
        driver="org.apache.derby.jdbc.EmbeddedDriver",
        dbtable=dbtable,
        createTableColumnTypes="item VARCHAR(20)",
        holds="answer",
        key=key,
    )
    return AnswerTable(place, mark, 2, COLUMNS)


def changes(spark: SparkSession, *rows: tuple) -> DataFrame:
    schema = "op STRING, time TIMESTAMP, item STRING, shop INT, n BIGINT"
    return spark.createDataFrame([(op, None, *rest) for op, *rest in rows], schema)


def held(spark: SparkSession, folder: Path, dbtable: str = "answer") -> set[tuple]:
    options = {"url": f"jdbc:derby:{folder / 'derby'}", "dbtable": dbtable}
    rows = [tuple(row) for row in spark.read.format("jdbc").options(**options).load().collect()]
    assert len(set(rows)) == len(rows)
    return set(rows)


def test_the_table_holds_the_answer_whatever_comes_again(spark: SparkSession, tmp_path: Path):
    sink = table(tmp_path)
    sink.write(changes(spark, ("+", "nut", 7, 1), ("+", "nut", None, 2), ("+", "bolt", None, 3)), 0)
    assert held(spark, tmp_path) == {("nut", 7, 1), ("nut", None, 2), ("bolt", None, 3)}
    second = changes(
        spark,
        ("-", "nut", 7, 1),
        ("+", "nut", 7, 5),
        ("-", "nut", 7, 5),
        ("+", "nut", 7, 6),
        ("-", "bolt", None, 3),
    )
    for _ in range(2):  # the second time after a failure
        sink.write(second, 4)
        assert held(spark, tmp_path) == {("nut", 7, 6), ("nut", None, 2)}
    with pytest.raises(JobError, match="lost a row that it never had"):
        sink.write(changes(spark, ("-", "nut", 8, 1), ("+", "bolt", 7, 1)), 5)
    assert held(spark, tmp_path) == {("nut", 7, 6), ("nut", None, 2)}

    wrong = table(tmp_path, key="item", mark="another checkpoint")
    wrong.write(changes(spark, ("+", "nut", 7, 1), ("+", "nut", 8, 2)), 0)
    assert held(spark, tmp_path) == {("nut", 7, 1), ("nut", 8, 2)}
    with pytest.raises(JobError, match="item does not tell its rows apart"):
        wrong.write(changes(spark, ("-", "nut", 7, 1)), 1)


def test_a_key_is_of_columns_that_there_are(tmp_path: Path):
    with pytest.raises(SettingsError, match="key 'shops' is no column of the query\nhint: its columns: item, shop, n"):
        table(tmp_path, key="item, shops")
    with pytest.raises(SettingsError, match="needs url and dbtable"):
        AnswerTable(windrow.sink("jdbc", holds="answer", key="item"), "one", 2, COLUMNS)


def test_the_name_of_a_table_is_never_read_as_sql(spark: SparkSession, tmp_path: Path):
    url = f"jdbc:derby:{tmp_path / 'derby'}"
    table(tmp_path).write(changes(spark, ("+", "nut", 7, 1)), 0)
    hostile = 'answer; DELETE FROM answer --"'
    sink = table(tmp_path, dbtable=hostile)
    sink.write(changes(spark, ("+", "bolt", 1, 1), ("+", "nut", 1, 1)), 0)
    sink.write(changes(spark, ("-", "bolt", 1, 1)), 1)
    assert held(spark, tmp_path) == {("nut", 7, 1)}
    assert held(spark, tmp_path, '"answer; DELETE FROM answer --"""') == {("nut", 1, 1)}
    appended = windrow.sink("jdbc", url=url, dbTable='APP."a.b"', createTableColumnTypes="item VARCHAR(20)")
    rows = changes(spark, ("+", "nut", 7, 1)).select("item", "n")
    for mark, batch in (("job-a", 3), ("job-a", 3), ("job-a", 2), ("job-b", 3), ("job-a", 4)):
        AppendTable(appended, mark).write(rows, batch)
    options = {"url": url, "query": 'SELECT COUNT(*) AS n FROM APP."a.b"'}
    assert spark.read.format("jdbc").options(**options).load().collect()[0][0] == 3  # each batch of each job once


@pytest.mark.parametrize(
    ("dbtable", "parts"),
    [
        ("answer", [("answer", True)]),
        ("shop.Answer_2", [("shop", True), ("Answer_2", True)]),
        ('"say ""hi""".`b``c`.[d.e]', [('say "hi"', False), ("b`c", False), ("d.e", False)]),
        ("(SELECT 1) x", [("(SELECT 1) x", False)]),
        ('"a" b', [('"a" b', False)]),
        ("ü.2", [("ü", False), ("2", False)]),
    ],
)
def test_a_name_has_parts(dbtable: str, parts: list[tuple[str, bool]]):
    assert split_name(dbtable) == parts


@pytest.mark.parametrize("dbtable", ["", " ", "a.", ".a", "a..b", '""'])
def test_what_is_no_name_of_a_table_is_refused(tmp_path: Path, dbtable: str):
    with pytest.raises(SettingsError, match=r"is no name of a table\nhint: dbtable 'table', or 'schema.table'"):
        table(tmp_path, dbtable=dbtable)
