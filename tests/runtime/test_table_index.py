"""The rows of a key in a table: those that a search through all of it finds."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.runtime.slice.table_index import TableIndex

NAN = float("nan")
TYPES = [
    (pa.string(), st.sampled_from([None, "", "a", "b"])),
    (pa.float64(), st.sampled_from([None, 0.0, -0.0, NAN, 2.5])),
    (pa.decimal128(5, 2), st.none() | st.integers(0, 2).map(lambda n: Decimal(n).scaleb(-2))),
    (pa.list_(pa.int64()), st.sampled_from([None, [], [1], [1, 2]])),
    (pa.timestamp("us", tz="UTC"), st.none() | st.integers(0, 2)),
]


@st.composite
def keys(draw: st.DrawFn) -> tuple[list[pa.DataType], list[tuple], list[tuple]]:
    """Types of some key columns, the keys of a table, and keys that are looked for."""
    chosen = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
    row = st.tuples(*(values for _, values in chosen))
    return [type for type, _ in chosen], draw(st.lists(row, max_size=8)), draw(st.lists(row, max_size=8))


def columns(types: list[pa.DataType], rows: list[tuple]) -> list[pa.Array]:
    return [pa.array([row[i] for row in rows], type) for i, type in enumerate(types)]


def equal(one: tuple, other: tuple) -> bool:
    """As SQL has it in a join of Spark: NULL equals nothing, NaN itself."""
    pairs = list(zip(one, other))
    if any(value is None for pair in pairs for value in pair):
        return False
    return all(a == b or (a != a and b != b) for a, b in pairs)


@settings(max_examples=examples(150), deadline=None)
@given(keys())
@example(([pa.string(), pa.string()], [("a", "a"), ("a", "b"), ("b", "a")], [("b", "b"), ("b", "a")]))
def test_each_key_has_the_rows_that_a_search_finds(given_keys):
    types, held, asked = given_keys
    index = TableIndex(columns(types, held))
    low, high = index.found(columns(types, asked))
    found = [index.rows[begin:end].tolist() for begin, end in zip(low, high)]
    assert found == [[place for place, row in enumerate(held) if equal(row, one)] for one in asked]
