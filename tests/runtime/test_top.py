"""ORDER BY and LIMIT over arrays and structs."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.errors import QueryError
from windrow.runtime.answers.top import Term, first_of_each_window

NAN = float("nan")
LISTS = [[2.0], [1.0, None], [1.0], [], None, [NAN], [1.0, -5.0], [-0.0], [0.0, 1.0], [None], [float("inf")]]
RISING = [[], [None], [-0.0], [0.0, 1.0], [1.0], [1.0, None], [1.0, -5.0], [2.0], [float("inf")], [NAN]]


@pytest.mark.parametrize("nulls_first", [True, False])
@pytest.mark.parametrize("descending", [True, False])
def test_arrays_are_ordered_element_by_element(descending, nulls_first):
    rows = pa.table({"window_end": [1] * len(LISTS), "l": LISTS})
    found = first_of_each_window(rows, [Term("l", descending, nulls_first)], None)["l"].to_pylist()
    ordered = RISING[::-1] if descending else RISING
    assert repr(found) == repr([None, *ordered] if nulls_first else [*ordered, None])


def test_structs_are_ordered_field_by_field_and_limited_in_each_window():
    structs = [{"a": 1, "b": ["y"]}, {"a": 1, "b": ["x", "z"]}, {"a": None, "b": ["x"]}, {"a": 0, "b": None}]
    rows = pa.table({"window_end": [1, 1, 1, 2], "s": structs})
    found = first_of_each_window(rows, [Term("s", descending=False, nulls_first=True)], 2)["s"].to_pylist()
    assert found == [structs[2], structs[1], structs[3]]


EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 2, 3], pa.timestamp("s", tz="UTC")),
        "k": ["a", "b", "c", "b"],
        "i": [2, 1, None, 3],
        "m": pa.array([[("x", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    }
)


def test_answers_are_ordered_by_lists_that_they_collect():
    text = "SELECT k, COLLECT_LIST(i) AS l FROM ev [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k ORDER BY l{} LIMIT 2"
    assert windrow.replay(text.format(""), ev=EVENTS, flush=True)["k"].to_pylist() == ["c", "b"]
    assert windrow.replay(text.format(" DESC"), ev=EVENTS, flush=True)["k"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("term", ["FIRST(m)", "STRUCT(1 AS a, FIRST(m) AS b)", "f"])
def test_a_map_has_no_order(term):
    text = f"SELECT k, FIRST(m) AS f FROM ev [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k ORDER BY {term} LIMIT 2"
    with pytest.raises(QueryError, match="a map has no order") as caught:
        windrow.replay(text, ev=EVENTS)
    assert text[caught.value.at : caught.value.end] == term


def test_an_unknown_function_in_order_by_is_told_before_anything_runs():
    with pytest.raises(QueryError, match="replay does not evaluate luhn_check"):
        windrow.Replay(
            "SELECT k, COUNT(*) AS n FROM ev [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k ORDER BY luhn_check(k)",
            ev=EVENTS,
        )
