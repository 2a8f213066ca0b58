"""SQL over what an index holds: as DuckDB answers it over the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow import Replay
from windrow.errors import QueryError
from windrow.indexes.facts import IndexFacts
from windrow.language import parse_query
from windrow.local.key_bounds import bounds_of

ROWS = st.lists(
    st.tuples(
        st.integers(0, 30), st.none() | st.integers(-2, 3), st.sampled_from(["a", "b", "", None]), st.integers(0, 9)
    ),
    max_size=30,
)
WHERE = [
    "", "WHERE k = 1", "WHERE K = 1 AND name >= 'a'", "WHERE k = 99", "WHERE k BETWEEN -1 AND 2 AND v > 3", "WHERE k > 0.5",
    "WHERE name = 'a'", "WHERE k IS NULL", "WHERE 0 <= k AND k < 2", "WHERE v > (SELECT AVG(v) FROM found)",
    "WHERE k = 1 OR name = 'b'", "WHERE k IN (SELECT v FROM found)",
]  # fmt: skip
QUESTIONS = [
    "SELECT COUNT(*) AS n, SUM(v) AS total, MAX(name) AS most FROM found {where}",
    "SELECT COALESCE(MAX(v), -1) AS most, COUNT(*) + 1 AS n FROM found {where} HAVING COUNT(*) < 3",
    "SELECT DISTINCT COUNT(*) AS n FROM found {where}",
    "SELECT k, COUNT(*) AS n FROM found {where} GROUP BY k",
    "SELECT k, name, v FROM found {where}",
    "SELECT k + 1 AS k, ABS(v) AS v FROM found {where} ORDER BY v, 1 LIMIT 3",
    "SELECT v, k FROM found {where} ORDER BY v DESC NULLS LAST, k NULLS FIRST",
    "SELECT v, k FROM found {where} ORDER BY v, k NULLS FIRST LIMIT 3 OFFSET 2",
    "SELECT COUNT(*) AS n FROM (SELECT k + 1 AS k, v FROM found) AS q {where}",
    "SELECT n FROM (SELECT k, COUNT(*) AS n FROM found {where} GROUP BY k) AS q WHERE n > 2",
    "SELECT MAX(n) AS n, COUNT(*) AS c FROM (SELECT COUNT(*) AS n FROM found {where}) AS q",
    "WITH q AS (SELECT k, v FROM found {where}), r AS (SELECT k FROM q WHERE v > 2) SELECT COUNT(*) AS n, MAX(k) AS k FROM r",
    "SELECT COUNT(*) AS n FROM found {where} UNION ALL SELECT k FROM found",
    "SELECT q.v, COUNT(*) AS n FROM found AS q JOIN found AS r ON q.k = r.k WHERE q.v > 2 GROUP BY q.v",
    "SELECT q.v FROM found AS q LEFT JOIN (SELECT k FROM found {where}) AS r ON q.k = r.k WHERE r.k IS NULL",
    "SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v, name NULLS FIRST) AS n FROM found {where}",
]


def held(rows: list[tuple[Any, ...]], key: str) -> Replay:
    seconds, keys, names, values = ([row[place] for row in rows] for place in range(4))
    times = pa.array([second * 1_000_000 for second in seconds], pa.timestamp("us", tz="UTC"))
    table = pa.table(
        {
            "ts": times,
            "k": pa.array(keys, pa.int32()),
            "name": pa.array(names, pa.string()),
            "v": pa.array(values, pa.int64()),
        }
    )
    replay = Replay(f"CREATE INDEX found ON s [RANGE 20 SECONDS SLIDE 5 SECONDS] ({key}) INCLUDE (v)", s=table)
    replay.run(flush=True)
    return replay


def plain(rows: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    return [{name: None if value is None else str(value) for name, value in row.items()} for row in rows]


@settings(deadline=None)
@given(ROWS, st.sampled_from(["k, name", "name, k"]), st.sampled_from(WHERE), st.sampled_from(QUESTIONS))
def test_sql_over_an_index_is_answered_as_by_duckdb(
    rows: list[tuple[Any, ...]], key: str, where: str, question: str
) -> None:
    replay, text = held(rows, key), question.format(where=where)
    database = duckdb.connect()
    database.register("found", replay.scan("found"))
    expected = plain(database.sql(text).to_arrow_table().to_pylist())
    found = plain(replay.ask(text).to_pylist())
    in_order = "ORDER BY v" in question and "OVER" not in question
    assert found == expected if in_order else sorted(map(repr, found)) == sorted(map(repr, expected))


@pytest.mark.parametrize(
    ("where", "read"),
    [
        ("day = DATE '2024-01-02'", {"day": date(2024, 1, 2)}),
        ("day >= DATE '2024-01-01' + INTERVAL 1 DAY AND toll = 1.5", {"day": (date(2024, 1, 2), None)}),
        ("day IS NULL AND toll BETWEEN 1 AND 2.25", {"day": None, "toll": (1, Decimal("2.25"))}),
        ("day IS NULL AND toll = 1.5 AND mile < 3 / 2", {"day": None, "toll": Decimal("1.5"), "mile": (None, 1.5)}),
        ("day IS NULL AND toll > 1.125", {"day": None}),
        ("DAY = DATE '2024-01-02' AND 1 = toll AND mile > -0.5", {"day": date(2024, 1, 2), "toll": 1, "mile": (-0.5, None)}),
        ("day = toll", {}),
        ("day = (SELECT MAX(day) FROM found)", {}),
        ("day IS NOT NULL OR toll = 1", {}),
    ],
)  # fmt: skip
def test_what_where_says_of_the_first_columns_of_the_key_is_what_is_read(where: str, read: dict[str, Any]) -> None:
    columns = {"day": pa.date32(), "toll": pa.decimal128(9, 2), "mile": pa.float64()}
    facts = IndexFacts("found", tuple(columns), pa.schema(columns), 300, 60)
    tree = parse_query(f"SELECT 1 FROM found WHERE {where}").tree
    assert bounds_of(tree.args["where"], facts) == read
    assert bounds_of(None, facts) == {}


def test_a_limit_without_an_order_is_of_the_first_in_time() -> None:
    replay = held([(second, 5 - second, "a", second) for second in range(5)], "k, name")
    assert replay.ask("SELECT v FROM found LIMIT 2")["v"].to_pylist() == [0, 1]
    assert replay.ask("SELECT v FROM found LIMIT 0").num_rows == 0


@pytest.mark.parametrize(
    ("text", "why", "at"),
    [
        ("SELECT nope FROM found WHERE k = 1", "unknown column 'nope'", "nope"),
        ("SELECT v FROM found EMIT CHANGES", "answered once", "EMIT"),
        ("SELECT window_end, COUNT(*) AS n FROM found", "has no window_end", "window_end"),
        ("SELECT v FROM found, other", "there is no index 'other'", "other"),
        ("SELECT v FROM found WHERE k = NULL", "no row can meet", "k = NULL"),
        ("SELECT 1", "an index is asked by a SELECT", "SELECT"),
    ],
)
def test_a_mistake_is_underlined_in_the_text_that_was_written(text: str, why: str, at: str) -> None:
    with pytest.raises(QueryError, match=why) as told:
        held([(1, 1, "a", 1)], "k, name").ask(text)
    assert f"{text}\n  {' ' * text.index(at)}^" in str(told.value)
