"""Keys as bytes sort as their columns do."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windrow.indexes.keys import encode_keys, prefix_range

COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 600)),
    (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats()),
    (pa.string(), st.text(alphabet="a\x00b\x7f", max_size=4)),
    (pa.binary(), st.binary(max_size=3)),
    (pa.date32(), st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))),
    (pa.decimal128(20, 2), st.decimals(-(10**15), 10**15, places=2)),
    (
        pa.timestamp("us", tz="UTC"),
        st.datetimes(dt.datetime(1960, 1, 1), dt.datetime(2050, 1, 1), timezones=st.just(dt.UTC)),
    ),
]


def rank(value: Any) -> tuple[int, Any]:
    """NULL before all, NaN behind all."""
    if value is None:
        return (0, 0)
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    return (1, value.encode() if isinstance(value, str) else value)


@settings(deadline=None)
@given(st.data())
def test_bytes_sort_as_the_columns_do(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*(st.none() | values for _, values in kinds)), min_size=1, max_size=12))
    columns = [pa.array([row[i] for row in rows], kind) for i, (kind, _) in enumerate(kinds)]
    keys = encode_keys(columns)
    ranks = [tuple(rank(value) for value in row) for row in rows]
    for i, own in enumerate(ranks):
        for j, other in enumerate(ranks):
            assert (own < other) == (keys.bytes_of(i) < keys.bytes_of(j))
            assert (own == other) == (keys.bytes_of(i) == keys.bytes_of(j))
    words = keys.words().tolist()
    assert words == [int.from_bytes(keys.bytes_of(i)[:8].ljust(8, b"\0"), "big") for i in range(len(rows))]
    assert keys.as_array().to_pylist() == [keys.bytes_of(i) for i in range(len(rows))]


@settings(deadline=None)
@given(st.lists(st.integers(-5, 400), min_size=1, max_size=30), st.integers(-5, 400))
@example([237, 238, 239], 238)
def test_a_prefix_covers_what_begins_with_it_and_nothing_else(seconds: list[int], rest: int) -> None:
    keys = encode_keys([pa.array(seconds), pa.array([rest] * len(seconds))])
    prefix = encode_keys([pa.array([238])]).bytes_of(0)
    low, high = prefix_range(prefix, prefix)
    assert [low <= word <= high for word in keys.words().tolist()] == [second == 238 for second in seconds]


def test_keys_of_linear_road_fit_into_a_word() -> None:
    """Expressway, direction, segment and a vehicle below 16 million."""
    keys = encode_keys([pa.array([3]), pa.array([1]), pa.array([99]), pa.array([16_000_000])])
    assert keys.fits and len(keys.bytes_of(0)) == 7
    assert not encode_keys([pa.array(["a text of more than eight bytes"])]).fits
