"""Spark's functions, users' functions and users' aggregates in queries, and rows for which they fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import windrow
from windrow.errors import QueryError
from windrow.language import parse_expression
from windrow.runtime.answers.top import Term, first_of_each_window
from windrow.session import Session
from windrow.spark.expressions import SparkEngine, guarded, quiet_analysis

from .streams import SECOND, START, Rows, finish, instants, put, rows_of, stream_of

SCHEMA = "ts TIMESTAMP, k STRING, i INT, z INT, big BIGINT, text STRING"
BIGGEST = 2**63 - 1
EVENTS = pa.table(
    {
        "ts": instants(START + n * SECOND for n in (1, 2, 3, 4, 11, 12)),
        "k": pa.array(["a", "b", "a", "a", "b", "a"]),
        "i": pa.array([1, 2, 3, 4, None, 6], pa.int32()),
        "z": pa.array([1, 0, 2, 0, 1, 4], pa.int32()),
        "big": pa.array([1, BIGGEST, 2, BIGGEST, 5, 6], pa.int64()),
        "text": pa.array(["7", "x", "2024-02-30", "2024-02-29", None, "9"]),
    }
)
QUERIES = {
    "chosen": "SELECT COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] WHERE is_odd(i)",
    "inside": "SELECT SUM(twice(i)) AS total FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]",
    "over": """SELECT shout(MAX(k)) AS loud, twice(CAST(COUNT(*) AS INT)) + 1 AS n
               FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] HAVING is_odd(CAST(MIN(z) AS INT) + 1)""",
    "grouped": "SELECT shout(k) AS k, COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY shout(k)",
    "own": """SELECT k, joined(i) AS merged, path(text) AS kept, weighted(i, z) AS mean, spread(i) * 2 AS spread
              FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k""",
    "lambdas": """SELECT SUM(TRANSFORM(ARRAY(i, z), v -> v + i)[1]) AS plus,
                         SUM(AGGREGATE(ARRAY(i, z, 1), 0, (acc, v) -> acc + v, acc -> acc * 2)) AS folded,
                         SUM(SIZE(FILTER(ARRAY(i, z), i -> i > 1))) AS shadowed,
                         COUNT_IF(EXISTS(ARRAY(i, z), X -> x > 3)) AS found,
                         SUM(TRANSFORM(ARRAY(ARRAY(z)), v -> AGGREGATE(v, 0, (s, w) -> s + w + SIZE(v)))[0]) AS nested,
                         COUNT(TRANSFORM(ARRAY(big), v -> v + v)[0]) AS fits,
                         SUM(MAP_VALUES(TRANSFORM_VALUES(MAP('a', z), (k, v) -> v * i))[0]) AS mapped,
                         SUM(ZIP_WITH(ARRAY(i), ARRAY(z), (a, b) -> a - b)[0]) AS zipped,
                         TRANSFORM(COLLECT_LIST(i), n -> n + COUNT(*)) AS over
                  FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]""",
    "captured": """SELECT SUM(TRANSFORM(ARRAY(z), i -> i * 100 + y)[0]) AS total
                   FROM (SELECT ts, z, i AS y FROM ticks) AS q WINDOW 10 SECONDS EMIT INSERTS""",
    "failing": """SELECT COUNT(*) AS n, SUM(CAST(text AS INT)) AS cast, SUM(100 / z) AS ratio, SUM(100 % z) AS rest,
                         COUNT(big + big) AS added, COUNT(i * 1000000000) AS times, MAX(CAST(text AS DATE)) AS day,
                         SUM(big) AS total, SUM(z) / (COUNT(*) - COUNT(*)) AS over
                  FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]""",
}


def declare(session: Session) -> None:
    """Users' functions and aggregates. They are defined in here, so that workers get them with the plan."""

    class Joined:
        """All values, in the order of their folding."""

        returns = "STRING"

        def init(self) -> list[Any]:
            return []

        def add(self, state: list[Any], value: Any) -> None:
            state.append(value)

        def merge(self, state: list[Any], other: list[Any]) -> list[Any]:
            return state + other

        def finish(self, state: list[Any]) -> str:
            return ",".join(map(str, state))

    class Path(Joined):
        """The same, for an aggregate whose rows are kept."""

        merge = None

    class Weighted:
        def init(self) -> tuple[int, int]:
            return (0, 0)

        def add(self, state: tuple[int, int], value: int | None, weight: int) -> tuple[int, int]:
            return state if value is None else (state[0] + value * weight, state[1] + weight)

        def merge(self, state: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
            return (state[0] + other[0], state[1] + other[1])

        def finish(self, state: tuple[int, int]) -> float | None:
            return state[0] / state[1] if state[1] else None

    class Spread:
        def init(self) -> list[int]:
            return []

        def add(self, state: list[int], value: int | None) -> list[int]:
            return state if value is None else [*state, value]

        def finish(self, state: list[int]) -> int | None:
            return max(state) - min(state) if state else None

    session.spark.udf.register("is_odd", lambda value: None if value is None else value % 2 == 1, "boolean")
    session.spark.udf.register("twice", lambda value: None if value is None else 2 * value, "int")
    session.spark.udf.register("shout", lambda text: None if text is None else f"{text}!".upper(), "string")
    session.aggregate("joined", Joined)
    session.aggregate("path", Path, returns="STRING")
    session.aggregate("weighted", Weighted, returns="DOUBLE")
    session.aggregate("Spread", Spread, returns="BIGINT")


@pytest.fixture(scope="module")
def results(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Rows]]:
    folder = tmp_path_factory.mktemp("functions")
    put(folder / "in", EVENTS.slice(0, 3), EVENTS.slice(3))
    session = windrow.Session(spark, shards=2)
    declare(session)
    session.stream("ticks", stream_of(spark, folder / "in", SCHEMA), time="ts")
    for name, text in QUERIES.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=folder / name) for name in QUERIES}
    job = session.start(str(folder / "checkpoint"), sinks, trigger="available now")
    finish(job)
    answers = {name: sorted(rows_of(folder / name), key=str) for name in QUERIES}
    yield answers | {"progress": [job.progress()["ticks"]]}
    for name in ("is_odd", "twice", "shout"):
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


def values(rows: Rows, *columns: str) -> set[tuple]:
    return {(row["window_end"] - START, *(row[column] for column in columns)) for row in rows}


FIRST, SECOND_END = 10 * SECOND, 20 * SECOND


def test_a_udf_chooses_rows(results: dict[str, Rows]):
    assert values(results["chosen"], "n") == {(FIRST, 2)}


def test_a_udf_works_inside_an_aggregate(results: dict[str, Rows]):
    assert values(results["inside"], "total") == {(FIRST, 20), (SECOND_END, 12)}


def test_udfs_work_over_aggregates_and_in_having(results: dict[str, Rows]):
    assert values(results["over"], "loud", "n") == {(FIRST, "B!", 9)}


def test_a_udf_makes_a_key(results: dict[str, Rows]):
    assert values(results["grouped"], "k", "n") == {
        (FIRST, "A!", 3),
        (FIRST, "B!", 1),
        (SECOND_END, "A!", 1),
        (SECOND_END, "B!", 1),
    }


def test_lambdas_keep_their_variables_and_see_columns(results: dict[str, Rows]):
    columns = ("plus", "folded", "shadowed", "found", "nested", "fits", "mapped", "zipped")
    assert values(results["lambdas"], *columns) == {
        (FIRST, 13, 34, 4, 1, 7, 2, 7, 7),
        (SECOND_END, 10, 22, 2, 1, 7, 2, 24, 2),
    }
    assert [sorted(row["over"]) for row in sorted(results["lambdas"], key=lambda row: row["window_end"])] == [
        [5, 6, 7, 8],
        [8],
    ]


def test_a_variable_does_not_catch_a_column_of_its_name(results: dict[str, Rows]):
    assert {row["total"] for row in results["captured"]} >= {101, 103, 306, 310}


def test_users_aggregates_see_exactly_the_rows_of_each_window(results: dict[str, Rows]):
    expected = {
        (5, "a", "1,3,4", "7,2024-02-30,2024-02-29", 7 / 3, 6),
        (5, "b", "2", "x", None, 0),
        (10, "a", "1,3,4", "7,2024-02-30,2024-02-29", 7 / 3, 6),
        (10, "b", "2", "x", None, 0),
        (15, "a", "6", "9", 6.0, 0),
        (15, "b", "None", "None", None, None),
        (20, "a", "6", "9", 6.0, 0),
        (20, "b", "None", "None", None, None),
    }
    found = values(results["own"], "k", "merged", "kept", "mean", "spread")
    assert found == {(seconds * SECOND, *rest) for seconds, *rest in expected}


def test_a_row_whose_expression_fails_gives_null_and_is_counted(results: dict[str, Rows]):
    columns = ("n", "cast", "ratio", "rest", "added", "times", "total", "over")
    assert values(results["failing"], *columns) == {
        (FIRST, 4, 7, 150.0, 0, 2, 2, None, None),
        (SECOND_END, 2, 9, 125.0, 0, 2, 0, 11, None),
    }
    days = {row["window_end"] - START: row["day"] for row in results["failing"]}
    assert str(days[FIRST]) == "2024-02-29" and days[SECOND_END] is None
    assert results["progress"][0]["failed"] > 0


def test_a_long_chain_of_operators_is_what_it_is_one_by_one(spark: SparkSession):
    frame = spark.sql("SELECT * FROM VALUES (1, 2L, 1.5D, 2147483600), (NULL, 3L, NULL, 5) AS t(i, b, d, big)")
    chains = {
        "i" + " + 1 - 1" * 40: [1, None],
        "big" + " + 1" * 60: [None, 65],
        "i" + " + 1" * 20 + " + b" + " - 1" * 20 + " + d" + " * 1 + 0.5D" * 20: [14.5, None],
    }
    shown = frame.select(*(F.expr(guarded(text, frame)) for text in chains)).collect()
    assert [list(column) for column in zip(*shown)] == list(chains.values())
    with quiet_analysis(), pytest.raises(QueryError, match="too deeply for Spark"):
        SparkEngine(spark).type_of(parse_expression("i" + " + 1.5" * 4_000), pa.schema({"i": pa.int32()}))


def test_arrays_are_ordered_as_spark_orders_them(spark: SparkSession):
    lists = [[2.0], [1.0, None], [1.0], [], None, [float("nan")], [1.0, -5.0], [None], [float("inf")]]
    rows = pa.table({"window_end": [1] * len(lists), "l": lists})
    frame = spark.createDataFrame([(value,) for value in lists], "l ARRAY<DOUBLE>").coalesce(1)
    for descending in (False, True):
        mine = first_of_each_window(rows, [Term("l", descending, not descending)], None)["l"].to_pylist()
        theirs = [row.l for row in frame.orderBy(F.desc("l") if descending else F.asc("l")).collect()]
        assert repr(mine) == repr(theirs)


def test_a_function_that_spark_does_not_know_is_refused_by_name(spark: SparkSession, tmp_path: Path):
    (tmp_path / "in").mkdir()
    session = windrow.Session(spark, shards=2)
    session.stream("ticks", stream_of(spark, tmp_path / "in", SCHEMA), time="ts")
    with pytest.raises(QueryError, match="unknown function 'frobnicate'"):
        session.query("q", "SELECT SUM(frobnicate(i)) AS s FROM ticks [RANGE 1 MINUTE SLIDE 1 SECOND]")
