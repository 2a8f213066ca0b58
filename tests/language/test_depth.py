"""Statements may be long and deep: up to what is stated they are read, bound, written and evaluated."""

from __future__ import annotations

import sys
from threading import Thread

import pyarrow as pa
import pytest

import windrow
from windrow.errors import QueryError
from windrow.language import expression_sql, parse_expression, parse_query, to_sql
from windrow.language.depth import DEEPEST_BRACKETS, DEEPEST_CHAIN
from windrow.language.long_lists import MANY

EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 7, 11], pa.timestamp("s", tz="UTC")),
        "i": pa.array([1, 2, 3, None], pa.int32()),
        "d": [-0.0, float("nan"), 2.5, None],
        "k": ["a", "B", None, "it''s"],
    }
)
SLIDING, HELD = "[RANGE 5 SECONDS SLIDE 5 SECONDS]", "[RANGE 5 SECONDS]"


def column(text: str) -> list:
    return windrow.replay(text, ev=EVENTS, flush=True).column(-1).to_pylist()


def chain(first: str, operators: int) -> str:
    return first + " + 1 - 1" * (operators // 2)


@pytest.mark.parametrize(("window", "operators"), [(SLIDING, 1000), (HELD, 300)])
def test_a_chain_of_a_thousand_operators_is_answered(window, operators):
    text = f"SELECT SUM({chain('i', operators - 100)}) + {chain('0', 98)} AS a FROM ev {window}"
    assert column(text) == column(f"SELECT SUM(i) + 0 AS a FROM ev {window}")


def test_the_longest_chain_is_read_and_written():
    query = parse_query(f"SELECT {chain('a', DEEPEST_CHAIN)} AS x FROM s")
    assert parse_query(to_sql(query)) == query
    with pytest.raises(QueryError, match="more than 1,000 operators") as caught:
        parse_query(f"SELECT {chain('a', DEEPEST_CHAIN + 2)} AS x FROM s")
    assert caught.value.column == 8
    with pytest.raises(QueryError, match=r"more than 1,000 operators|too deeply"):
        parse_query(f"SELECT {chain('a', 10 * DEEPEST_CHAIN)} AS x FROM s")


@pytest.mark.parametrize(
    ("window", "word", "count"), [(SLIDING, "AND", 1200), (SLIDING, "OR", 300), (HELD, "AND", 300)]
)
def test_conditions_may_be_thousands(window, word, count):
    condition = f" {word} ".join(f"i <> {number + 100 * (word == 'AND')}" for number in range(count))
    text = f"SELECT COUNT(*) AS n FROM ev {window} WHERE {condition} HAVING {' AND '.join(['COUNT(*) > 0'] * 99)}"
    assert column(text) == column(f"SELECT COUNT(*) AS n FROM ev {window} WHERE i IS NOT NULL")


def test_ten_thousand_conditions_are_read_and_written():
    text = " AND ".join(f"a{number % 7}" for number in range(10_000))
    assert expression_sql(parse_expression(text)) == text


NESTED = {
    "parentheses": ("(", "i", ")"),
    "calls": ("ABS(", "i", ")"),
    "cases": ("CASE WHEN i > 0 THEN ", "i", " END"),
    "signs": ("- - ", "i", ""),
    "casts": ("", "i", "::INT::INT"),
}


@pytest.mark.parametrize("kind", NESTED)
def test_what_is_nested_as_deep_as_is_stated_is_answered(kind):
    before, inner, after = NESTED[kind]
    depth = DEEPEST_BRACKETS - 1 if kind in ("calls", "parentheses", "cases") else DEEPEST_BRACKETS // 2 - 1
    assert column(f"SELECT SUM({before * depth}{inner}{after * depth}) AS a FROM ev {SLIDING}") == [3, 3, None]


@pytest.mark.parametrize("depth", [201, 2000])
@pytest.mark.parametrize("kind", NESTED)
def test_what_is_nested_deeper_is_refused_with_its_place(kind, depth):
    before, inner, after = NESTED[kind]
    with pytest.raises(QueryError, match=r"no statement may be|more than 1,000 operators|too deeply") as caught:
        parse_query(f"SELECT {before * depth}{inner}{after * depth} AS a FROM ev {SLIDING}")
    assert caught.value.at is not None


def test_room_on_the_stack_is_given_back():
    before = sys.getrecursionlimit()
    threads = [Thread(target=parse_query, args=(f"SELECT {'(' * 90}1{')' * 90}",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before


LISTS = {
    "i": [str(number) for number in range(2, 1000)],
    "d": ["0", "'2.5'", *(f"{number}.25" for number in range(500))],
    "k": ["'A'", "'a'", "'it'", *(f"'{number}'" for number in range(200))],
    "CAST(i AS STRING)": ["1", "'2'", *map(str, range(50, 200))],
    "CAST(i AS DECIMAL(10, 2))": ["1.00", "3", *(f"-{number}.5" for number in range(200))],
    "DATE '1970-01-02'": ["'1970-01-02'", *(f"'{2000 + number}-01-01'" for number in range(150))],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("unknown", [[], ["NULL"]])
@pytest.mark.parametrize("needle", LISTS)
def test_a_long_list_answers_as_its_items_one_by_one(needle, unknown):
    items = LISTS[needle] + unknown
    whole = f"{needle} IN ({', '.join(items)})"
    parts = [", ".join(items[start : start + MANY - 1]) for start in range(0, len(items), MANY - 1)]
    one_by_one = " OR ".join(f"{needle} IN ({part})" for part in parts)
    text = f"SELECT ts, {{}} AS x FROM ev {SLIDING} GROUP BY ts, {{}}"
    assert column(text.format(whole, whole)) == column(text.format(f"({one_by_one})", f"({one_by_one})"))


def test_a_list_of_eighty_thousand_is_one_node():
    items = ", ".join(f"'k{number}'" for number in range(80_000))
    text = f"SELECT COUNT(*) AS n FROM ev {SLIDING} WHERE NOT k IN ({items}) AND i > 0"
    query = parse_query(text)
    assert len(list(query.tree.walk())) < 40
    assert to_sql(query) == text
    assert column(text) == [2]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '{}' AS x FROM s",
        'SELECT "{}" AS x FROM s',
        "SELECT `{}` AS x FROM s",
        "SELECT r'\\' AS y, '{}' AS x FROM s",
        "SELECT 'it''s {}' AS x FROM s",
    ],
)
def test_a_list_inside_of_a_text_or_a_name_stays_as_it_is(text):
    inside = f"a IN ({', '.join(map(str, range(2 * MANY)))})"
    tree = parse_query(text.format(inside)).tree
    assert inside in tree.selects[-1].unalias().name


def test_a_list_inside_of_a_comment_is_none():
    items = ", ".join(map(str, range(2 * MANY)))
    assert to_sql(parse_query(f"SELECT a /* IN ({items}) */ FROM s -- IN ({items})\n")) == "SELECT a FROM s"


def test_an_error_behind_a_long_list_has_its_place():
    text = f"SELECT a FROM s WHERE a IN (\n{', '.join(map(str, range(2 * MANY)))}\n) AND b >"
    with pytest.raises(QueryError) as caught:
        parse_query(text + " GROUP BY c")
    assert caught.value.line == 3
    assert (text + " GROUP BY c")[caught.value.at : caught.value.end] == "GROUP BY"
