"""Net the changes of each instant: what came and went within it is not told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import NEVER, Changes, nothing
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import MemoryBlocks


def net(changes: Changes, types: Sequence[pa.DataType]) -> Changes:
    """One change for each instant and row, with the sum of weights; none where it is 0. `-` before `+`.

    >>> ones = np.ones(3, np.int64)
    >>> both = Changes(np.array([4, 5, 5]), ones, ones * NEVER, np.array([1, -1, 1]), (pa.array(["a", "a", "a"]),))
    >>> netted = net(both, [pa.string()])
    >>> netted.times.tolist(), netted.weights.tolist()
    ([4], [1])
    """
    if not len(changes):
        return nothing(types)
    table = RowTable([*types, pa.int64()], (), "net", MemoryBlocks())
    slots = table.slots_of([*changes.columns, pa.array(changes.times)], len(changes))
    weights = np.zeros(len(table), np.int64)
    np.add.at(weights, slots, changes.weights)
    first = np.full(len(table), -1)
    first[slots[::-1]] = np.arange(len(slots))[::-1]
    kept = np.flatnonzero(weights)
    rows, weights = first[kept], weights[kept]
    return _signed_order(changes.take(rows), weights)


def _signed_order(changes: Changes, weights: np.ndarray) -> Changes:
    order = np.lexsort((weights > 0, changes.times))
    ordered = changes.take(order)
    return Changes(ordered.times, ordered.since, np.full(len(order), NEVER), weights[order], ordered.columns)


def by_sign(changes: Changes) -> Changes:
    """The same changes, `-` before `+` within each instant."""
    return changes.take(np.lexsort((changes.weights > 0, changes.times))) if len(changes) > 1 else changes


def emitted(changes: Changes, names: Sequence[str]) -> pa.Table:
    """The changes as rows of a result: `op`, `time` and the columns; a row that comes twice is there twice."""
    often = np.abs(changes.weights)
    if len(often) and often.max() > 1:
        changes = changes.take(np.repeat(np.arange(len(changes)), often))
    ops = pa.DictionaryArray.from_arrays(pa.array((changes.weights > 0).astype(np.int8)), pa.array(["-", "+"]))
    times = pa.array(changes.times).cast(pa.timestamp("us", tz="UTC"))
    return pa.table([ops.cast(pa.string()), times, *changes.columns], names=["op", "time", *names])
