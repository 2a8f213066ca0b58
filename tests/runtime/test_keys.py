"""Keys as codes and as texts, places as numbers, and the first rows of each window."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.judge import Window
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.top import Term, first_of_each_window
from windrow.runtime.keys import encode_keys, identity_of
from windrow.runtime.slice.places import Places, histogram

ZEROS = [0.0, -0.0, None, math.nan]
ALIKE = [
    (pa.large_binary(), [b"\xff", b"\xff", None, b""]),
    (pa.binary(1), [b"\xff", b"\xff", None, b"\x00"]),
    (pa.large_string(), ["é", "é", None, ""]),
    (pa.duration("us"), [1, 1, None, 2]),
    (pa.time64("us"), [1, 1, None, 2]),
    (pa.null(), [None, None, None, None]),
    (pa.list_(pa.float64()), [[0.0, None], [-0.0, None], None, [math.nan]]),
    (
        pa.struct([("a", pa.float32()), ("b", pa.binary())]),
        [{"a": 0.0, "b": b"\xff"}, {"a": -0.0, "b": b"\xff"}, None, {"a": None, "b": None}],
    ),
    (
        pa.struct([("a", pa.list_(pa.struct([("c", pa.float64())])))]),
        [{"a": [{"c": -0.0}]}, {"a": [{"c": 0.0}]}, None, {"a": []}],
    ),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("type", "values"), ALIKE, ids=lambda value: str(value) if isinstance(value, pa.DataType) else ""
)
def test_keys_of_every_type_are_told_apart_and_come_back(type, values, several):
    columns = [pa.array(values, type), pa.array([1, 1, 1, 1])][: 2 if several else 1]
    codes, keys = encode_keys(columns, 4)
    assert codes[0] == codes[1]
    assert len(set(codes.tolist())) == (1 if type == pa.null() else 3)
    assert [keys[0][int(code)].is_valid for code in codes] == [value is not None for value in values]
    texts = identity_of(columns).to_pylist()
    assert texts[0] == texts[1]
    assert len({repr(text) for text in texts}) == (1 if type == pa.null() else 3)


def test_many_distinct_keys_of_several_columns_need_no_memory_for_what_does_not_occur():
    rows = 200_000
    columns = [pa.array(np.arange(rows)), pa.array(np.arange(rows)[::-1]), pa.array(np.arange(rows) // 2)]
    codes, keys = encode_keys(columns, rows)
    assert len(keys[0]) == rows == len(np.unique(codes))
    for column, key in zip(columns, keys):
        assert key.take(pa.array(codes)).equals(column)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a", "\x1f", "\\", None]), st.sampled_from(ZEROS), st.booleans()), max_size=12
    )
)
def test_codes_and_texts_are_equal_exactly_where_the_keys_are(rows):
    types = (pa.string(), pa.float64(), pa.bool_())
    columns = [pa.array([row[i] for row in rows], type) for i, type in enumerate(types)]
    wanted = [(text, "NaN" if real is not None and math.isnan(real) else real, flag) for text, real, flag in rows]
    codes, keys = encode_keys(columns, len(rows))
    texts = identity_of(columns).to_pylist()
    for i, one in enumerate(wanted):
        for j, other in enumerate(wanted):
            assert (codes[i] == codes[j]) == (texts[i] == texts[j]) == (one == other)
    found = [repr(tuple(key[int(code)].as_py() for key in keys)) for code in codes]
    assert found == [repr((text, real if real is None else real + 0.0, flag)) for text, real, flag in rows]


panes = st.integers(-9, 9) | st.sampled_from([-(2**60), 2**60, 10**15])


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(panes, st.integers(0, 3), st.booleans()), min_size=1, max_size=20), st.sampled_from([4, 10**6])
)
def test_places_stand_for_panes_and_groups(rows, groups):
    held, owners = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    counted = np.array([row[2] for row in rows])
    counted[0] = True
    starts, numbers = np.unique(held, return_inverse=True)
    places = Places.of(numbers, owners, len(starts), groups, None if counted.all() else counted)
    assert (places.codes[~counted] == -1).all()
    assert (places.codes[counted] < places.room).all()
    found = places.decode(places.codes[counted])
    found = (starts[found[0]], found[1])
    assert [part.tolist() for part in found] == [held[counted].tolist(), owners[counted].tolist()]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(-50, 50) | st.sampled_from([-(10**15), 10**15]), min_size=1, max_size=20))
def test_a_histogram_counts_events_between_the_edges_of_all_windows(times):
    windows = (TimeWindow(7, 5), TimeWindow(12, 4, 1), TimeWindow(None, 6), TimeWindow(2, 9))
    numbers, starts = Cuts.of(windows).cut(np.array(times))
    cells, counts = histogram(numbers, np.array(times), len(starts))

    def cell(time: int) -> tuple:
        edges = [Window(w.range_us, w.slide_us, w.offset_us).next_edge(time) for w in windows]
        return tuple(edges)

    wanted: dict[tuple, int] = {}
    for time in times:
        wanted[cell(time)] = wanted.get(cell(time), 0) + 1
    assert {cell(int(time)): int(count) for time, count in zip(cells, counts)} == wanted
    assert len(cells) == len(wanted)


def test_the_first_rows_of_each_window_with_zeros_and_nulls_and_nan():
    rows = pa.table(
        {"window_end": [2, 1, 1, 1, 1, 1], "x": [0.0, -0.0, 0.0, None, math.nan, -1.0], "y": [1, 3, 2, 1, 1, 1]}
    )
    terms = [Term("x", descending=False, nulls_first=True), Term("y", descending=False, nulls_first=True)]
    found = first_of_each_window(rows, terms, None)
    assert list(zip(*(found[name].to_pylist()[:4] for name in ("x", "y")))) == [
        (None, 1),
        (-1.0, 1),
        (0.0, 2),
        (-0.0, 3),
    ]
    down = [Term("x", descending=True, nulls_first=False), terms[1]]
    assert first_of_each_window(rows, down, 2)["y"].to_pylist() == [1, 2, 1]
    assert first_of_each_window(rows.slice(0, 0), terms, 2).num_rows == 0
