"""What a space holds of the past: since when each partial is kept, and how time was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from windrow.plan.instants import AFTER_ALL, BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.calendar import Calendar
from windrow.plan.windows.coarser import Area
from windrow.plan.windows.cuts import Comb, Cuts
from windrow.plan.windows.time_window import TimeWindow
from windrow.storage.blocks import Snapshot

Stretch = tuple[int, int, Cuts]
"""Panes from when on and before when, and the edges between which they are merged."""

MOST = 1 << 20
"""A query that comes to a running job looks no further back than so many windows."""


class History:
    """Tells from which window on a query can be answered that came when events had gone by.

    Of a partial that was not kept before, of edges that were not cut before, and of panes that were let go, nothing can
    be known; all else is there. `kept_from` is the first pane that is still whole.
    """

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        snapshot = snapshot or {"partials": {}, "cuts": [], "kept_from": BEFORE_ALL}
        self._partials: dict[str, int] = dict(snapshot["partials"])
        self._plans: int = snapshot.get("plans", 0)
        self._begun: dict[str, int] = dict(snapshot.get("begun", {}))
        self._left: dict[str, int] = dict(snapshot.get("left", {}))
        """With the how manieth plan events have begun to go into a column, and with which they go there no more."""
        self._cuts = [(since, _read_cuts(*cuts)) for since, *cuts in snapshot["cuts"]]
        self.kept_from: int = snapshot["kept_from"]

    def begin(self, space: Space, since: int | None, ways: Iterable[Sequence[Partial]]) -> None:
        """From `since` on, events are cut as `space` has it, and kept in these `ways`, of which the last are filled.

        None is the start of the stream.
        """
        since, ways = BEFORE_ALL if since is None else since, list(ways)
        kept = {partial.name for each in ways for partial in each}
        left = kept - {each[-1].name for each in ways}
        self._partials = {
            name: begun
            for name, begun in self._partials.items()
            if name in kept and (name in left or name not in self._left)  # what is filled again begins anew
        }
        if kept != self._partials.keys() or left != self._left.keys():
            self._plans += 1
            self._begun = {name: self._begun.get(name, 0) if name in self._partials else self._plans for name in kept}
            self._left = {name: self._left.get(name, self._plans) for name in left}
        for name in kept:
            self._partials.setdefault(name, since)
        if not self._cuts or self._cuts[-1][1] != space.cuts:
            self._cuts.append((since, space.cuts))

    def fills(self, partial: Partial) -> bool:
        """Whether events go into a column, since whenever."""
        return partial.name in self._partials and partial.name not in self._left

    def has_left(self, partial: Partial) -> bool:
        """Whether a column is there only for the panes from before a change."""
        return partial.name in self._left

    def follows(self, new: Partial, old: Partial) -> bool:
        """Whether events have gone into `new` since they do not go into `old`, and older panes are still there."""
        changed = old.name in self._left and self._begun.get(new.name, 0) == self._left[old.name]
        return changed and self.kept_from < self._partials[new.name]

    def is_younger(self, new: Partial, old: Partial) -> bool:
        """Whether panes are still there that `old` has something of, and `new` has not."""
        older = self._partials.get(old.name, AFTER_ALL)
        return self.fills(new) and max(older, self.kept_from) < self._partials[new.name]

    def has(self, kept: Iterable[Sequence[Partial]]) -> bool:
        """Whether all were kept already, since whenever, each in one of its ways."""
        return all(any(map(self.fills, ways)) for ways in kept)

    def _since(self, ways: Sequence[Partial]) -> int:
        return min(self._partials[partial.name] for partial in ways)

    def first_window(self, window: TimeWindow, kept: Sequence[Sequence[Partial]]) -> int:
        """The first window that all its events are known of, and of all that follow it."""
        if window.range_us is None:
            return BEFORE_ALL
        low = max([self.kept_from, *map(self._since, kept)])
        sure = self._cuts[-1][0]  # from here on, time is cut at the window's own edges
        if max(low, sure) == BEFORE_ALL:
            return BEFORE_ALL
        last = window.first_from(max(low, sure))
        first = max(window.first_from(low) if low > BEFORE_ALL else last - MOST, last - MOST)
        numbers = np.arange(first, last)
        whole = self._cut_at(window.starts_of(numbers)) & self._cut_at(window.ends_of(numbers))
        broken = np.flatnonzero(~whole)
        return int(numbers[broken[-1]]) + 1 if len(broken) else first

    def first_edge(self, start: int, granules: Cuts, kept: Sequence[Sequence[Partial]]) -> int:
        """The first edge of `granules` from `start` on that was cut, and after which all events are known."""
        edge = granules.edge_from(max([start, self.kept_from, *map(self._since, kept)]))
        while edge < self._cuts[-1][0] and not self.is_cut(edge):
            edge = granules.edge_from(edge + 1)
        return edge

    def forget(self, before: int) -> None:
        """Panes before `before` have been let go."""
        self.kept_from = max(self.kept_from, before)
        while len(self._cuts) > 1 and self._cuts[1][0] <= before:
            del self._cuts[0]

    def coarsen(self, areas: Sequence[Area], *, anew: bool = False) -> list[Stretch]:
        """Old panes need be cut only as `areas` say; returns the stretches of time whose panes are to be merged so.

        A stretch begins with the granule that is still growing. What was cut before the windows of today came, and not
        where they begin and end, stays as it is. With `anew` it is all stretches, whether or not they were merged.
        """
        pieces: list[Area] = []
        stretches: list[Stretch] = []
        newest = areas[-1][0]  # from here on, panes stay as they came
        wanted: list[tuple[int, Cuts | None]] = [(BEFORE_ALL, None), *areas[:-1], (newest, None)]
        for (since, cuts), until in zip(self._cuts, [*(since for since, _ in self._cuts[1:]), AFTER_ALL]):
            for (low, coarser), high in zip(wanted, [*(since for since, _ in wanted[1:]), AFTER_ALL]):
                first, stop, begin = max(since, low), min(until, high), AFTER_ALL
                if first < stop and coarser is not None and coarser.lie_in(cuts) and (anew or coarser != cuts):
                    begin = self._granule(first, coarser)
                if first < min(begin, stop):
                    pieces.append((first, cuts))
                if coarser is not None and begin < stop:
                    pieces.append((max(first, begin), coarser))
                    stretches.append((begin, stop, coarser))
        self._cuts = [
            piece for before, piece in zip([None, *pieces], pieces) if before is None or piece[1] != before[1]
        ]
        return stretches

    def _granule(self, instant: int, coarser: Cuts) -> int:
        """Where the granule begins that `instant` lies in; where that is not there, where the next one does."""
        instant = max(instant, self.kept_from)
        begin = coarser.pane_at(instant)
        whole = begin == instant or (begin >= self.kept_from and self.is_cut(begin))
        return begin if whole else coarser.edge_from(instant)

    def cut_since(self, cuts: Cuts) -> int:
        """From when on all panes are cut at least at the edges of `cuts`."""
        since = AFTER_ALL
        for begun, finer in reversed(self._cuts):
            if not cuts.lie_in(finer):
                break
            since = begun
        return since

    def panes_in(self, first: int, stop: int) -> int:
        """About how many panes there are from `first` on and before `stop`."""
        edges = [min(max(since, first), stop) for since, _ in self._cuts] + [stop]
        areas = zip(edges, edges[1:], self._cuts)
        return sum(cuts.panes_in(high - low) for low, high, (_, cuts) in areas if low < high)

    def rewind(self, stop: int) -> None:
        """Panes from `stop` on are as if they had never been: all that comes there is known."""
        self.kept_from = min(self.kept_from, stop)
        self._partials = {name: min(since, stop) for name, since in self._partials.items()}
        self._cuts = [(min(since, stop), cuts) for since, cuts in self._cuts]
        while len(self._cuts) > 1 and self._cuts[-2][0] == stop:
            del self._cuts[-2]

    def is_cut(self, instant: int) -> bool:
        """Whether a pane ended at `instant`."""
        return bool(self._cut_at(np.array([instant]))[0])

    def snapshot(self) -> Snapshot:
        cuts = [[since, *_written_cuts(cut)] for since, cut in self._cuts]
        changed = {"plans": self._plans, "begun": self._begun, "left": self._left}
        return {"partials": self._partials, "cuts": cuts, "kept_from": self.kept_from, **changed}

    def _cut_at(self, instants: np.ndarray) -> np.ndarray:
        """At which of `instants` a pane ended, as time was cut when they went by."""
        found = np.zeros(len(instants), bool)
        for i, (since, cuts) in enumerate(self._cuts):
            until = self._cuts[i + 1][0] if i + 1 < len(self._cuts) else 1 << 62
            inside = (instants >= since) & (instants < until)
            found[inside] = cuts.is_edge(instants[inside])
        return found


def _written_cuts(cuts: Cuts) -> list[Any]:
    """Cuts as plain values; calendars only where there are any, so that state without reads as it always did."""
    combs = [[comb.slide_us, comb.first_us] for comb in cuts.combs]
    return [combs, [list(astuple(calendar)) for calendar in cuts.calendars]] if cuts.calendars else [combs]


def _read_cuts(combs: list[list[int]], calendars: list[list[Any]] | None = None) -> Cuts:
    return Cuts(tuple(Comb(*comb) for comb in combs), tuple(Calendar(*calendar) for calendar in calendars or ()))
