"""Clusters from answer to answer: a number for each that it keeps as long as it lives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.clustering.identity import BORN, CHANGES, DIED, KEPT, MERGED, SPLIT, Seen, matched
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode

_CLUSTERS, _NUMBERS = range(2)


@dataclass(frozen=True, slots=True)
class ClusterFates:
    """What became of the clusters of a window.

    Of each cluster in it: its number, whether it was KEPT, BORN or SPLIT, and the number that it split from, or 0. Of
    each that is no more: its slot and number, whether it DIED or MERGED, and the number that it went into, or 0.
    """

    slots: np.ndarray
    numbers: np.ndarray
    changes: np.ndarray
    others: np.ndarray
    gone_slots: np.ndarray
    gone_numbers: np.ndarray
    gone_changes: np.ndarray
    gone_others: np.ndarray

    def fates(self) -> dict[tuple[int, int], tuple[str, int]]:
        """By slot and number, what became of a cluster, and the other number, or 0."""
        new = (self.slots, self.numbers, self.changes, self.others)
        gone = (self.gone_slots, self.gone_numbers, self.gone_changes, self.gone_others)
        rows = (row for part in (gone, new) for row in zip(*(column.tolist() for column in part)))
        return {(slot, number): (CHANGES[change], other) for slot, number, change, other in rows}


class Follower:
    """Follows the clusters of one window of a space, in all groups.

    Until a window has closed, the clusters of the window before and those of its own early answers are known, each
    where it was seen last: a window that fills may not have all of them yet. Once closed, its own are all there is.

    Numbers count from 1 in each group, as long as it has a cluster: after a window without one it begins anew, since
    nothing is kept of it. Where there are no groups, numbers never begin anew.
    """

    def __init__(
        self, family: str, dimensions: int, reach: float, grouped: bool, blocks: Blocks, snapshot: Snapshot | None
    ) -> None:
        self._family, self._reach, self._store = family, reach, blocks
        self._dimensions, self._grouped = dimensions, grouped
        self._last: int | None = snapshot["last"] if snapshot else None
        self._seen = _nothing(dimensions)
        self._reached = np.zeros(0, np.int64)  # the highest number of each slot's group, 0 where there is none
        self._known = np.zeros(0, np.int64)  # the slots that must stay their groups'
        self._stale = snapshot is not None
        self._changed: set[int] = set()

    def follow(self, window: int, found: Seen, final: bool = True) -> ClusterFates:
        """Number the clusters of a window, or of an early answer of it.

        Windows come in order, the early answers of one before its final; those that hold nothing may be left out.
        """
        self._load()
        old = self._seen if self._last in (window - 1, window) else _nothing(self._dimensions)
        if self._grouped:
            self._begin_anew(old)
        told = matched(old, found, self._reach)
        numbers = np.where(told.is_old >= 0, _at(old.numbers, told.is_old), 0)
        self._number(found.slots, numbers)
        gone = np.ones(len(old), bool)
        gone[told.is_old[told.is_old >= 0]] = False
        seen = replace(found, numbers=numbers)
        if self._last is None:
            self._changed.add(_NUMBERS)  # also where nothing has a number yet: both are read again
        self._last, self._seen = window, seen if final else seen.beside(old.part(gone))
        self._changed.add(_CLUSTERS)
        into = told.into[gone]
        return ClusterFates(
            found.slots,
            numbers,
            np.where(told.is_old >= 0, KEPT, np.where(told.out_of >= 0, SPLIT, BORN)),
            np.where(told.out_of >= 0, _at(old.numbers, told.out_of), 0),
            old.slots[gone],
            old.numbers[gone],
            np.where(into >= 0, MERGED, DIED),
            np.where(into >= 0, _at(numbers, into), 0),
        )

    def lapse(self, ended: int) -> tuple[np.ndarray, np.ndarray]:
        """Window `ended` has closed: where it held nothing, no cluster is known any more.

        Returns the slots of groups that have known clusters since this was last called, and of those that have none any
        more. In between a slot stays its group's, though no pane may hold it: the next window may have it again.
        """
        self._load()
        if self._last is not None and self._last < ended and len(self._seen):
            self._seen = _nothing(self._dimensions)
            self._changed.add(_CLUSTERS)
        before, self._known = self._known, np.unique(self._seen.slots)
        return np.setdiff1d(self._known, before), np.setdiff1d(before, self._known)

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` are gone; the slots will be given to others."""
        self._load()
        slots = slots[slots < len(self._reached)]
        if len(slots) and self._grouped:
            self._reached[slots] = 0
            self._changed.add(_NUMBERS)

    def leave_out(self, slots: np.ndarray) -> None:
        """The groups in `slots` are of another shard now, with their clusters and the numbers of these."""
        self._load()
        staying = ~np.isin(self._seen.slots, slots)
        if not staying.all():
            self._seen = self._seen.part(staying)
            self._known = self._known[~np.isin(self._known, slots)]
            self._changed.add(_CLUSTERS)
        self.release(slots)

    @property
    def nbytes(self) -> int:
        return self._seen.nbytes + self._reached.nbytes

    def save(self, version: int) -> None:
        if _CLUSTERS in self._changed:
            seen = self._seen
            columns = {"slot": pa.array(seen.slots), "number": pa.array(seen.numbers), "count": pa.array(seen.counts)}
            columns |= {"radius": pa.array(seen.radii)}
            columns |= {f"center_{axis}": pa.array(seen.centers[:, axis]) for axis in range(self._dimensions)}
            self._store.write(self._family, _CLUSTERS, encode(columns))
        if _NUMBERS in self._changed:
            self._store.write(self._family, _NUMBERS, encode({"reached": pa.array(self._reached)}))
        self._changed.clear()

    def snapshot(self) -> Snapshot:
        return {"last": self._last}

    def _begin_anew(self, old: Seen) -> None:
        """Forget the numbers of groups that had no cluster in the window before."""
        there = np.zeros(len(self._reached), bool)
        there[old.slots] = True
        if self._reached[~there].any():
            self._reached[~there] = 0
            self._changed.add(_NUMBERS)

    def _number(self, slots: np.ndarray, numbers: np.ndarray) -> None:
        """Give the clusters without a number the next ones of their groups."""
        fresh = np.flatnonzero(numbers == 0)
        if not len(fresh):
            return
        if slots[-1] >= len(self._reached):
            grown = np.zeros(int(slots[-1]) + 1, np.int64)
            grown[: len(self._reached)] = self._reached
            self._reached = grown
        own = slots[fresh]
        groups, starts, sizes = np.unique(own, return_index=True, return_counts=True)
        numbers[fresh] = self._reached[own] + 1 + np.arange(len(own)) - np.repeat(starts, sizes)
        self._reached[groups] += sizes
        self._changed.add(_NUMBERS)

    def _load(self) -> None:
        if not self._stale:
            return
        self._stale = False
        if self._last is not None:
            batch = decode(self._store.read(self._family, _CLUSTERS))
            slots, numbers, counts, radii = (
                batch.column(name).to_numpy() for name in ("slot", "number", "count", "radius")
            )
            axes = [batch.column(f"center_{axis}").to_numpy() for axis in range(self._dimensions)]
            self._seen = Seen(slots, numbers, np.stack(axes, axis=1), radii, counts)
            self._known = np.unique(slots)
            self._reached = decode(self._store.read(self._family, _NUMBERS)).column("reached").to_numpy().copy()


def known_slots(family: str, blocks: Blocks, snapshot: Snapshot) -> np.ndarray:
    """The slots that a follower keeps for their groups, by what is stored of it."""
    if snapshot["last"] is None:
        return np.empty(0, np.int64)
    return np.unique(decode(blocks.read(family, _CLUSTERS)).column("slot").to_numpy())


def _nothing(dimensions: int) -> Seen:
    empty = np.empty(0, np.int64)
    return Seen(empty, empty, np.empty((0, dimensions)), np.empty(0), empty)


def _at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The values at `places`; any where a place is -1."""
    return values[places] if len(values) else np.zeros(len(places), np.int64)
