"""Partials that cannot forget: the values of every group are kept, and folded over the instants at which it changes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, Rows
from windrow.operators.instants import Instants
from windrow.operators.interval_fold import Intervals, fold_intervals
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks


class HeldValues:
    """Every distinct (group, value, time) that is there, and how often.

    Over the pairs of group and instant of a batch a value is there in intervals of pairs, from where it came, or the
    group's first, to where it went, or the group's last.
    """

    def __init__(
        self, kernel: Kernel, type: pa.DataType, space: str, blocks: Blocks, snapshot: dict | None = None
    ) -> None:
        self._kernel = kernel
        self._table = RowTable([pa.int64(), type, pa.bool_(), pa.int64()], ("n", "group"), space, blocks, snapshot)

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        assert rows.values is not None
        groups = pairs.slots[pairs.codes]
        passing = np.ones(len(groups), bool) if rows.mask is None else rows.mask
        slots = self._table.slots_of(
            [pa.array(groups), rows.values, pa.array(passing), pa.array(rows.times)], len(groups)
        )
        side = self._table.side
        side["group"][slots] = groups
        self._table.touch(slots)
        firsts, lasts = pairs.firsts, pairs.lasts
        number = np.full(int(max(side["group"].max(), groups.max())) + 1, -1)
        number[pairs.slots[firsts]] = np.arange(len(firsts))
        entries = np.flatnonzero(
            (number[side["group"][: len(self._table)]] >= 0) & (side["n"][: len(self._table)] != 0)
        )
        entries = np.union1d(entries, slots)
        owners = number[side["group"][entries]]
        values = self._rows(entries)
        standing = Intervals(np.arange(len(entries)), owners, owners + 1, np.maximum(side["n"][entries], 0))
        before = fold_intervals(self._kernel, values, standing, len(firsts))
        moves = np.searchsorted(entries, slots)
        there = _intervals(moves, pairs.codes, weights, side["n"][entries], firsts[owners], lasts[owners] + 1)
        after = fold_intervals(self._kernel, values, there, len(pairs))
        np.add.at(side["n"], slots, weights)
        if self._table.crowded:
            self._table.sweep(side["n"] != 0)
        return before, after

    def sweep(self, kept: np.ndarray) -> None:
        """Number the groups anew; those that are gone have no values."""
        here = np.flatnonzero(self._table.side["n"][: len(self._table)] != 0)
        columns, often = list(self._table.columns_of(here)), self._table.side["n"][here]
        groups = np.searchsorted(kept, columns[0].to_numpy())
        columns[0] = pa.array(groups)
        self._table.sweep(np.zeros(self._table.capacity, bool))
        slots = self._table.slots_of(columns, len(here))
        self._table.side["n"][slots], self._table.side["group"][slots] = often, groups

    def save(self, version: int, groups: int) -> None:
        self._table.save(version)

    def snapshot(self) -> dict:
        return self._table.snapshot()

    def _rows(self, entries: np.ndarray) -> Rows:
        """The values of `entries`, each with a time of its own: of events at one time, the first that came is first."""
        _, values, passing, times = self._table.columns_of(entries)
        ranks = np.empty(len(entries), np.int64)
        ranks[np.lexsort((entries, times.to_numpy()))] = np.arange(len(entries))
        return Rows(values, ranks, passing.to_numpy(zero_copy_only=False))


def _intervals(
    moves: np.ndarray, codes: np.ndarray, weights: np.ndarray, counts: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Intervals:
    """Where each entry is there: it begins with `counts` at `low`, is changed at the pairs `codes`, and ends at `high`.

    >>> one, two, nine = (np.array([number]) for number in (1, 2, 9))
    >>> there = _intervals(np.array([0, 0]), np.array([3, 5]), np.array([-1, 2]), one, two, nine)
    >>> there.low.tolist(), there.high.tolist(), there.often.tolist()
    ([2, 5], [3, 9], [1, 2])
    """
    entries = np.concatenate([np.arange(len(counts)), moves])
    starts = np.concatenate([low, codes])
    deltas = np.concatenate([counts, weights])
    order = np.lexsort((starts, entries))
    entries, starts, deltas = entries[order], starts[order], deltas[order]
    sums = np.cumsum(deltas)
    first = np.flatnonzero(np.append(True, entries[1:] != entries[:-1]))
    often = sums - np.repeat((sums - deltas)[first], np.diff(np.append(first, len(entries))))
    ends = np.append(starts[1:], 0)
    last = np.append(first[1:], len(entries)) - 1
    ends[last] = high[entries[last]]
    some = np.flatnonzero((ends > starts) & (often > 0))
    return Intervals(entries[some], starts[some], ends[some], often[some])
