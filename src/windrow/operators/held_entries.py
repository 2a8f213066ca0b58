"""The values of every group that are there, and over which instants of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import Rows
from windrow.operators.instants import Instants
from windrow.operators.interval_fold import Intervals
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks, Snapshot


@runtime_checkable
class Ranking(Protocol):
    """A kernel whose answer is drawn from one row: of those with the greatest rank, the newest."""

    def ranks(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The places of the rows that count, and the rank of each."""


class HeldEntries:
    """Every distinct (group, values, time) that is there, and how often.

    Over the pairs of group and instant of a batch an entry is there in intervals of pairs, from where it came, or the
    group's first, to where it went, or the group's last. Copies of an entry come with the first of them, or with
    `latest` with the last.

    With a `ranking` rows leave as they came. Then an entry goes as soon as a newer one of its group is ranked as high,
    for no answer will be drawn from it again, and its `-` finds nothing to take away. So the few are held that will be
    the highest when others have left, or, where values only fall, all: the deque by which maxima of windows are found.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        latest: bool = False,
        ranking: Ranking | None = None,
    ) -> None:
        snapshot = snapshot or {"values": None, "turns": 0}
        self._ranking = ranking
        self._latest, self._turns = latest, int(snapshot["turns"])
        types = [pa.int64(), *types, pa.bool_(), pa.int64()]
        self._table = RowTable(types, ("n", "group", "turn"), family, blocks, snapshot["values"])

    @property
    def nbytes(self) -> int:
        return self._table.nbytes

    def follow(
        self, pairs: Instants, rows: Rows, values: Sequence[pa.Array], weights: np.ndarray
    ) -> tuple[tuple[pa.Array, ...], Rows, Intervals]:
        """The values of all entries that the groups of `pairs` have had, their order and mask, and where they are."""
        groups = pairs.slots[pairs.codes]
        passing = np.ones(len(groups), bool) if rows.mask is None else rows.mask
        known = len(self._table)
        slots = self._table.slots_of([pa.array(groups), *values, pa.array(passing), pa.array(rows.times)], len(groups))
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
        held, order = self._rows(entries)
        moves = np.searchsorted(entries, slots)
        there = _intervals(moves, pairs.codes, weights, side["n"][entries], firsts[owners], lasts[owners] + 1)
        np.add.at(side["n"], slots, weights)
        if self._ranking is not None:
            self._let_outdone_go(self._ranking, entries, replace(order, values=held[0]))
        if self._table.crowded:
            self._table.sweep(side["n"] != 0)
        return held, order, there

    def sweep(self, kept: np.ndarray) -> None:
        """Number the groups anew; those that are gone have no values."""
        here = np.flatnonzero(self._table.side["n"][: len(self._table)] != 0)
        columns, side = list(self._table.columns_of(here)), self._table.side
        often, turns = side["n"][here], side["turn"][here]
        groups = np.searchsorted(kept, columns[0].to_numpy())
        columns[0] = pa.array(groups)
        self._table.sweep(np.zeros(self._table.capacity, bool))
        slots = self._table.slots_of(columns, len(here))
        side = self._table.side
        side["n"][slots], side["group"][slots], side["turn"][slots] = often, groups, turns

    def save(self, version: int) -> None:
        self._table.save(version)

    def snapshot(self) -> Snapshot:
        return {"values": self._table.snapshot(), "turns": self._turns}

    def _let_outdone_go(self, ranking: Ranking, entries: np.ndarray, rows: Rows) -> None:
        """Keep of `entries`, whose `rows` these are, those that a newer one of the same group has not outdone."""
        often, groups = self._table.side["n"], self._table.side["group"][entries]
        places, ranks = ranking.ranks(replace(rows, mask=np.asarray(rows.mask) & (often[entries] > 0)))
        order = np.lexsort((-rows.times[places], groups[places]))
        places, stays = places[order], np.zeros(len(entries), bool)
        stays[places] = _highest_so_far(groups[places], ranks[order])
        going = entries[~stays & (often[entries] != 0)]
        often[going] = 0
        self._table.touch(going)

    def _take_turns(self, slots: np.ndarray, known: int) -> None:
        """Copies of a value at one time are one entry."""
        turns = self._turns + np.arange(len(slots))
        self._turns += len(slots)
        if self._latest:
            self._table.side["turn"][slots] = turns  # of a repeated slot, numpy keeps the last
        else:
            new = np.flatnonzero(slots >= known)[::-1]
            self._table.side["turn"][slots[new]] = turns[new]

    def _rows(self, entries: np.ndarray) -> tuple[tuple[pa.Array, ...], Rows]:
        """The values of `entries`, each with a time of its own: events at one time are in the order they came."""
        _, *values, passing, times = self._table.columns_of(entries)
        ranks = np.empty(len(entries), np.int64)
        ranks[np.lexsort((self._table.side["turn"][entries], times.to_numpy()))] = np.arange(len(entries))
        return tuple(values), Rows(None, ranks, passing.to_numpy(zero_copy_only=False))


@njit(cache=True, nogil=True)
def _highest_so_far(groups: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Which entries, newest first in each group, are ranked higher than all before them."""
    highest = np.zeros(groups.size, np.bool_)
    most = np.int64(0)
    for i in range(groups.size):
        if i == 0 or groups[i] != groups[i - 1] or ranks[i] > most:
            highest[i] = True
            most = ranks[i]
    return highest


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
