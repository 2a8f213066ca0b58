"""Net the changes of each instant: what came and went within it is not told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from windrow.kernels import bits
from windrow.kernels.columns import frozen, plain, valid, words
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
    firsts, busy, in_order = _at_instants(frozen(changes.times), frozen(changes.weights))
    weights = changes.weights.copy()
    same = firsts[same_rows(changes.columns, firsts, firsts + 1)]
    weights[same] = weights[same + 1] = 0
    if not len(busy):
        if in_order and not len(same):
            return Changes(changes.times, changes.since, np.full(len(weights), NEVER), weights, changes.columns)
        kept = np.flatnonzero(weights)
        return _signed_order(changes if len(kept) == len(changes) else changes.take(kept), weights[kept])
    quiet = weights != 0
    quiet[busy] = False
    kept = np.flatnonzero(quiet)
    rest = _netted(changes.take(busy), types)
    both = joined([changes.take(kept), rest])
    return _signed_order(both, np.concatenate([weights[kept], rest.weights]))


@njit(cache=True, nogil=True)
def _at_instants(times: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Of instants with two changes of which one comes as often as the other goes: where the first is. All changes of
    instants where more may have to be put together. And whether `-` comes before `+` at every instant."""
    size = times.size
    firsts, busy = np.empty(size // 2 + 1, np.int64), np.empty(size, np.int64)
    pairs, many, in_order = 0, 0, True
    start = 0
    while start < size:
        stop = start + 1
        in_order &= weights[start] != 0
        while stop < size and times[stop] == times[start]:
            in_order &= weights[stop - 1] <= 0 or weights[stop] > 0
            stop += 1
        if stop - start == 2 and weights[start] == -weights[start + 1]:
            firsts[pairs] = start
            pairs += 1
        elif stop - start > 1:
            for i in range(start, stop):
                busy[many] = i
                many += 1
        start = stop
    return firsts[:pairs], busy[:many], in_order


def same_rows(columns: Sequence[pa.Array], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether the row at each place of `left` is that at the same place of `right`: NULL is NULL, and NaN is NaN."""
    same = np.ones(len(left), bool)
    others = []
    for column in map(plain, columns):
        if bits.fits(column.type):
            known, equal = valid(column), _same_numbers(column, left, right)
            if known is not None:
                equal = np.where(known[left] & known[right], equal, known[left] == known[right])
            same &= equal
        else:
            others.append(column)
    for column in others:  # which takes longer: only where the rest is the same
        places = np.flatnonzero(same)
        if len(places):
            same[places] = _same_others(column, left[places], right[places])
    return same


def _same_numbers(column: pa.Array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether the values are the same, of which none is NULL; -0.0 is 0.0."""
    if not pa.types.is_floating(column.type):
        whole = bits.bits(column)
        equal: np.ndarray = whole[left] == whole[right]
        return equal
    numbers = words(column, np.dtype(f"f{column.type.bit_width // 8}"))
    one, other = numbers[left], numbers[right]
    alike: np.ndarray = (one == other) | ((one != one) & (other != other))
    return alike


def _same_others(column: pa.Array, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The same of values that are more than a number, with NULLs among them."""
    one, other = column.take(pa.array(left)), column.take(pa.array(right))
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        equal: np.ndarray = pc.fill_null(pc.equal(one, other), False).to_numpy(zero_copy_only=False)
        if column.null_count:
            nulls = one.is_null().to_numpy(zero_copy_only=False) & other.is_null().to_numpy(zero_copy_only=False)
            equal = equal | nulls
        return equal
    found = Words([column.type]).of([pa.concat_arrays([one, other])], 2 * len(left))
    alike: np.ndarray = (found[: len(left)] == found[len(left) :]).all(axis=1)
    return alike


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
