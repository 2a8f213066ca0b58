"""Net the changes of each instant: what came and went within it is not told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels import bits
from windrow.kernels.columns import plain, valid
from windrow.operators.changes import NEVER, Changes, joined, nothing
from windrow.operators.order import stable_order
from windrow.operators.row_table import RowTable
from windrow.operators.words import Words
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
    if len(changes) > 1 and bool(np.all(changes.times[1:] >= changes.times[:-1])):
        return _net_in_order(changes, types)
    return _netted(changes, types)


def _net_in_order(changes: Changes, types: Sequence[pa.DataType]) -> Changes:
    """The same where instants follow each other: what one row makes of another at its instant needs no look-up.

    That is what a group sends, whose old row goes as the new one comes; only busier instants are looked at as a whole.
    """
    begins = np.flatnonzero(np.append(True, changes.times[1:] != changes.times[:-1]))
    sizes = np.diff(np.append(begins, len(changes)))
    firsts = begins[sizes == 2]
    weights = changes.weights.copy()
    opposite = firsts[weights[firsts] == -weights[firsts + 1]]
    busy = np.repeat((sizes > 2) | _add_up(weights, begins, sizes), sizes)
    same = opposite[same_rows(changes.columns, opposite, opposite + 1)]
    weights[same] = weights[same + 1] = 0
    kept = np.flatnonzero((weights != 0) & ~busy)
    if not busy.any():
        return _signed_order(changes if len(kept) == len(changes) else changes.take(kept), weights[kept])
    quiet = changes.take(kept)
    rest = _netted(changes.take(np.flatnonzero(busy)), types)
    both = joined([quiet, rest])
    return _signed_order(both, np.concatenate([weights[kept], rest.weights]))


def _add_up(weights: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Of which instants two rows do not take each other away, if they are the same: they are put together."""
    second = np.minimum(begins + 1, len(weights) - 1)
    unlike: np.ndarray = (sizes == 2) & (weights[begins] != -weights[second])
    return unlike


def same_rows(columns: Sequence[pa.Array], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether the row at each place of `left` is that at the same place of `right`: NULL is NULL, and NaN is NaN."""
    same = np.ones(len(left), bool)
    for column in map(plain, columns):
        if bits.fits(column.type):
            keys, known = bits.keys(column), valid(column)
            equal = keys[left] == keys[right]
            if known is not None:
                equal = np.where(known[left] & known[right], equal, known[left] == known[right])
            same &= equal
        elif pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            one, other = column.take(pa.array(left)), column.take(pa.array(right))
            equal = pc.fill_null(pc.equal(one, other), False).to_numpy(zero_copy_only=False)
            if column.null_count:
                nulls = one.is_null().to_numpy(zero_copy_only=False) & other.is_null().to_numpy(zero_copy_only=False)
                equal = equal | nulls
            same &= equal
        else:
            words = Words([column.type]).of([column], len(column))
            same &= (words[left] == words[right]).all(axis=1)
    return same


def _netted(changes: Changes, types: Sequence[pa.DataType]) -> Changes:
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
    places = 2 * changes.times + (weights > 0)
    never = np.full(len(places), NEVER)
    if len(places) < 2 or bool(np.all(places[1:] >= places[:-1])):
        return Changes(changes.times, changes.since, never, weights, changes.columns)
    order = stable_order(places)
    ordered = changes.take(order)
    return Changes(ordered.times, ordered.since, never, weights[order], ordered.columns)


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
