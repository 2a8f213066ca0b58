"""Windows of several ranges over one stream keep its rows once: where a shard has the same rows for all of them."""

from __future__ import annotations

import pyarrow as pa

from windrow.operators.repository import shared_name
from windrow.plan.nodes.changes import Column, Expire, Scan


def window(range_us: int) -> Expire:
    return Expire(Scan("a", (Column("k", pa.int64()), Column("s", pa.string())), range_us))


def test_windows_of_other_ranges_share_their_rows():
    short, long = window(3), window(7)
    spread = {short.child: ("k",), long.child: ("k",)}
    assert shared_name(short, spread) == shared_name(long, spread) is not None


def test_windows_whose_rows_are_spread_by_other_columns_share_none():
    short, long = window(3), window(7)
    for columns in ((), ("s",), ("k", "s")):
        spread = {short.child: ("k",), long.child: columns}
        assert shared_name(short, spread) != shared_name(long, spread)
