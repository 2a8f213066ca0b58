"""Replay's expressions against Spark's own, over rows with every kind of oddity, and the errors for the rest."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from expression_cases import FAMILIES, MATHS
from expression_rows import rows
from sqlglot import exp
from zoned_cases import ZONED

from windrow.errors import NotSupportedYet, QueryError
from windrow.expressions.evaluate import FUNCTIONS, evaluate, type_of
from windrow.language import Windrow
from windrow.spark.expressions import guarded

TABLE = rows()
INEXACT = frozenset(MATHS)
# Spark's analyser slows down with the width of a projection.
WIDTH = 100


def parse(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect=Windrow)


@pytest.fixture(scope="module")
def answers(spark) -> dict[str, pa.Array]:
    """What Spark says to each expression."""
    return asked(spark, list(dict.fromkeys(case for family in FAMILIES.values() for case in family)), "UTC")


def asked(spark, cases: list[str], zone: str) -> dict[str, pa.Array]:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    # To compile two thousand expressions takes longer than to interpret them over these rows.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    # Spark reads timestamps without a zone as TIMESTAMP, unless told.
    frame = session.createDataFrame(TABLE).selectExpr("* EXCEPT (nt)", "CAST(nt AS TIMESTAMP_NTZ) AS nt")
    declared = session.createDataFrame([], frame.schema)
    session.conf.set("spark.sql.session.timeZone", zone)
    found: dict[str, pa.Array] = {}
    for start in range(0, len(cases), WIDTH):
        part = cases[start : start + WIDTH]
        texts = (f"{guarded(case, declared)} AS c{place}" for place, case in enumerate(part))
        answer = frame.selectExpr(*texts).toArrow()
        found |= {case: in_utc(answer.column(place).combine_chunks()) for place, case in enumerate(part)}
    return found


def in_utc(array: pa.Array) -> pa.Array:
    """Instants are the same in every zone."""
    instants = pa.types.is_timestamp(array.type) and array.type.tz is not None
    return array.cast(pa.timestamp("us", "UTC")) if instants else array


def plain(array: pa.Array) -> list[Any]:
    """Python values; times as numbers, since Python's end in the year 9999."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.int32())
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    return array.to_pylist()


def agree(mine: Any, sparks: Any, *, exact: bool) -> bool:
    if isinstance(mine, list | tuple) and isinstance(sparks, list | tuple):
        return len(mine) == len(sparks) and all(agree(*pair, exact=exact) for pair in zip(mine, sparks, strict=True))
    if isinstance(mine, dict) and isinstance(sparks, dict):
        return list(mine) == list(sparks) and agree(list(mine.values()), list(sparks.values()), exact=exact)
    if not (isinstance(mine, float) and isinstance(sparks, float)):
        return mine == sparks and type(mine) is type(sparks)
    if math.isnan(sparks) or math.isnan(mine):
        return math.isnan(sparks) and math.isnan(mine)
    if mine == sparks:
        return math.copysign(1, mine) == math.copysign(1, sparks)
    return not exact and math.isclose(mine, sparks, rel_tol=4 * np.finfo(float).eps)


@pytest.mark.parametrize("family", FAMILIES)
def test_replay_gives_what_spark_gives(family: str, answers: dict[str, pa.Array]) -> None:
    compare({case: answers[case] for case in FAMILIES[family]}, "UTC")


@pytest.mark.parametrize("zone", [pytest.param("Europe/Berlin", marks=pytest.mark.slow), "America/Havana"])
def test_in_other_time_zones_tasks_give_what_spark_gives(zone: str, spark) -> None:
    compare(asked(spark, ZONED, zone), zone)


def compare(answers: dict[str, pa.Array], zone: str) -> None:
    wrong = []
    for case, sparks in answers.items():
        mine = evaluate(parse(case), TABLE, zone)
        if mine.type != sparks.type or type_of(parse(case), TABLE.schema, zone) != sparks.type:
            wrong.append(f"{case}: {mine.type}, and {sparks.type} in Spark")
            continue
        assert len(mine) == TABLE.num_rows
        for row, (left, right) in enumerate(zip(plain(mine), plain(sparks), strict=True)):
            if not agree(left, right, exact=case not in INEXACT):
                wrong.append(f"{case}, row {row}: {left!r}, and {right!r} in Spark")
                break
    assert not wrong, "\n".join(wrong)


def test_every_function_is_tried_against_spark() -> None:
    written = " ".join(case for family in FAMILIES.values() for case in family).lower()
    assert set(re.findall(r"([a-z_0-9]+)\(", written)) | {"rlike"} >= FUNCTIONS


def test_the_documented_functions_are_those_that_are_evaluated() -> None:
    page = Path(__file__).parents[2] / "docs" / "functions_replay.md"
    rows = [line.split("|")[2] for line in page.read_text().splitlines() if line.startswith("| ") and "`" in line]
    assert set(re.findall(r"`([a-z_0-9]+)`", " ".join(rows))) == FUNCTIONS


@pytest.mark.parametrize(
    "case", ["i + j", "round(m, 1)", "x LIKE 'a%'", "substring(x, t, 2)", "n * m", "CAST(d AS STRING)"]
)
def test_slices_chunks_and_batches_give_the_same(case: str) -> None:
    whole = evaluate(parse(case), TABLE)
    part = TABLE.slice(17, 50)
    assert plain(evaluate(parse(case), part)) == plain(whole.slice(17, 50))
    chunked = pa.concat_tables([TABLE.slice(0, 9), TABLE.slice(9)])
    assert plain(evaluate(parse(case), chunked)) == plain(whole)
    assert plain(evaluate(parse(case), part.to_batches()[0])) == plain(whole.slice(17, 50))
    assert evaluate(parse(case), TABLE.schema.empty_table()).type == whole.type


def test_arrow_types_that_spark_reads_as_one_are_one() -> None:
    table = pa.table(
        {
            "text": pa.array(["a"], pa.large_string()),
            "code": pa.array(["a"]).dictionary_encode(),
            "moment": pa.array([1], pa.timestamp("ms", "Europe/Berlin")),
        }
    )
    assert evaluate(parse("text = code"), table).to_pylist() == [True]
    assert evaluate(parse("unix_micros(moment)"), table).to_pylist() == [1000]
    assert type_of(parse("code"), table.schema) == pa.string()
    with pytest.raises(NotSupportedYet, match="uint8"):
        evaluate(parse("n + 1"), pa.table({"n": pa.array([1], pa.uint8())}))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("histogram_numeric_of(x)", "replay does not evaluate histogram_numeric_of"),
        ("my_udf(x)", "replay does not evaluate my_udf"),
        ("bigint(d)", "replay does not evaluate bigint"),
        ("ceil(d, 1)", "replay does not evaluate ceil of 2 arguments"),
        ("to_date(x, 'YYYY')", "replay does not evaluate the pattern 'YYYY': at 'YYYY'"),
        ("to_date(x, y)", "replay does not evaluate to_date with y, only constants"),
        ("to_timestamp(x, 'yyyyMMddHHmmssSSS')", "replay does not evaluate the pattern"),
        ("to_timestamp(x, 'HH a')", "one field decides on another"),
        ("regexp_replace(x, 'x*', '-')", "the regular expression 'x.', which may be empty"),
        ("split(x, y)", "replay does not evaluate split with y, only constants"),
        ("regexp_extract(x, '(a*)*', 1)", r"at '\(a\*\)\*'"),
        ("get_json_object(x, '$[*].a')", "replay does not evaluate the JSON path"),
        ("map(x, i)", "replay does not evaluate maps of keys that are no constants"),
        ("ts - us", "replay does not evaluate - of TIMESTAMP"),
        ("ts + INTERVAL 1 MONTH 1 DAY", "replay does not evaluate intervals in MONTH and others, whose length varies"),
        ("from_utc_timestamp(ts, 'CST')", "replay does not know the time zone 'CST'"),
        ("format_string('%tY', ts)", "replay does not evaluate format_string of '%tY'"),
        ("encode(x, 'US-ASCII')", "replay does not evaluate the charset 'US-ASCII'"),
        ("hash(ai)", "replay does not hash"),
        ("x RLIKE '(?m)a'", "replay does not evaluate the regular expression"),
        ("round(d, t)", "replay does not evaluate round to places that are no constant"),
        ("CAST(x AS INTERVAL DAY)", "replay does not evaluate casts to INTERVAL DAY"),
        ("substring(x, l)", "replay does not evaluate substring of BIGINT"),
        ("array_sort(ai, (l, r) -> 1)", "replay does not evaluate array_sort with a lambda"),
        ("from_json(js, x)", "replay does not evaluate from_json with x, only constants"),
        ("from_json(js, 'a BINARY')", "replay does not read BINARY in JSON"),
        ("SUM(i)", r"replay does not evaluate SUM\(i\) as a row expression"),
    ],
)
def test_what_replay_lacks_is_refused_by_name(case: str, message: str) -> None:
    with pytest.raises(NotSupportedYet, match=message):
        type_of(parse(case), TABLE.schema)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("price + 1", "(?s)unknown column 'price'.*hint: known columns: t, s, i"),
        ("st.price", "(?s)unknown field 'price'.*hint: known fields: num, txt"),
        ("b + 1", r"\+ takes numbers, not BOOLEAN"),
        ("q < 1", "cannot compare DATE with INT"),
        ("coalesce(b, i)", "the values of coalesce have no common type: BOOLEAN, INT"),
        ("CAST(q AS INT)", "cannot cast DATE to INT"),
        ("x LIKE 'a!b' ESCAPE '!'", "the escape character stands before 'b'"),
        ("transform(ai, (x, k, m) -> 1)", "a lambda takes at most 2 variables here, not 3"),
        ("transform(ai, 1)", "transform takes a function"),
        ("aggregate(ai, 0.5D, (a, x) -> 1)", "takes DOUBLE and gives INT"),
        ("from_json(js, 'a, b')", "'a, b' is no schema"),
        ("d div 2", "div takes whole numbers or decimals, not DOUBLE"),
    ],
)
def test_mistakes_are_named(case: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        evaluate(parse(case), TABLE)
