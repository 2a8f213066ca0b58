"""To which shards events go, as DISTRIBUTE BY says: to one, to several, or to all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def shards_of(asked: pa.Array, shards: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each copy the event that it is of and its shard, in order of events, and which events have no such shard.

    A shard that an array names twice gets an event once, and an array of none sends it nowhere, which is no fault.

    >>> copied, numbers, nowhere = shards_of(pa.array([[1, 0, 1], [], [2], None, [0, None]]), shards=2)
    >>> copied.tolist(), numbers.tolist(), nowhere.tolist()
    ([0, 0], [0, 1], [False, False, True, True, True])
    """
    if pa.types.is_string(asked.type):  # it says ALL
        rows = np.arange(len(asked))
        return np.repeat(rows, shards), np.tile(np.arange(shards), len(asked)), np.zeros(len(asked), bool)
    if not pa.types.is_list(asked.type):
        numbers, none = _numbers(asked)
        nowhere = none | (numbers < 0) | (numbers >= shards)
        rows = np.flatnonzero(~nowhere)
        return rows, numbers[rows], nowhere
    parents = pc.list_parent_indices(asked).to_numpy()
    numbers, none = _numbers(asked.flatten())
    outside = none | (numbers < 0) | (numbers >= shards)
    nowhere = asked.is_null().to_numpy(zero_copy_only=False).copy()
    nowhere[parents[outside]] = True
    known = ~nowhere[parents]
    each = np.unique(parents[known] * shards + numbers[known])
    rows, places = np.divmod(each, shards)
    return rows, places, nowhere


def _numbers(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, and which are NULL."""
    whole = pc.cast(column, pa.int64())
    return pc.fill_null(whole, 0).to_numpy(), whole.is_null().to_numpy(zero_copy_only=False)
