"""Partials that cannot forget: the values of every group are kept, and folded again where they change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import Fields, Kernel, Rows, identity
from windrow.kernels.bits import keys
from windrow.kernels.extreme import Extreme
from windrow.operators.instants import Instants
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks


class HeldValues:
    """Every distinct (group, value, time) that is there, and how often.

    After a change the group's values are folded again from the start; for MIN and MAX only the best one is, and it
    is only looked for when the last best has left.
    """

    def __init__(
        self, kernel: Kernel, type: pa.DataType, space: str, blocks: Blocks, snapshot: dict | None = None
    ) -> None:
        self._kernel = kernel
        self._best = isinstance(kernel, Extreme)
        types = [pa.int64(), type, pa.bool_(), *([] if self._best else [pa.int64()])]
        self._table = RowTable(types, ("n", "next", "key"), space, blocks, snapshot)
        self._heads = np.full(0, -1, np.int64)
        self._link(self._groups())

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        assert rows.values is not None
        groups = pairs.slots[pairs.codes]
        mask = np.ones(len(groups), bool) if rows.mask is None else rows.mask
        columns: list[pa.Array] = [pa.array(groups), rows.values, pa.array(mask)]
        if not self._best:
            columns.append(pa.array(rows.times))
        known = len(self._table)
        slots = self._table.slots_of(columns, len(groups))
        side = self._table.side
        if self._best:
            side["key"][slots] = keys(rows.values) if self._kernel.largest else ~keys(rows.values)  # type: ignore[attr-defined]
            usable = mask & rows.values.is_valid().to_numpy(zero_copy_only=False)
        else:
            side["key"][slots], usable = rows.times, np.ones(len(groups), bool)
        self._make_room(int(pairs.slots.max()) + 1)
        _link(self._heads, side["next"], groups, slots, known)
        before = _standing(self._heads, side["n"], side["next"], side["key"], pairs.slots[pairs.firsts], self._best)
        after = _follow(
            self._heads, side["n"], side["next"], side["key"],
            pairs.codes, pairs.slots, slots, np.where(usable, weights, 0) if self._best else weights, self._best,
        )  # fmt: skip
        self._table.touch(slots)
        folded = self._lifted(before, len(pairs.firsts)), self._lifted(after, len(pairs))
        if self._table.crowded and self._table.sweep(side["n"] != 0) is not None:
            self._link(self._groups())
        return folded

    def sweep(self, kept: np.ndarray) -> None:
        """Number the groups anew: the rows of those that are gone count nothing any more."""
        groups = np.full(len(self._heads), -1)
        groups[kept[kept < len(groups)]] = np.flatnonzero(kept < len(groups))
        here = np.flatnonzero(self._table.side["n"][: len(self._table)] != 0)
        columns = list(self._table.columns_of(here))
        columns[0] = pa.array(groups[columns[0].to_numpy()])
        numbers = {name: self._table.side[name][here] for name in ("n", "key")}
        self._table.sweep(np.zeros(self._table.capacity, bool))
        slots = self._table.slots_of(columns, len(here))
        for name, column in numbers.items():
            self._table.side[name][slots] = column
        self._link(self._groups())

    def save(self, version: int, groups: int) -> None:
        self._table.save(version)

    def snapshot(self) -> dict:
        return self._table.snapshot()

    def _groups(self) -> np.ndarray:
        return self._table.columns_of(np.arange(len(self._table)))[0].to_numpy()

    def _make_room(self, groups: int) -> None:
        if groups > len(self._heads):
            more = np.full(max(groups, 2 * len(self._heads)) - len(self._heads), -1)
            self._heads = np.concatenate([self._heads, more])

    def _link(self, groups: np.ndarray) -> None:
        self._heads = np.full(int(groups.max(initial=-1)) + 1, -1)
        _link(self._heads, self._table.side["next"], groups, np.arange(len(groups)), 0)

    def _lifted(self, places: tuple[np.ndarray, np.ndarray, np.ndarray], count: int) -> Fields:
        codes, slots, often = places
        partials = identity(self._kernel, count)
        if len(slots):
            if not self._best:
                order = np.lexsort((slots, self._table.side["key"][slots], codes))
                order = np.repeat(order, often[order])
                codes, slots = codes[order], slots[order]
            columns: Sequence[pa.Array] = self._table.columns_of(slots)
            times = np.zeros(len(slots), np.int64) if self._best else columns[3].to_numpy()
            self._kernel.lift(partials, codes, Rows(columns[1], times, columns[2].to_numpy(zero_copy_only=False)))
        return partials


@njit(cache=True, nogil=True)
def _link(heads, next_, groups, slots, known):
    """Chain the new slots, those from `known` on, to their groups; a slot may be named more than once."""
    newest = known
    for i in range(slots.size):
        if slots[i] == newest:
            next_[newest] = heads[groups[i]]
            heads[groups[i]] = newest
            newest += 1


@njit(cache=True, nogil=True, inline="always")
def _look(heads, n, next_, key, group):
    """The best value of a group; values that have left are unchained on the way."""
    best = before = -1
    slot = heads[group]
    while slot >= 0:
        if n[slot] == 0 and before >= 0:
            next_[before] = next_[slot]
            next_[slot] = -2
        else:
            if n[slot] > 0 and (best < 0 or key[slot] > key[best]):
                best = slot
            before = slot
        slot = next_[before]
    return best


@njit(cache=True, nogil=True)
def _collected(heads, n, next_, key, group, code, best, out, size):
    slot = best if best >= 0 else heads[group]
    while slot >= 0:
        if n[slot] > 0:
            if size == len(out):
                out = np.concatenate((out, np.empty_like(out)))
            out[size] = (code, slot, n[slot])
            size += 1
        slot = -1 if best >= 0 else next_[slot]
    return out, size


@njit(cache=True, nogil=True)
def _standing(heads, n, next_, key, groups, only_best):
    out, size = np.empty((max(groups.size, 4), 3), np.int64), 0
    for code in range(groups.size):
        best = _look(heads, n, next_, key, groups[code]) if only_best else -1
        if not only_best or best >= 0:
            out, size = _collected(heads, n, next_, key, groups[code], code, best, out, size)
    return out[:size, 0].copy(), out[:size, 1].copy(), out[:size, 2].copy()


@njit(cache=True, nogil=True)
def _follow(heads, n, next_, key, codes, groups, slots, weights, only_best):
    out, size = np.empty((max(groups.size, 4), 3), np.int64), 0
    i, best = 0, -1
    for code in range(groups.size):
        group = groups[code]
        if code == 0 or groups[code - 1] != group:
            best = _look(heads, n, next_, key, group) if only_best else -1
        while i < codes.size and codes[i] == code:
            slot = slots[i]
            if only_best and next_[slot] == -2:  # unchained when it had left
                next_[slot] = heads[group]
                heads[group] = slot
            n[slot] += weights[i]
            if only_best and n[slot] > 0 and (best < 0 or (n[best] > 0 and key[slot] > key[best])):
                best = slot
            i += 1
        if only_best and best >= 0 and n[best] <= 0:
            best = _look(heads, n, next_, key, group)
        if not only_best or best >= 0:
            out, size = _collected(heads, n, next_, key, group, code, best, out, size)
    return out[:size, 0].copy(), out[:size, 1].copy(), out[:size, 2].copy()
