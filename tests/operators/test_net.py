"""The net changes of instants: what came and went within one is not told, and `-` comes before `+`."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.operators.changes import NEVER, Changes
from windrow.operators.net import net, same_rows

TYPES = {
    "s": pa.string(),
    "x": pa.float64(),
    "f": pa.float32(),
    "i": pa.uint8(),
    "t": pa.struct([("a", pa.int64()), ("b", pa.string())]),
}
ROW = st.tuples(
    st.sampled_from(["a", "", None]),
    st.sampled_from([0.0, -0.0, 1.5, math.nan, None]),
    st.sampled_from([0.5, math.nan]),
    st.sampled_from([0, 255, None]),
    st.sampled_from([{"a": 1, "b": "x"}, {"a": 1, "b": None}, None]),
)
CHANGE = st.tuples(st.integers(0, 3), st.sampled_from([-2, -1, 1, 2]), ROW)


def alike(row: tuple) -> tuple:
    """The row as a key: NaN is NaN, and -0.0 is 0.0."""
    return tuple("NaN" if value != value else repr(value + 0.0 if isinstance(value, float) else value) for value in row)


def columns_of(rows: list[tuple]) -> tuple[pa.Array, ...]:
    return tuple(pa.array([row[i] for row in rows], type) for i, type in enumerate(TYPES.values()))


@settings(max_examples=examples(200), deadline=None)
@given(changes=st.lists(CHANGE, min_size=1, max_size=12), gaps=st.booleans(), ordered=st.booleans())
def test_weights_of_a_row_at_an_instant_are_added_up(changes: list, gaps: bool, ordered: bool) -> None:
    if gaps:  # two to an instant, as groups send them
        changes = [(place // 2, weight, row) for place, (_, weight, row) in enumerate(changes)]
    if ordered:
        changes = sorted(changes, key=lambda change: change[0])
    times, weights, rows = map(list, zip(*changes))
    ones = np.ones(len(times), np.int64)
    given_changes = Changes(np.array(times), ones, ones * NEVER, np.array(weights), columns_of(rows))
    found = net(given_changes, list(TYPES.values()))
    wanted: Counter = Counter()
    for time, weight, row in changes:
        wanted[time, alike(row)] += weight
    told = list(
        zip(found.times.tolist(), zip(*(column.to_pylist() for column in found.columns)), found.weights.tolist())
    )
    assert {(time, alike(row)): weight for time, row, weight in told} == {key: n for key, n in wanted.items() if n}
    assert len(told) == len({(time, alike(row)) for time, row, _ in told})
    assert [(time, weight > 0) for time, _, weight in told] == sorted((time, weight > 0) for time, _, weight in told)


@settings(max_examples=examples(200), deadline=None)
@given(rows=st.lists(ROW, min_size=2, max_size=12), data=st.data())
def test_rows_are_the_same_where_all_their_values_are(rows: list, data: st.DataObject) -> None:
    places = st.lists(st.integers(0, len(rows) - 1), min_size=len(rows), max_size=len(rows))
    left, right = np.array(data.draw(places)), np.array(data.draw(places))
    found = same_rows(columns_of(rows), left, right)
    assert found.tolist() == [alike(rows[one]) == alike(rows[other]) for one, other in zip(left, right)]
