"""Maps made, and asked for their keys and values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrays import key_hits
from .columns import column, missing
from .lists import MAP, any_of, array_of, arrays_of, entries_of, lengths_of
from .registry import ANY, function
from .types import BOOLEAN


@function("map_keys", takes=[MAP])
def map_keys(maps: pa.Array) -> pa.Array:
    keys, _ = entries_of(maps)
    return arrays_of(keys, lengths_of(maps), missing(maps), array_of(keys.type, nullable=True))


@function("map_values", takes=[MAP])
def map_values(maps: pa.Array) -> pa.Array:
    _, items = entries_of(maps)
    kind = array_of(items.type, nullable=maps.type.item_field.nullable)
    return arrays_of(items, lengths_of(maps), missing(maps), kind)


@function("map_contains_key", takes=[MAP, ANY])
def map_contains_key(maps: pa.Array, key: pa.Array) -> pa.Array:
    held, hits = key_hits("map_contains_key", maps, key)
    return column(any_of(held, hits), missing(maps) | missing(key), BOOLEAN)


def map_of(keys: list[pa.Array], items: list[pa.Array], kind: pa.DataType) -> pa.Array:
    """A map for each row of the keys and values at that row, all of one type each."""
    rows, pairs = len(keys[0]), len(keys)
    order = pa.array(np.arange(rows * pairs).reshape(pairs, rows).T.ravel())
    offsets = pa.array(np.arange(0, rows * pairs + 1, pairs, dtype=np.int32))
    return pa.MapArray.from_arrays(
        offsets, pa.concat_arrays(keys).take(order), pa.concat_arrays(items).take(order), type=kind
    )
