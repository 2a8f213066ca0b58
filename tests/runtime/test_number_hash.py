"""Numbers go to the shards that their texts go to: a checkpoint has its groups there."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.runtime.keys import spread, spread_rows

TYPES = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}


def text_of(value: int | None) -> str:
    return "\\N" if value is None else str(value)


@given(st.data(), st.lists(st.sampled_from([*TYPES, "instant"]), min_size=1, max_size=4), st.integers(1, 70))
def test_whole_numbers_and_instants_are_spread_by_the_texts_that_they_make(data, types, parts):
    rows = data.draw(st.integers(0, 12))
    columns, values = [], []
    for name in types:
        most = 2 ** TYPES.get(name, 50)
        own = data.draw(st.lists(st.none() | st.integers(-most, most - 1), min_size=rows, max_size=rows))
        values.append(own)
        columns.append(
            pa.array(own, pa.timestamp("us", "UTC")) if name == "instant" else pa.array(own, getattr(pa, name)())
        )
    wanted = [crc32("\x1f".join(map(text_of, row)).encode()) % parts for row in zip(*values)]
    assert spread(columns, parts).tolist() == wanted
    assert spread_rows(columns, rows, parts).tolist() == wanted


@pytest.mark.parametrize(
    "other", [pa.array(["7", None, "a\x1fb"]), pa.array([1.0, -0.0, None]), pa.array([True, None])]
)
def test_keys_of_other_types_are_spread_once_for_each(other):
    rows = len(other)
    columns = [pa.concat_arrays([other, other]), pa.array(np.arange(2 * rows) % 3)]
    both = spread_rows(columns, 2 * rows, 5)
    assert both.tolist() == spread(columns, 5).tolist()
