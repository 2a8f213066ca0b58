"""STRING_AGG and MAP_AGG: a text or a map of the values that COLLECT_LIST would list."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels import bits
from windrow.kernels.columns import plain


def joined_texts(lists: pa.ListArray, separator: str) -> pa.Array:
    """Each list as one text; NULL where a list is empty.

    >>> joined_texts(pa.array([["a", "b"], []]), ", ").to_pylist()
    ['a, b', None]
    """
    between = separator if pa.types.is_string(lists.type.value_type) else separator.encode()
    return pc.if_else(pc.equal(pc.list_value_length(lists), 0), None, pc.binary_join(lists, between))


def last_by_key(lists: pa.ListArray, type: pa.MapType) -> pa.Array:
    """A map of each list of pairs, with the last value of each key, keys in the order in which they first come.

    Keys are equal as they are in groups: NaN is NaN, and -0.0 is 0.0. NULL where a list is empty.

    >>> pairs = [[{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": None}], []]
    >>> last_by_key(pa.array(pairs), pa.map_(pa.string(), pa.int64())).to_pylist()
    [[('a', None), ('b', 2)], None]
    """
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    keys, values = (plain(child) for child in lists.flatten().flatten())
    slots = np.repeat(np.arange(len(lists)), lengths)
    if bits.fits(keys.type):
        codes = bits.keys(keys)
        keys = bits.unkeyed(codes, np.ones(len(codes), np.bool_), keys.type)
    else:
        codes = keys.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((codes, slots))  # stable: equal keys stay in order
    if len(order):
        ends = np.flatnonzero((np.diff(codes[order]) != 0) | (np.diff(slots[order]) != 0))
        lasts, firsts = order[np.append(ends, len(order) - 1)], order[np.concatenate([[0], ends + 1])]
        lasts = lasts[np.argsort(firsts, kind="stable")]
    else:
        lasts = order
    counts = np.bincount(slots[lasts], minlength=len(lists))
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    chosen = pa.array(lasts)
    maps = pa.MapArray.from_arrays(
        pa.array(offsets), keys.take(chosen).cast(type.key_type), values.take(chosen).cast(type.item_type)
    )
    return pc.if_else(pa.array(counts > 0), maps, pa.scalar(None, maps.type)).cast(type)
