"""Conditions that no row can meet are refused, and only those: DuckDB finds no row for them among all values."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.language import parse_query
from windrow.plan.bind.contradictions import refuse_contradictions

NEVER = {
    "n IS NULL AND n > 3": "the others leave no such 'n'",
    "n > 3 AND n IS NULL": "the others leave no such 'n'",
    "n IS NULL AND n IS NOT NULL": "the others leave no such 'n'",
    "n <=> NULL AND n = 2": "the others leave no such 'n'",
    "n IS NULL AND n BETWEEN 1 AND 3": "the others leave no such 'n'",
    "n IS NULL AND n IN (1, 2)": "the others leave no such 'n'",
    "n IS NULL AND n NOT IN (1, 2)": "the others leave no such 'n'",
    "k IS NULL AND k LIKE 'a%'": "the others leave no such 'k'",
    "n = 1 AND n = 2": "the others leave no such 'n'",
    "n <=> 1 AND n = 2": "the others leave no such 'n'",
    "n IN (1, 2) AND n > 5": "the others leave no such 'n'",
    "n IN (1, 2) AND n IN (3, 4)": "the others leave no such 'n'",
    "n IN (1, 2) AND n NOT IN (1, 2, 3)": "the others leave no such 'n'",
    "(n = 1 OR n = 2) AND n = 3": "the others leave no such 'n'",
    "n = 1 AND n <> 1": "the others leave no such 'n'",
    "n BETWEEN 5 AND 3": "it leaves no 'n'",
    "k = 'nut' AND k = 'bolt'": "the others leave no such 'k'",
    "k IN ('nut', 'gear') AND k = 'bolt'": "the others leave no such 'k'",
    "k BETWEEN '2024-02-01' AND '2024-01-01'": "it leaves no 'k'",
    "n > 3 AND NOT n > 2": "the others leave no such 'n'",
    "NOT n <> 1 AND n = 2": "the others leave no such 'n'",
    "n > 5 AND (n < 3 OR n = 4)": "the others leave none of what stands between its ORs",
    "NOT (n > 3 OR n <= 3)": "the others leave no such 'n'",
    "k < TIMESTAMP '2024-01-01' AND k >= TIMESTAMP '2024-02-01'": "the others leave no such 'k'",
    "n <> n": "'n' is compared with itself",
    "n > n": "'n' is compared with itself",
}
OF_MORE = [
    "SELECT k FROM a [RANGE 5 SECONDS] GROUP BY k HAVING COUNT(*) > 5 AND COUNT(*) < 3",
    "SELECT k, COUNT(*) AS c FROM a [RANGE 5 SECONDS] GROUP BY k EMIT WHEN c > 5 AND c < 3",
    "SELECT k, COUNT(*) AS c FROM a [RANGE 5 SECONDS] GROUP BY k EMIT WHEN MAX(n) = NULL",
    "SELECT n FROM a [RANGE 5 SECONDS] QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1 AND n > 3 AND n < 2",
    "SELECT COUNT(*) AS c FROM a [FROM n > 3 AND n < 2 UNTIL n = 5]",
    "SELECT SUM(n) FILTER (WHERE n > 3 AND n < 2) AS s FROM a [RANGE 5 SECONDS]",
    "SELECT a.n FROM a [RANGE 5 SECONDS] JOIN b [RANGE 5 SECONDS] ON a.k = b.k AND a.n > 5 WHERE a.n < 3",
    "SELECT k FROM a [RANGES 9 SECONDS, 3 SECONDS SLIDES 3 SECONDS, 1 SECOND] GROUP BY k HAVING level = 2",
    "SELECT k FROM a [RANGES 9 SECONDS, 3 SECONDS SLIDES 3 SECONDS, 1 SECOND] WHERE level < 0 GROUP BY k",
    "SELECT k FROM a [RANGE 5 SECONDS SLIDE 5 SECONDS] WHERE window_end < window_start GROUP BY k",
    "SELECT k FROM a [RANGE 5 SECONDS SLIDE 5 SECONDS] WHERE window_start > window_end GROUP BY k",
    "SELECT n FROM a [RANGE 5 SECONDS] QUALIFY ROW_NUMBER() OVER (ORDER BY n) < 1",
    "SELECT n, RANK() OVER (ORDER BY n) AS r FROM a [RANGE 5 SECONDS] QUALIFY r = 0",
    "SELECT n FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM a [RANGE 5 SECONDS]) AS q WHERE 1 > r",
    "SELECT k, COUNT(*) AS c FROM a [RANGE 5 SECONDS] GROUP BY k HAVING c = 0",
    "SELECT COUNT(*) AS c FROM a [RANGE 5 SECONDS] HAVING COUNT(n) < 0",
    "SELECT k FROM a [PARTITION BY k ROWS 5 SLIDE 1] GROUP BY k HAVING window_row <= 0",
    "SELECT COUNT(*) AS c FROM a [PARTITION BY k FROM n > 3 UNTIL n IS NULL AND n > 5]",
]
SOME = [
    "NOT n = 1 AND n = 2",
    "n = n",
    "NOT (n > 3 AND n < 2)",
    "n IS NULL OR n > 3",
    "n >= 3 AND n <= 3",
    "n IN (1, NULL) AND n < 2",
    "n NOT IN (1, 2) AND n IN (2, 3)",
    "n = 1 AND n = 1.0",
    "k = '1' AND k = '1.0'",
    "k = 'true' AND k = 't'",
    "k = '2024-01-01' AND k = '2024-01-01 00:00:00'",
    "n = 1 AND m = 2",
    "n IS NULL AND m > 3",
    "n IS NULL AND n NOT IN (SELECT n FROM b [RANGE 1 SECOND])",
    "n IS NULL AND COALESCE(n, 4) > 3",
    "n <> 1 AND n <> 2",
    "NOT (n IS NULL) AND n > 2",
    "n > 5 AND (n < 3 OR n = 6)",
    "NOT (n > 3 OR n < 3)",
    "NOT (n > 3 AND n <= 3)",
]
OF_SOME = [
    "SELECT COUNT(*) AS c FROM a [RANGE 5 SECONDS] HAVING COUNT(*) = 0",
    "SELECT k FROM a [RANGES 9 SECONDS, 3 SECONDS SLIDES 3 SECONDS, 1 SECOND] GROUP BY k HAVING level = 1",
    "SELECT k FROM a [RANGE 5 SECONDS SLIDE 5 SECONDS] WHERE level = 7 GROUP BY k",
    "SELECT k FROM a [ROWS 5 SLIDE 1] WHERE window_start = window_end GROUP BY k",
    "SELECT n, RANK() OVER (ORDER BY n) AS r FROM a [RANGE 5 SECONDS] QUALIFY r = 1",
    "SELECT k, COUNT(*) - 1 AS c FROM a [RANGE 5 SECONDS] GROUP BY k HAVING c = 0",
    "SELECT k, COUNT(n) AS c FROM a [RANGE 5 SECONDS] GROUP BY k HAVING c = 0",
    "SELECT k, COUNT(*) FILTER (WHERE n > 1) AS c FROM a [RANGE 5 SECONDS] GROUP BY k HAVING c = 0",
    "SELECT a.n FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 5 SECONDS] ON a.k = b.k AND a.n > 5 WHERE a.n < 3",
]


def refused(condition: str) -> str | None:
    query = parse_query(f"SELECT n FROM a [RANGE 5 SECONDS] WHERE {condition}")
    try:
        refuse_contradictions(query.tree, query.text)
    except QueryError as error:
        assert error.at is not None and error.hint
        return error.message
    return None


@pytest.mark.parametrize("condition", NEVER)
def test_a_condition_that_no_row_can_meet_is_refused_where_it_stands(condition):
    assert NEVER[condition] in (refused(condition) or "")


@pytest.mark.parametrize("text", OF_MORE)
def test_so_it_is_of_groups_alerts_ranks_and_of_what_windows_begin_and_end_with(text):
    query = parse_query(text)
    with pytest.raises(QueryError, match="no row can meet this condition") as caught:
        refuse_contradictions(query.tree, query.text)
    assert caught.value.at is not None and caught.value.hint


@pytest.mark.parametrize("text", OF_SOME)
def test_what_groups_levels_and_ranks_can_be_is_not_refused(text):
    query = parse_query(text)
    refuse_contradictions(query.tree, query.text)


def test_a_column_of_the_stream_is_what_its_name_means():
    events = pa.table({"ts": pa.array([1], pa.timestamp("s", tz="UTC")), "c": [0], "k": ["a"]})
    asked = "SELECT k, COUNT(*) AS c FROM s [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k, s.c HAVING s.c = 0"
    assert windrow.replay(asked, s=events, flush=True)["c"].to_pylist() == [1]


@pytest.mark.parametrize("condition", SOME)
def test_a_condition_that_some_row_meets_is_not(condition):
    assert refused(condition) is None


NUMBER = st.integers(0, 4).map(str)
SIGN = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM"])
CONDITION = st.one_of(
    st.builds("n {} {}".format, SIGN, NUMBER),
    st.builds("{} {} n".format, NUMBER, SIGN),
    st.builds("NOT n {} {}".format, SIGN, NUMBER),
    st.builds("n BETWEEN {} AND {}".format, NUMBER, NUMBER),
    st.builds("n NOT BETWEEN {} AND {}".format, NUMBER, NUMBER),
    st.builds("n {}IN ({}, {})".format, st.sampled_from(["", "NOT "]), NUMBER, NUMBER | st.just("NULL")),
    st.builds("n IS {}NULL".format, st.sampled_from(["", "NOT "])),
    st.builds("(n = {} OR n = {})".format, NUMBER, NUMBER),
    st.builds("(n = {} OR n IS NULL)".format, NUMBER),
    st.builds("NOT (n {} {})".format, SIGN, NUMBER),
    st.builds("(n {} {} OR n {} {})".format, SIGN, NUMBER, SIGN, NUMBER),
    st.builds("NOT (n {} {} OR NOT n {} {})".format, SIGN, NUMBER, SIGN, NUMBER),
    st.builds("(n {} {} AND n {} {} OR n IS NULL)".format, SIGN, NUMBER, SIGN, NUMBER),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(CONDITION, min_size=1, max_size=4))
def test_what_is_refused_has_no_row_in_duckdb(conditions):
    condition = " AND ".join(conditions)
    if refused(condition.replace("IS NOT DISTINCT FROM", "<=>")) is not None:
        values = "(SELECT unnest([NULL, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5]) AS n)"
        assert duckdb.sql(f"SELECT n FROM {values} WHERE {condition}").fetchall() == []


def test_of_conditions_on_one_whole_number_none_is_missed():
    found = [
        "n = 1 AND n > 1",
        "n < 3 AND n IN (3, 4)",
        "1 = n AND n <> 1",
        "n >= 2 AND n BETWEEN 0 AND 1",
        "n > 3 AND n <= 3",
    ]
    assert all(refused(condition) for condition in found)
