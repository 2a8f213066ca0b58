"""Calls of aggregates that need the values of a window: what is asked for, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.errors import NotSupportedYet, QueryError

EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 3], pa.timestamp("s", tz="UTC")),
        "x": [1.0, 2.0, 4.0],
        "s": ["a", "b", "a"],
        "l": [[1], [], [2]],
        "z": [None, 7, None],
    }
)


def answered(call: str, slide: str = " SLIDE 10 SECONDS") -> object:
    query = f"SELECT {call} AS a FROM events [RANGE 10 SECONDS{slide}]"
    return windrow.replay(query, events=EVENTS, flush=True)["a"].to_pylist()[0]


@pytest.mark.parametrize(
    "call, answer",
    [
        ("QUANTILE(x, 0)", 1.0),
        ("QUANTILE(x, 1)", 4.0),
        ("QUANTILE(x, (5e-1))", 2.0),
        ("quantile(x, 0.75)", 3.0),
        ("PERCENTILE(x, 0.25)", 1.5),
        ("QUANTILE(x, 0.5) - MEDIAN(x)", 0.0),
        ("MODE(s)", "a"),
        ("ARRAY_AGG(s)", ["a", "b", "a"]),
        ("COUNT(DISTINCT upper(s))", 2),
        ("APPROX_PERCENTILE(x, 0)", 1.0),
        ("COLLECT_LIST(z) RESPECT NULLS", [None, 7, None]),
        ("ARRAY_AGG(z) FILTER (WHERE x > 1) RESPECT NULLS", [7, None]),
        ("ARRAY_AGG(z) IGNORE NULLS", [7]),
        ("FIRST(z) RESPECT NULLS", None),
        ("LAST(z) IGNORE NULLS", 7),
    ],
)
def test_a_call_may_be_written_in_several_ways(call, answer):
    assert answered(call) == answer


@pytest.mark.parametrize(
    "call, said",
    [
        ("QUANTILE(x, 1.5)", "the share of QUANTILE is from 0 to 1, and this is 1.5"),
        ("QUANTILE(x, -0.1)", "the share of QUANTILE is from 0 to 1, and this is -0.1"),
        ("TOPK(x)", "TOPK takes a value and a constant, and this has 1 arguments"),
        ("TOPK(x, 0)", "TOPK takes a whole number from 1 to 100000, and this is 0"),
        ("TOPK(l, 2)", "TOPK needs values that can be ordered"),
        ("HISTOGRAM_NUMERIC(x, 1)", "HISTOGRAM_NUMERIC takes a whole number from 2 to 100000, and this is 1"),
        ("APPROX_TOP_K(x, 5, 4)", "APPROX_TOP_K takes a whole number from 5 to 1000000, and this is 4"),
        ("EWMA(x, 5)", "the half-life of EWMA is a duration, and this is 5"),
        ("EWMA(x, '0 seconds')", "a half-life must have a length"),
        ("STRING_AGG(s, s)", "what stands between the texts is a text in quotes, and this is s"),
        ("STRING_AGG(l, ',')", "STRING_AGG needs texts, and l is ARRAY<BIGINT>"),
        ("BIT_AND(x)", r"BIT_AND needs whole numbers, and x is DOUBLE[^~]*CAST\(x AS BIGINT\)"),
        ("GEOMETRIC_MEAN(s)", "GEOMETRIC_MEAN needs numbers, and s is STRING"),
        ("MIN_BY(x, l)", "MIN_BY needs values that can be ordered"),
        ("MAP_AGG(l, x)", "MAP_AGG needs keys that are no arrays, maps or structs"),
        ("QUANTILE(x, 90)", r"a percentage is divided by 100: 0\.9"),
        ("APPROX_QUANTILE(x, 2)", "the share of APPROX_QUANTILE is from 0 to 1"),
        ("QUANTILE(x, x)", r"the share of QUANTILE is a number from 0 to 1, and this is x \(line"),
        ("QUANTILE(x, 0.7 + 0.7)", r"the share of QUANTILE is a number from 0 to 1, and this is 0\.7 \+ 0\.7"),
        ("QUANTILE(x, NULL)", "the share of QUANTILE is a number from 0 to 1, and this is NULL"),
        ("QUANTILE(x, '0.5')", r"the share of QUANTILE is a number from 0 to 1, and this is '0\.5'"),
        ("QUANTILE(x, CAST('NaN' AS DOUBLE))", "the share of QUANTILE is a number from 0 to 1"),
        ("PERCENTILE(x, 1.01)", r"the share of QUANTILE is from 0 to 1, and this is 1\.01"),
        ("APPROX_QUANTILE(x, x)", r"the share of APPROX_QUANTILE is a number from 0 to 1, and this is x \(line"),
        ("MEDIAN(s)", "MEDIAN needs numbers, and s is STRING"),
        ("APPROX_QUANTILE(s, 0.5)", "APPROX_QUANTILE needs numbers"),
        ("MODE(l)", "MODE needs values that can be ordered"),
        ("COUNT(DISTINCT l)", "COUNT_DISTINCT needs values that can be ordered"),
        ("COUNT(DISTINCT *)", r"COUNT takes an expression, and this is \* \(line 1, column 23\)"),
        ("SUM(*)", r"SUM takes an expression, and this is \*"),
        ("SUM(x) IGNORE NULLS", "SUM cannot be told to IGNORE NULLS"),
        ("COUNT(*) RESPECT NULLS", "COUNT cannot be told to RESPECT NULLS"),
        ("MEDIAN(x) RESPECT NULLS", "MEDIAN cannot be told to RESPECT NULLS"),
        ("MAD(x) IGNORE NULLS", "MAD cannot be told to IGNORE NULLS"),
        ("CORR(x, x) IGNORE NULLS", "CORR cannot be told to IGNORE NULLS"),
    ],
)
@pytest.mark.parametrize("slide", [" SLIDE 10 SECONDS", ""])
def test_what_cannot_be_asked_is_said_with_its_place(call, said, slide):
    with pytest.raises(QueryError, match=said) as error:
        answered(call, slide)
    assert error.value.line == 1


@pytest.mark.parametrize("call", ["COUNT(DISTINCT x, s)", "SUM(DISTINCT x)", "MEDIAN(DISTINCT x)"])
def test_other_distinct_aggregates_are_not_there_yet(call):
    with pytest.raises(NotSupportedYet, match="DISTINCT in an aggregate is not supported yet"):
        answered(call)
