"""Windows as plain values."""

import pytest
from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import (
    LevelsWindow,
    PredicateWindow,
    RowRangeTimeSlideWindow,
    RowWindow,
    SessionWindow,
    TimeRangeRowSlideWindow,
    TimeWindow,
    clustering_of,
    emit_of,
    parse_query,
    query_window_of,
    window_of,
)

SECOND, MINUTE, HOUR, DAY = 10**6, 60 * 10**6, 3600 * 10**6, 86400 * 10**6


def window(text):
    return window_of(parse_query(f"SELECT a FROM s {text} AS t").tree.find(exp.Table))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[RANGE 10 MINUTES SLIDE 2 MINUTES]", TimeWindow(10 * MINUTE, 2 * MINUTE)),
        ("[RANGE 10 MINUTES]", TimeWindow(10 * MINUTE)),
        ("[RANGE UNBOUNDED SLIDE 1 MINUTE]", TimeWindow(None, MINUTE)),
        ("[RANGE 1 DAY SLIDE 1 DAY OFFSET 6 HOURS]", TimeWindow(DAY, DAY, 6 * HOUR)),
        ("[RANGE 1 HOUR SLIDE 1 HOUR EMIT EVERY 1 SECOND]", TimeWindow(HOUR, HOUR, emit_every_us=SECOND)),
        ("[RANGE 1 HOUR SLIDE ABOUT 10 SECONDS]", TimeWindow(HOUR, 10 * SECOND, about=True)),
        ("[RANGE 5 MICROSECONDS SLIDE 0.5 MILLISECONDS]", TimeWindow(5, 500)),
        ("[ROWS 1000 SLIDE 10]", RowWindow(1000, 10)),
        ("[ROWS 1000]", RowWindow(1000)),
        ("[PARTITION BY k ROWS 100 SLIDE 1]", RowWindow(100, 1, (exp.column("k"),))),
        ("[RANGE 10 MINUTES SLIDE 50 ROWS]", TimeRangeRowSlideWindow(10 * MINUTE, 50)),
        ("[ROWS 1000 SLIDE 5 SECONDS]", RowRangeTimeSlideWindow(1000, 5 * SECOND)),
        ("[ROWS 100, 10 SLIDES 10, 1]", LevelsWindow((RowWindow(100, 10), RowWindow(10, 1)))),
        (
            "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND AGING (1, 0.5)]",
            LevelsWindow((TimeWindow(HOUR, MINUTE), TimeWindow(MINUTE, SECOND)), (1.0, 0.5)),
        ),
    ],
)
def test_a_window_is_read_in_microseconds_and_rows(text, value):
    assert window(text) == value


def test_a_predicate_window_holds_its_conditions():
    found = window("[FROM speed > 3 UNTIL speed = 0]")
    assert isinstance(found, PredicateWindow)
    assert (found.opens.sql(), found.closes.sql()) == ("speed > 3", "speed = 0")


def test_keys_may_stand_behind_what_a_window_reaches():
    assert window("[ROWS 100 SLIDE 1 PARTITION BY k, m]") == window("[PARTITION BY k, m ROWS 100 SLIDE 1]")
    assert window("[FROM a UNTIL b PARTITION BY k]") == window("[PARTITION BY k FROM a UNTIL b]")
    every = "EMIT EVERY 1 SECOND"
    assert window(f"[SESSION 5 MINUTES PARTITION BY k {every}]") == window(
        f"[PARTITION BY k SESSION 5 MINUTES {every}]"
    )
    with pytest.raises(QueryError, match="only one PARTITION BY"):
        window("[PARTITION BY k ROWS 100 PARTITION BY m]")


def test_a_session_has_a_gap_and_keys():
    found = window("[PARTITION BY k SESSION 1 HOUR]")
    assert isinstance(found, SessionWindow)
    assert (found.gap_us, [key.sql() for key in found.partition_by]) == (HOUR, ["k"])


def test_a_window_knows_its_place():
    query = parse_query("SELECT a\nFROM s [RANGE 1 HOUR] t")
    start, end = window_of(query.tree.copy().find(exp.Table)).span
    assert query.text[start:end] == "[RANGE 1 HOUR]"


def test_a_table_without_a_window_has_none():
    assert window("") is None


def test_a_window_is_part_of_what_a_tree_is():
    trees = [parse_query(f"SELECT a FROM s [RANGE {n} HOURS]").tree for n in (1, 2)]
    assert trees[0] != trees[1]
    assert trees[0] == trees[0].copy()
    assert hash(trees[0]) == hash(trees[0].copy())


def test_columns_of_a_predicate_window_are_found_by_a_walk():
    tree = parse_query("SELECT 1 FROM s [FROM speed > 3 UNTIL depth = 0]").tree
    assert {column.name for column in tree.find_all(exp.Column)} == {"speed", "depth"}


def test_the_window_of_a_query_and_its_mode_stand_on_a_whole_union():
    tree = parse_query("SELECT a FROM s UNION SELECT a FROM r WINDOW 1 MINUTE EMIT CHANGES").tree
    assert isinstance(tree, exp.Union)
    assert query_window_of(tree) == TimeWindow(MINUTE)
    assert emit_of(tree) == "CHANGES"
    assert query_window_of(tree.expression) is None
    assert emit_of(tree.expression) is None


def test_a_clustering_stays_with_its_own_select_of_a_union():
    tree = parse_query("SELECT a FROM s UNION SELECT CENTER(c) FROM r CLUSTER BY x, y AS c USING birch(5, 'z')").tree
    assert clustering_of(tree) is None
    clustering = clustering_of(tree.expression)
    assert (clustering.name, clustering.method) == ("c", "birch")
    assert [argument.sql() for argument in clustering.arguments] == ["5", "'z'"]
    assert [expression.sql() for expression in clustering.expressions] == ["x", "y"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[TUMBLING 10 MINUTES]", "[RANGE 10 MINUTES SLIDE 10 MINUTES]"),
        ("[RANGE 10 MINUTES STEP 5 MINUTES]", "[RANGE 10 MINUTES SLIDE 5 MINUTES]"),
        ("[10 MINUTES]", "[RANGE 10 MINUTES]"),
        ("[LAST 10 MINUTES]", "[RANGE 10 MINUTES]"),
        ("[SIZE 10 MINUTES ADVANCE BY 1 MINUTE]", "[RANGE 10 MINUTES SLIDE 5 MINUTES]"),
    ],
)
def test_words_of_other_languages_are_answered_with_ours(written, meant):
    with pytest.raises(QueryError) as caught:
        window(written)
    assert meant in caught.value.hint and caught.value.at == written_at(written, caught.value.at)


def written_at(written: str, at: int) -> int:
    """The place of a mistake, which lies in the window."""
    begins = len("SELECT a FROM s ")
    assert begins < at < begins + len(written)
    return at
