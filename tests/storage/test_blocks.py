"""Blocks of bytes, and columns as bytes."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from windrow.storage.blocks import MemoryBlocks
from windrow.storage.columns import SMALL, decode, encode

from .stores import Breakdown, CountingBlocks, FailingBlocks

KINDS = [MemoryBlocks, CountingBlocks, FailingBlocks]


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_what_was_last_written_to_its_number(kind):
    blocks = kind()
    blocks.write("a", 1, b"one")
    blocks.write("b", 1, b"other")
    blocks.write("a", 1, b"uno")
    assert (blocks.read("a", 1), blocks.read("b", 1)) == (b"uno", b"other")
    assert (len(blocks), blocks.bytes_held) == (2, 8)
    blocks.delete("a", 1)
    blocks.delete("a", 7)
    with pytest.raises(KeyError):
        blocks.read("a", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_all_blocks_of_a_prefix_go_and_no_others(kind):
    blocks = kind()
    for space in ("ab.panes", "ab.tree.1", "abc.panes", "x.ab."):
        blocks.write(space, 0, b"")
    blocks.delete_all("ab.")
    assert len(blocks) == 2
    assert blocks.read("abc.panes", 0) == blocks.read("x.ab.", 0) == b""


def test_a_failing_store_fails_at_the_nth_change_and_rolls_back():
    blocks = FailingBlocks()
    blocks.write("a", 0, b"kept")
    blocks.commit()
    blocks.fail_at(1)
    blocks.write("a", 1, b"lost")
    with pytest.raises(Breakdown):
        blocks.delete("a", 0)
    blocks.rollback()
    assert (len(blocks), blocks.read("a", 0)) == (1, b"kept")


COLUMNS = {
    "numbers": pa.array([1, None, -(2**63)]),
    "reals": pa.array([0.1, float("nan"), -0.0]),
    "texts": pa.array(["", None, "é\x00"]),
    "bytes": pa.array([b"\xff", b"", None]),
    "money": pa.array([Decimal("0.10"), None, Decimal("-3.00")], pa.decimal128(20, 2)),
    "nothing": pa.nulls(3),
    "nested": pa.array([{"a": [1, None]}, None, {"a": None}]),
}


@pytest.mark.parametrize("times", [1, SMALL])
def test_columns_come_back_as_they_were_small_or_compressed(times):
    columns = {name: pa.concat_arrays([column] * times) for name, column in COLUMNS.items()}
    back = decode(encode(columns))
    assert back.schema.names == list(columns)
    for name, column in columns.items():
        assert back.column(name).type == column.type
        assert repr(back.column(name).to_pylist()) == repr(column.to_pylist())


def test_columns_without_rows_come_back():
    assert decode(encode({"a": pa.array([], pa.string())})).num_rows == 0


def test_equal_columns_are_equal_bytes_also_where_they_are_slices():
    column = pa.array(range(100))
    assert encode({"a": column.slice(10, 5)}) == encode({"a": pa.array(range(10, 15))})
