"""DISTINCT and OVER of the rows, and of the groups, of windows that are folded, beside DuckDB, in any batches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError, WindrowError

from .judge_windows import EVENTS, KINDS, Kind, events_of, judge, judged, replayed

BATCHES = st.integers(1, 9)
OF_ALL_KINDS = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
WINDOW = "line, place, begins, ends"


@OF_ALL_KINDS
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.sampled_from(["true", "x > 1"]))
def test_distinct_rows_of_a_window_are_each_told_once(kind: Kind, drawn, batch, where):
    events = events_of(kind, drawn)
    text = f"SELECT DISTINCT g, x % 2 AS odd FROM e {kind.text} WHERE {where}"
    theirs = f"SELECT begins, ends, g, x % 2 FROM w WHERE {where} GROUP BY {WINDOW}, g, x % 2"
    assert replayed(text, events, batch) == judged(judge(kind, events), theirs)


@OF_ALL_KINDS
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.integers(1, 3))
def test_rows_of_a_window_are_ranked_among_each_other(kind: Kind, drawn, batch, most):
    events = events_of(kind, drawn)
    ranks = "RANK() OVER (PARTITION BY {}g ORDER BY x DESC) AS r, DENSE_RANK() OVER ({}ORDER BY k, x) AS d"
    text = f"SELECT k, g, x, {ranks.format('', '')} FROM e {kind.text}"
    theirs = f"SELECT begins, ends, k, g, x, {ranks.format('line, place, ', 'PARTITION BY line, place ')} FROM w"
    assert replayed(text, events, batch) == judged(judge(kind, events), theirs)
    chosen = f"SELECT * FROM ({theirs}) WHERE r <= {most} AND d > 1"
    assert replayed(f"{text} QUALIFY r <= {most} AND d > 1", events, batch) == judged(judge(kind, events), chosen)
    around = f"SELECT * FROM ({text}) WHERE {most} >= r AND d > 1"
    assert replayed(around, events, batch) == judged(judge(kind, events), chosen)


@OF_ALL_KINDS
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES, st.sampled_from(["true", "x > 1"]), st.integers(1, 2))
def test_groups_of_a_window_are_numbered_after_having(kind: Kind, drawn, batch, where, most):
    events = events_of(kind, drawn)
    number = "ROW_NUMBER() OVER ({}ORDER BY SUM(x) DESC, g NULLS FIRST) AS nth"
    grouped = f"WHERE {where} GROUP BY {{}}g HAVING COUNT(*) < 5"
    text = f"SELECT g, SUM(x) AS s, {number.format('')} FROM e {kind.text} {grouped.format('')} QUALIFY nth <= {most}"
    theirs = (
        f"SELECT begins, ends, g, sum(x)::BIGINT, {number.format('PARTITION BY line, place ')} FROM w"
        f" {grouped.format(WINDOW + ', ')} QUALIFY nth <= {most}"
    )
    assert replayed(text, events, batch) == judged(judge(kind, events), theirs)


@OF_ALL_KINDS
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES)
def test_distinct_answers_of_groups_are_each_told_once(kind: Kind, drawn, batch):
    events = events_of(kind, drawn)
    text = f"SELECT DISTINCT COUNT(*) AS n, MAX(x) > 4 AS high FROM e {kind.text} GROUP BY g"
    theirs = f"SELECT {WINDOW}, count(*) AS n, max(x) > 4 AS high FROM w GROUP BY {WINDOW}, g"
    theirs = f"SELECT begins, ends, n, high FROM (SELECT DISTINCT * FROM ({theirs}))"
    assert replayed(text, events, batch) == judged(judge(kind, events), theirs)


@OF_ALL_KINDS
@settings(max_examples=examples(30), deadline=None)
@given(EVENTS, BATCHES)
def test_the_first_of_what_qualifies_are_taken_last(kind: Kind, drawn, batch):
    events = events_of(kind, drawn)
    number = "RANK() OVER (PARTITION BY {}k ORDER BY x)"
    text = (
        f"SELECT k, x, {number.format('')} * 2 AS r FROM e {kind.text} QUALIFY r < 5 ORDER BY r DESC, x DESC, k LIMIT 2"
    )
    theirs = (
        f"SELECT * FROM (SELECT {WINDOW}, k, x, {number.format('line, place, ')} * 2 AS r FROM w QUALIFY r < 5)"
        " QUALIFY row_number() OVER (PARTITION BY line, place ORDER BY r DESC, x DESC, k) <= 2"
    )
    theirs = f"SELECT begins, ends, k, x, r FROM ({theirs})"
    assert replayed(text, events, batch) == judged(judge(kind, events), theirs)


@pytest.mark.parametrize(
    ("window", "windows"),
    [
        ("[RANGES 8 SECONDS, 4 SECONDS SLIDES 4 SECONDS, 2 SECONDS]", "level, window_end"),
        ("[RANGE 8 SECONDS SLIDE 4 SECONDS CUMULATE]", "window_end"),
        ("[RANGE 8 SECONDS SLIDE 8 SECONDS EMIT EVERY 3 SECONDS]", "window_end, final, as_of"),
        ("[PARTITION BY k FROM x > 3 UNTIL x < 2]", "k, window_start, window_end"),
        ("[ROWS 8, 4 SLIDES 4, 2]", "level, window_row"),
    ],
)
def test_other_windows_rank_the_rows_that_they_are_told_to_hold(window, windows):
    drawn = [(place % 17, "ab"[place % 2], "uvw"[place % 3], place * 5 % 11) for place in range(40)]
    events = events_of(KINDS["rows"], drawn)
    rows = windrow.replay(f"SELECT k, g, x FROM e {window}", e=events, flush=True)
    assert rows.num_rows > 20
    db = judge(KINDS["rows"], events)
    db.register("rows", rows)
    ranked = windrow.replay(
        f"SELECT k, g, x, RANK() OVER (PARTITION BY g ORDER BY x DESC) AS r FROM e {window} QUALIFY r <= 2",
        e=events, batch_rows=7, flush=True,
    )  # fmt: skip
    theirs = db.sql(
        f"SELECT *, rank() OVER (PARTITION BY {windows}, g ORDER BY x DESC)::INTEGER AS r FROM rows QUALIFY r <= 2"
    )
    wanted = theirs.to_arrow_table().cast(ranked.schema)
    assert sorted(map(repr, ranked.to_pylist())) == sorted(map(repr, wanted.to_pylist()))


def refused(text: str) -> QueryError:
    with pytest.raises(WindrowError) as caught:
        windrow.replay(text, e=events_of(KINDS["rows"], [(1, "a", "u", 1), (2, "b", "v", 2)]))
    assert isinstance(caught.value, QueryError)
    return caught.value


def test_what_cannot_be_ranked_says_why():
    without_slide = refused("SELECT x, ROW_NUMBER() OVER (ORDER BY x) AS n FROM e [ROWS 3]")
    assert "a whole answer" in without_slide.message and "SLIDE" in without_slide.hint
    changing = refused("SELECT x, RANK() OVER (ORDER BY x) AS n FROM e [ROWS 3 SLIDE 1] EMIT CHANGES")
    assert "EMIT CHANGES" in changing.message
    twice = refused("SELECT DISTINCT n FROM (SELECT RANK() OVER (ORDER BY x) AS n FROM e [ROWS 3 SLIDE 1])")
    assert "a sub-query has chosen" in twice.message
    early = refused("SELECT x FROM e [ROWS 3 SLIDE 1] WHERE RANK() OVER (ORDER BY x) = 1")
    assert "after WHERE" in early.message and "QUALIFY" in early.hint
    other = refused("SELECT MODE(x) OVER (ORDER BY x) AS s FROM e [ROWS 3 SLIDE 1]")
    assert "OVER of MODE" in other.message and "LAG" in other.hint
    below = refused("SELECT COUNT(*) AS n FROM (SELECT DISTINCT x FROM e) AS q [ROWS 3 SLIDE 1]")
    assert "below" in below.message
    bare = refused("SELECT x FROM e [ROWS 3 SLIDE 1] QUALIFY x > 1")
    assert "QUALIFY needs a ranking" in bare.message
