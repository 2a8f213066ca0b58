"""Answers as changes: what differs from the window before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.clustering.identity import CHANGES, KEPT
from windrow.kernels.rounding import alike, numbers_in
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.cluster_rows import ClusterRows
from windrow.runtime.keys import identity_of, same_values
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode

Fates = dict[tuple[int, int], tuple[str, int]]
"""By slot and number, what became of a cluster, and the number of the other that had to do with it."""

Noise = Mapping[str, np.ndarray]
"""The columns whose values may be off by rounding, with how far in each row."""

_LEFT = -1
"""The slot of a group that has left every window."""


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The answer of a window: row i is that of the group in slot `slots[i]`, and of its cluster `numbers[i]`."""

    slots: np.ndarray
    numbers: np.ndarray
    rows: pa.RecordBatch


class Told(NamedTuple):
    """What some windows change; `whole` is that for who has been told nothing before, if any window was compared."""

    changes: list[pa.RecordBatch]
    whole: list[pa.RecordBatch] | None


class Differences:
    """Compares the answers of one query, window by window, and tells what differs.

    Windows come in order; one that holds nothing need not be told. `family` is where the last answer is kept.
    """

    def __init__(self, query: QueryPlan, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        assert isinstance(query.window, TimeWindow)
        self._window, self._schema, self._clustered = query.window, query.emitted, query.clusters is not None
        self._keys = len(query.keys)
        self._family, self._store = family, blocks
        self._last: int | None = snapshot["last"] if snapshot else None
        self._kept = pa.schema(list(query.answered)[-len(query.keys) - len(query.aggregates) :])
        nothing = pa.record_batch([pa.array([], field.type) for field in self._kept], schema=self._kept)
        self._held = LastAnswer(np.empty(0, np.int64), np.empty(0, np.int64), nothing)
        self._nothing, self._stale, self._changed = self._held, snapshot is not None, False

    def told(
        self, answers: pa.RecordBatch, slots: np.ndarray, clusters: ClusterRows | None, noise: Noise, anew: bool
    ) -> Told:
        """What the answers of some windows change; row i of `answers` is of the group in slot `slots[i]`.

        `noise` are columns that may be off by rounding, with how far: what differs by no more stays what it was. The
        whole is found out where it is told `anew`.
        """
        self._load()
        ends = pc.cast(answers.column("window_end"), pa.int64()).to_numpy()
        edges = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(ends)] if len(ends) else []
        rows = answers.select(self._kept.names)
        numbers = np.zeros(len(ends), np.int64) if clusters is None else clusters.numbers
        found: list[pa.RecordBatch] = []
        first: tuple[int, LastAnswer] | None = None
        for low, high in pairwise(edges):
            window = self._window.last_ended(int(ends[low]))
            found += self.emptied(window - 1).changes
            first = first or ((window, self._nothing) if found else None)
            fates = {} if clusters is None else clusters.followed[window].fates()
            held = LastAnswer(slots[low:high], numbers[low:high], rows.slice(low, high - low))
            found.append(self._compared(window, held, fates, {name: far[low:high] for name, far in noise.items()}))
            first = first or (window, self._held)
        if first is None:
            return Told([], None)
        whole = [self._whole(*first), *found[1:]] if anew else []
        return Told(*([batch for batch in told if batch.num_rows] for told in (found, whole)))

    def emptied(self, last: int) -> Told:
        """Window `last` has ended, and there was no answer after the one that was told last: all it held is gone."""
        self._load()
        if self._last is None or self._last >= last or not len(self._held.slots):
            return Told([], None)
        return Told([self._compared(self._last + 1, self._nothing, {}, {})], [])

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` have left every window; the slots will be given to others."""
        self._load()
        if len(slots) and len(self._held.slots):
            left = np.isin(self._held.slots, slots)
            if left.any():
                self._held = LastAnswer(np.where(left, _LEFT, self._held.slots), self._held.numbers, self._held.rows)
                self._changed = True

    def keep(self, share: Share, by: Sequence[int], others: np.ndarray) -> None:
        """Let go of the rows of groups that are not of `share`: those in the slots `others`.

        A group that has left every window has no slot any more: its keys at the places `by` tell whose it is.
        """
        self._load()
        staying = ~np.isin(self._held.slots, others)
        left = np.flatnonzero(self._held.slots == _LEFT)
        if len(left):
            keys = [self._held.rows.column(i).take(pa.array(left)) for i in by]
            staying[left] = share.has(keys, len(left))
        if not staying.all():
            rows = self._held.rows.filter(pa.array(staying))
            self._held = LastAnswer(self._held.slots[staying], self._held.numbers[staying], rows)
            self._changed = True

    def rewind(self, clock: int) -> None:
        """Windows after `clock` are going to be told again; they differ from what was told last."""
        if self._last is not None:
            self._last = min(self._last, self._window.last_ended(clock))

    @property
    def nbytes(self) -> int:
        """What the last answer takes."""
        return self._held.slots.nbytes + self._held.numbers.nbytes + int(self._held.rows.nbytes)

    def save(self, version: int) -> None:
        if self._changed:
            held = self._held
            own = {"slot": pa.array(held.slots), "number": pa.array(held.numbers)}
            self._store.write(self._family, 0, encode(own | dict(zip(self._kept.names, held.rows.columns))))
            self._changed = False

    def snapshot(self) -> Snapshot:
        return {"last": self._last}

    def _compared(self, window: int, new: LastAnswer, fates: Fates, noise: Noise) -> pa.RecordBatch:
        """The groups that are in one of two windows, or whose answers differ."""
        old = self._held
        place = _places(old, new)
        if not self._clustered:
            _again(old, new, place, self._keys)
        new = _steady(old, new, place, noise)
        self._last, self._held, self._changed = window, new, True
        return self._changes(window, old, new, place, fates)

    def _whole(self, window: int, held: LastAnswer) -> pa.RecordBatch:
        """All that a window holds, as what has come."""
        return self._changes(window, self._nothing, held, np.full(len(held.slots), -1), {})

    def _changes(
        self, window: int, old: LastAnswer, new: LastAnswer, place: np.ndarray, fates: Fates
    ) -> pa.RecordBatch:
        """The same, where row i of the new ones is that of the old ones at `place[i]`, if there is one."""
        both = np.flatnonzero(place >= 0)
        differs = np.ones(len(place), bool)
        differs[both] = ~_same(new.rows, both, old.rows, place[both], self._keys)
        news = np.flatnonzero(differs)
        gone = np.ones(len(old.slots), bool)
        gone[place[both]] = False
        olds = np.flatnonzero(gone)
        count = len(news) + len(olds)  # what is gone comes first: a group may have left and come again
        mine = np.concatenate([np.full(len(olds), -1), news])
        was = np.concatenate([olds, place[news]])
        has, had = mine >= 0, was >= 0
        source_new, source_old = pa.array(mine, mask=~has), pa.array(was, mask=~had)
        columns = [pa.array(np.full(count, self._window.end(window))).cast(self._schema.field(0).type)]
        columns += [pa.array(has), pa.array(had)]
        if self._clustered:
            columns += _fates(new, old, news, olds, fates)
        of_olds, of_news = pa.array(olds), pa.array(news)
        for i in range(self._keys):
            keys = [old.rows.column(i).take(of_olds), new.rows.column(i).take(of_news)]
            columns.append(pa.concat_arrays(keys))
        columns += [column.take(source_new) for column in new.rows.columns[self._keys :]]
        columns += [column.take(source_old) for column in old.rows.columns[self._keys :]]
        return pa.record_batch(columns, schema=self._schema)

    def _load(self) -> None:
        if self._stale:
            self._stale = False
            if self._last is not None:
                batch = decode(self._store.read(self._family, 0))
                slots, numbers = batch.column("slot").to_numpy(), batch.column("number").to_numpy()
                self._held = LastAnswer(slots, numbers, batch.select(self._kept.names))


def _places(old: LastAnswer, new: LastAnswer) -> np.ndarray:
    """For each row of `new` the row of `old` that is of the same group and cluster, or -1."""
    if not len(old.slots) or not len(new.slots):
        return np.full(len(new.slots), -1)
    if not old.numbers.any() and not new.numbers.any():  # without clusters a slot has one row
        there = np.flatnonzero(old.slots != _LEFT)
        row_of: np.ndarray = np.full(int(max(old.slots.max(), new.slots.max())) + 1, -1)
        row_of[old.slots[there]] = there
        found: np.ndarray = row_of[new.slots]
        return found
    width = int(max(old.numbers.max(), new.numbers.max())) + 1
    was, now = old.slots * width + old.numbers, new.slots * width + new.numbers
    order = np.argsort(was, kind="stable")
    at = np.minimum(np.searchsorted(was[order], now), len(was) - 1)
    return np.where(was[order][at] == now, order[at], -1)


def _again(old: LastAnswer, new: LastAnswer, place: np.ndarray, keys: int) -> None:
    """Find the groups that had left every window and are there again, in other slots: by their keys."""
    left, fresh = np.flatnonzero(old.slots == _LEFT), np.flatnonzero(place < 0)
    if not len(left) or not len(fresh):
        return
    if not keys:
        place[fresh] = left[0]
        return
    was = identity_of([column.take(pa.array(left)) for column in old.rows.columns[:keys]])
    now = identity_of([column.take(pa.array(fresh)) for column in new.rows.columns[:keys]])
    found = pc.fill_null(pc.index_in(now, value_set=was), -1).to_numpy()
    place[fresh] = np.where(found < 0, -1, left[found])


def _steady(old: LastAnswer, new: LastAnswer, place: np.ndarray, noise: Noise) -> LastAnswer:
    """The new rows with the old values where these differ by no more than rounding.

    What was told stays what it was, so that it can be taken back as it was told.
    """
    both = np.flatnonzero(place >= 0)
    if not noise or not len(both):
        return new
    rows = new.rows
    for name, far in noise.items():
        was, mine = old.rows.column(name), rows.column(name)
        kept = both[alike(numbers_in(was)[place[both]], numbers_in(mine)[both], far[both])]
        if not len(kept):
            continue
        source = np.arange(len(mine))
        source[kept] = len(mine) + place[kept]
        steady = pa.concat_arrays([mine, was]).take(pa.array(source))
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), steady)
    return replace(new, rows=rows)


def _same(new: pa.RecordBatch, news: np.ndarray, old: pa.RecordBatch, olds: np.ndarray, keys: int) -> np.ndarray:
    """Whether all but the keys are equal, row by row: NULL is NULL, NaN is NaN."""
    same = np.ones(len(news), bool)
    for mine, was in zip(new.columns[keys:], old.columns[keys:]):
        same &= same_values(_taken(mine, news), _taken(was, olds))
    return same


def _taken(column: pa.Array, rows: np.ndarray) -> pa.Array:
    """Some rows of a column; mostly it is all of them, where they are."""
    whole = len(rows) == len(column) and bool((rows == np.arange(len(column))).all())
    return column if whole else column.take(pa.array(rows))


def _fates(new: LastAnswer, old: LastAnswer, news: np.ndarray, olds: np.ndarray, fates: Fates) -> list[pa.Array]:
    """What became of each cluster: those of `olds`, then those of `news`."""
    changes: list[str] = []
    others: list[int | None] = []
    for held, rows, otherwise in ((old, olds, "died"), (new, news, "born")):
        for slot, number in zip(held.slots[rows].tolist(), held.numbers[rows].tolist()):
            change, other = fates.get((slot, number), (otherwise, 0))
            changes.append("changed" if change == CHANGES[KEPT] else change)
            others.append(other or None)
    return [pa.array(changes, pa.string()), pa.array(others, pa.int64())]
