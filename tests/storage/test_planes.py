"""Columns of state in planes of bytes: what comes back is what was given, to the bit, and older blocks are read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage.columns import SMALL, decode, encode, encode_batch
from windrow.storage.planes import MARK

ODD = [0.0, -0.0, 5e-324, 1e308, float("inf"), float("-inf"), float("nan")]


def bits(batch: pa.RecordBatch) -> list[object]:
    """Doubles as whole numbers, so that -0.0 is not 0.0, and NaN is itself."""
    return [
        column.view(pa.int64()).to_pylist() if column.type == pa.float64() else column.to_pylist()
        for column in batch.columns
    ]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 3000), st.integers(0, 40), st.integers(0, 7))
def test_numbers_come_back_to_the_bit(seed, rows, odd, skipped):
    random = np.random.default_rng(seed)
    doubles, whole = random.normal(size=rows + skipped), random.integers(-(2**62), 2**62, rows + skipped)
    if rows:
        doubles[random.integers(0, len(doubles), odd)] = random.choice(ODD, odd)
        whole[random.integers(0, len(whole), odd)] = random.choice([-(2**63), 2**63 - 1, 0], odd)
    counts = pa.array(random.poisson(3, rows + skipped))
    columns = {"d": pa.array(doubles), "i": pa.array(whole), "n": counts, "s": counts.cast(pa.string())}
    batch = pa.record_batch({name: column.slice(skipped) for name, column in columns.items()})
    back = decode(encode(dict(zip(batch.schema.names, batch.columns, strict=True))))
    assert back.schema == batch.schema and back.schema.metadata is None
    assert bits(back) == bits(batch)


def test_counts_and_doubles_take_less_so():
    random = np.random.default_rng(5)
    columns = {"n": pa.array(random.poisson(20, 10_000)), "x": pa.array(random.random(10_000))}
    plain = encode_batch(pa.record_batch(list(columns.values()), names=list(columns)))
    assert len(encode(columns)) < 0.78 * len(plain)


def test_numbers_that_repeat_as_a_whole_stay_as_they_are():
    random = np.random.default_rng(5)
    prices = {"x": pa.array(random.choice(np.round(random.random(50), 2), 10_000))}
    assert encode(prices) == encode_batch(pa.record_batch(prices))


@pytest.mark.parametrize("rows", [0, 1, SMALL])
def test_columns_with_nulls_and_of_other_types_stay_as_they_are(rows):
    random = np.random.default_rng(5)
    counts = random.poisson(20, rows)
    columns = {"n": pa.array(counts, mask=counts >= 0), "small": pa.array(counts.astype(np.int32))}
    assert decode(encode(columns)).to_pydict() == pa.table(columns).to_pydict()


def test_a_block_from_before_is_read():
    """State that was written without planes is read on: a block says itself what it is."""
    older = pa.record_batch({"n": pa.array(np.random.default_rng(5).poisson(20, 10_000))})
    block = encode_batch(older)
    assert MARK not in block
    assert decode(block).equals(older)
    assert MARK in encode({"n": older.column(0)})
