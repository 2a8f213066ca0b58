"""Windows that count rows: what is refused, what is planned, and how a plan explains itself."""

from __future__ import annotations

import pyarrow as pa
import pytest

from runtime.core import plan_of
from windrow.compile.explain import explain_plans
from windrow.errors import QueryError
from windrow.plan.nodes.stage import StagePlan

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("x", pa.float64())])


def query(window: str, rest: str = "") -> str:
    return f"SELECT SUM(x) AS s FROM ticks [{window}] {rest}"


# window, underlined, a part of the message, a part of the hint
MISTAKES = [
    ("ROWS 0 SLIDE 1", "0", "positive whole number", None),
    ("ROWS 10 SLIDE 0", "0", "positive whole number", None),
    ("RANGE 1 MINUTE SLIDE 0 ROWS", "0", "positive whole number", None),
    ("ROWS 10 SLIDE 0 SECONDS", "0 SECONDS", "must be positive", None),
    ("PARTITION BY q ROWS 10 SLIDE 1", "q", "unknown column 'q'", "known columns: ts, k, x"),
    ("PARTITION BY SUM(x) ROWS 10 SLIDE 1", "SUM(x)", "an aggregate in PARTITION BY", "columns"),
    ("ROWS 10 SLIDE ABOUT 1 SECOND", "[ROWS 10 SLIDE ABOUT 1 SECOND]", "ABOUT is not supported yet", None),
    ("ROWS 100, 10 SLIDES 10", "[ROWS 100, 10 SLIDES 10]", "2 ranges need 2 slides, not 1", None),
    ("ROWS 10, 100 SLIDES 1, 10", "100", "shorter than the one before", None),
    ("ROWS 100, 10 SLIDES 5, 10", "[ROWS 100, 10 SLIDES 5, 10]", "level 1 must be coarser than level 0", None),
    ("ROWS 100, 9 SLIDES 10, 2", "[ROWS 100, 9 SLIDES 10, 2]", "9 rows is none of 2 rows", None),
    (
        "ROWS 100, 10 SLIDES 10 SECONDS, 1 SECOND",
        "[ROWS 100, 10 SLIDES 10 SECONDS, 1 SECOND]",
        "levels of rows that slide in time is not supported yet",
        "SLIDES 100, 10",
    ),
]


@pytest.mark.parametrize(("window", "underlined", "message", "hint"), MISTAKES, ids=[case[0] for case in MISTAKES])
def test_a_mistake_is_told_with_its_place(window, underlined, message, hint):
    text = query(window)
    with pytest.raises(QueryError) as caught:
        plan_of([text], SCHEMA)
    error = caught.value
    assert message in str(error)
    assert hint is None or hint in str(error)
    assert text[error.at : error.end] == underlined


def test_window_row_is_a_column_of_count_windows_only():
    plan = plan_of(["SELECT window_row + 1 AS next FROM ticks [ROWS 5 SLIDE 1] GROUP BY k"], SCHEMA)
    assert plan.queries[0].emitted.names[:3] == ["window_start", "window_end", "window_row"]
    with pytest.raises(QueryError, match="window_row"):
        plan_of(["SELECT window_row FROM ticks [RANGE 5 SECONDS SLIDE 1 SECOND] GROUP BY k"], SCHEMA)


def test_windows_that_count_the_same_rows_share_panes_and_levels_are_such_windows():
    texts = [query("ROWS 100, 10 SLIDES 10, 2"), query("ROWS 10 SLIDE 2"), query("ROWS 21 SLIDE 7")]
    plan = plan_of(texts, SCHEMA)
    (space,) = plan.spaces
    assert [(window.range_us, window.slide_us) for window in space.windows] == [(10, 2), (100, 10), (21, 7)]
    assert len(plan.queries_of(space)) == 3
    text = explain_plans([StagePlan.of(plan)], shards=1)
    assert "cut at the edges of 3 windows, which lie every 2, 7 rows" in text and "shared by 3 queries" in text
    assert "window [ROWS 100 SLIDE 10]" in text and "schedule:" in text and text.count("query q0") == 1


APART = [
    ("ROWS 10 SLIDE 2", "GROUP BY k"),
    ("ROWS UNBOUNDED SLIDE 2", ""),
    ("RANGE 1 SECOND SLIDE 2 ROWS", ""),
    ("PARTITION BY k ROWS 10 SLIDE 2", ""),
]


@pytest.mark.parametrize(("window", "rest"), APART)
def test_windows_over_other_rows_or_without_known_edges_have_a_space_of_their_own(window: str, rest: str):
    plan = plan_of([query("ROWS 10 SLIDE 2"), query(window, rest)], SCHEMA)
    assert [len(plan.queries_of(space)) for space in plan.spaces] == [1, 1]


def test_what_rows_are_partitioned_by_is_a_key_once():
    plan = plan_of(["SELECT k, SUM(x) AS s FROM ticks [PARTITION BY k ROWS 5 SLIDE 1] GROUP BY k"], SCHEMA)
    alone = plan_of(["SELECT k, SUM(x) AS s FROM ticks [PARTITION BY k ROWS 5 SLIDE 1]"], SCHEMA)
    assert plan.spaces == alone.spaces
    assert len(plan.spaces[0].keys) == 1
    within = plan_of(["SELECT SUM(x) AS s FROM ticks [PARTITION BY k ROWS 5 SLIDE 1] GROUP BY x > 0"], SCHEMA)
    assert [key.sql for key in within.spaces[0].keys] == ["`x` > 0", "`k`"]
    assert within.spaces[0].partition == (1,)


EXPLAINED = [
    (
        "ROWS 1000 SLIDE 10",
        ["[ROWS 1000 SLIDE 10]", "100 a window, 10 rows each", "subtract", "get the times of all rows"],
    ),
    ("ROWS 15 SLIDE 10", ["3 a window, by turns 5 and 5 rows"]),
    ("ROWS UNBOUNDED SLIDE 10", ["folded once and let go", "accumulate", "one partial a group"]),
    ("RANGE 1 MINUTE SLIDE 5 ROWS", ["[RANGE 1 MINUTE SLIDE 5 ROWS]", "every row is one", "the times of all rows"]),
    ("ROWS 9 SLIDE 1 SECOND OFFSET 2 MILLISECONDS", ["[ROWS 9 SLIDE 1 SECOND OFFSET 2 MILLISECONDS]"]),
    (
        "PARTITION BY k ROWS 9 SLIDE 1",
        ["[PARTITION BY `k` ROWS 9 SLIDE 1]", "numbers: by key", "together", "a count a key"],
    ),
]


@pytest.mark.parametrize(("window", "said"), EXPLAINED, ids=[case[0] for case in EXPLAINED])
def test_explain_says_how_rows_are_numbered_and_what_is_kept(window, said):
    text = explain_plans([StagePlan.of(plan_of([query(window, "GROUP BY k")], SCHEMA))], shards=2)
    assert [words for words in said if words not in text] == []
