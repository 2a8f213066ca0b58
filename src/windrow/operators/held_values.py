"""Partials that cannot forget: the values of every group are kept, and folded over the instants at which it changes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, Rows, take
from windrow.kernels.edge_value import EdgeValue
from windrow.kernels.user import User
from windrow.operators.group_partials import GroupPartials
from windrow.operators.instants import Instants
from windrow.operators.interval_fold import Intervals, fold_intervals
from windrow.operators.merge_fold import fold_in_order
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks, Snapshot


class HeldValues:
    """Every distinct (group, value, time) that is there, and how often.

    Over the pairs of group and instant of a batch a value is there in intervals of pairs, from where it came, or the
    group's first, to where it went, or the group's last. The last fold of each group is kept as it was shown: folded
    again in another order a float could differ in its last bit, and a `-` must take away what its `+` brought.
    """

    def __init__(
        self, kernel: Kernel, type: pa.DataType, family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._kernel = kernel
        snapshot = snapshot or {"last": None, "values": None, "turns": 0}
        self._turns: int = snapshot["turns"]
        self._last = GroupPartials(kernel, f"{family}.last", blocks, snapshot["last"])
        self._table = RowTable(
            [pa.int64(), type, pa.bool_(), pa.int64()], ("n", "group", "turn"), family, blocks, snapshot["values"]
        )

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self._last.nbytes

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        assert rows.values is not None
        groups = pairs.slots[pairs.codes]
        passing = np.ones(len(groups), bool) if rows.mask is None else rows.mask
        known = len(self._table)
        slots = self._table.slots_of(
            [pa.array(groups), rows.values, pa.array(passing), pa.array(rows.times)], len(groups)
        )
        side = self._table.side
        side["group"][slots] = groups
        self._take_turns(slots[weights > 0], known)
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
        before = self._last.of(pairs.slots[firsts])
        moves = np.searchsorted(entries, slots)
        there = _intervals(moves, pairs.codes, weights, side["n"][entries], firsts[owners], lasts[owners] + 1)
        fold = fold_in_order if isinstance(self._kernel, User) else fold_intervals
        after = fold(self._kernel, values, there, len(pairs))
        self.show(pairs, after)
        np.add.at(side["n"], slots, weights)
        if self._table.crowded:
            self._table.sweep(side["n"] != 0)
        return before, after

    def show(self, pairs: Instants, states: Fields) -> None:
        """The rows of the groups are drawn from these `states`, one for each pair, though values say others."""
        self._last.put(pairs.slots[pairs.lasts], take(states, pairs.lasts))

    def sweep(self, kept: np.ndarray) -> None:
        """Number the groups anew; those that are gone have no values."""
        self._last.sweep(kept)
        here = np.flatnonzero(self._table.side["n"][: len(self._table)] != 0)
        columns, side = list(self._table.columns_of(here)), self._table.side
        often, turns = side["n"][here], side["turn"][here]
        groups = np.searchsorted(kept, columns[0].to_numpy())
        columns[0] = pa.array(groups)
        self._table.sweep(np.zeros(self._table.capacity, bool))
        slots = self._table.slots_of(columns, len(here))
        side = self._table.side
        side["n"][slots], side["group"][slots], side["turn"][slots] = often, groups, turns

    def save(self, version: int, groups: int) -> None:
        self._table.save(version)
        self._last.save(version, groups)

    def snapshot(self) -> Snapshot:
        return {"last": self._last.snapshot(), "values": self._table.snapshot(), "turns": self._turns}

    def _take_turns(self, slots: np.ndarray, known: int) -> None:
        """Copies of a value at one time are one entry: it comes with the first of them, for LAST with the last."""
        turns = self._turns + np.arange(len(slots))
        self._turns += len(slots)
        if isinstance(self._kernel, EdgeValue) and self._kernel.latest:
            self._table.side["turn"][slots] = turns  # of a repeated slot, numpy keeps the last
        else:
            new = np.flatnonzero(slots >= known)[::-1]
            self._table.side["turn"][slots[new]] = turns[new]

    def _rows(self, entries: np.ndarray) -> Rows:
        """The values of `entries`, each with a time of its own: events at one time are in the order they came."""
        _, values, passing, times = self._table.columns_of(entries)
        ranks = np.empty(len(entries), np.int64)
        ranks[np.lexsort((self._table.side["turn"][entries], times.to_numpy()))] = np.arange(len(entries))
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
