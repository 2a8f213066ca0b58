"""Rows of fixed width come back as they were, whatever they were cut from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.storage.plain_rows import PlainRows

TYPES = [pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.date32(), pa.timestamp("us", "UTC")]


@given(st.lists(st.sampled_from(TYPES), max_size=5), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9))
def test_rows_come_back_also_where_they_are_slices(types, start, length, seed):
    random = np.random.default_rng(seed)
    fields = [pa.field(f"c{i}", type) for i, type in enumerate(types)]
    columns = [
        pa.array(random.integers(-99, 99, 80).astype(np.int32)).cast(type, safe=False)
        if not pa.types.is_timestamp(type)
        else pa.array(random.integers(0, 10**15, 80), type)
        for type in types
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)).slice(start, length)
    if not types:
        return
    plain = PlainRows(rows.schema)
    assert plain.decode(plain.encode(rows)).equals(rows)


@pytest.mark.parametrize("values", [["a"], [True], [[1]], [1, None]])
def test_other_rows_are_left_to_arrow(values):
    rows = pa.record_batch({"x": values})
    assert PlainRows(rows.schema).encode(rows) is None
