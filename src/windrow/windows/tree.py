"""A binary tree over panes, for kernels that cannot forget, such as those of MAX and MIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from windrow.kernels import Fields, identity
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, joined, reduced
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import InBlocks, PaneSource, fold_into
from windrow.windows.ranges import fold_spans

GAP = 2
"""Nodes so few apart are read together, with those between them."""


class Tree(InBlocks):
    """A slide combines O(log panes) nodes, all of them built once and never changed.

    Time is ruled into cells of `unit`, the shortest slide of the windows that ask, from `origin` on. Node k of level l
    is the fold of the panes that begin in the cells from k * 2^l up to (k + 1) * 2^l, built when the last of them
    closes, so nothing is ever flipped or rewritten, any range can be asked for, and panes that hold nothing cost
    nothing (after FlatFAT: Tangwongsan, Hirzel, Schneider and Wu, "General incremental sliding-window aggregation",
    2015, but aligned to time, append-only and in blocks). A slide builds one node in the mean and reads at most 2 log2
    of the cells in a window, and at both its ends the panes of a part of a cell.

        level 2   [       0       ) [       1       )
        level 1   [   0   ) [   1   ) [   2   ) [   3   )
        cells      0    1    2    3    4    5    6    7     3 ... 6 = cell 3 + node 2 of level 1 + cell 6
    """

    at_once = True

    def __init__(
        self,
        panes: PaneSource,
        unit: int,
        origin: int,
        cells: int,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        *,
        coarsens: bool = False,
    ) -> None:
        """`cells` is how many cells the widest window has; with `coarsens`, nodes that are dropped are cut off their
        blocks, as panes are that become coarser."""
        self._panes, self._unit, self._origin = panes, unit, origin
        levels = range(1, cells.bit_length())
        self._ruled = [unit, origin, len(levels), *panes.names]
        if snapshot is not None and snapshot["ruled"] != self._ruled:  # another tree: it is built again from the panes
            blocks.delete_all(f"{family}.")
            snapshot = None
        kept = snapshot["levels"] if snapshot else [None for _ in levels]
        self._closed: int | None = snapshot["closed"] if snapshot else None
        kernels = dict(zip(panes.names, panes.kernels))
        self._levels = [
            PaneLog(f"{family}.{level}", kernels, blocks, kept[level - 1], coarsens=coarsens) for level in levels
        ]

    def adopt(self, older: Tree) -> None:
        """Take over the nodes that an `older` view has decoded and nobody has written since."""
        if older._ruled == self._ruled:
            for mine, theirs in zip(self._levels, older._levels):
                mine.adopt(theirs)

    def close(self, before: int) -> None:
        """Build each node whose last cell has closed, level by level."""
        closed = (before - self._origin) // self._unit
        if closed == self._closed:
            return
        for level, log in enumerate(self._levels, start=1):
            built = None if self._closed is None else (self._closed >> level) << 1
            children = self._children(level, built, (closed >> level) << 1)
            if len(children):
                nodes = Entries(children.panes >> 1, children.slots, children.partials)
                log.add(reduced(self._panes.kernels, nodes))
        self._closed = closed

    def answer(self, panes: range, width: int) -> list[Fields]:
        window = [identity(kernel, width) for kernel in self._panes.kernels]
        for level, first, stop in self._parts(panes):
            fold_into(self._panes.kernels, window, self._source(level).between(first, stop))
        return window

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        """The parts of all windows are read level by level, and combined window by window in one call."""
        if len(windows) == 1:
            return self.answer(windows[0], width)
        parts = [(place, *part) for place, panes in enumerate(windows) for part in self._parts(panes)]
        places, levels, firsts, stops = np.array(parts, np.int64).reshape(-1, 4).T
        low, high = np.empty_like(places), np.empty_like(places)
        read: list[Entries] = []
        for level in np.unique(levels).tolist():
            own = np.flatnonzero(levels == level)
            gap = GAP if level else GAP * self._unit
            for first, stop, members in runs_of(firsts[own], stops[own], gap):
                entries, before = self._source(level).between(first, stop), sum(map(len, read))
                low[own[members]] = entries.panes.searchsorted(firsts[own[members]]) + before
                high[own[members]] = entries.panes.searchsorted(stops[own[members]]) + before
                read.append(entries)
        folded = [identity(kernel, len(windows) * width) for kernel in self._panes.kernels]
        fold_spans(self._panes.kernels, joined(read), low, high, places, width, folded)
        return folded

    def release(self, slots: np.ndarray) -> None:
        """Nothing to do: only nodes that begin before every later window still hold a group that has left."""

    def drop(self, before: int) -> None:
        cell = (before - self._origin) // self._unit
        for level, log in enumerate(self._levels, start=1):
            log.drop(cell >> level)

    def save(self, version: int) -> None:
        for log in self._levels:
            log.save(version)

    def snapshot(self) -> Snapshot:
        return {"ruled": self._ruled, "closed": self._closed, "levels": [log.snapshot() for log in self._levels]}

    def _begin(self, cell: int) -> int:
        return self._origin + cell * self._unit

    def _parts(self, panes: range) -> Iterator[tuple[int, int, int]]:
        """What a window is combined from, from old to new: levels, and which nodes of them; of level 0, which panes."""
        first, stop = -((self._origin - panes.start) // self._unit), (panes.stop - self._origin) // self._unit
        if first >= stop:
            yield 0, panes.start, panes.stop
            return
        if panes.start < self._begin(first):
            yield 0, panes.start, self._begin(first)
        position = first
        for level in nodes_over(range(first, stop), len(self._levels)):
            node, position = position >> level, position + (1 << level)
            yield (level, node, node + 1) if level else (0, self._begin(node), self._begin(node + 1))
        if self._begin(stop) < panes.stop:
            yield 0, self._begin(stop), panes.stop

    def _source(self, level: int) -> PaneSource:
        """Where the nodes of a level are, or the panes."""
        return self._levels[level - 1] if level else self._panes

    def _children(self, level: int, first: int | None, stop: int) -> Entries:
        """The nodes below `level` from `first` up to `stop`; of level 0, the panes by the cell that they begin in."""
        if level > 1:
            return self._levels[level - 2].between(BEFORE_ALL if first is None else first, stop)
        panes = self._panes.between(BEFORE_ALL if first is None else self._begin(first), self._begin(stop))
        return Entries((panes.panes - self._origin) // self._unit, panes.slots, panes.partials)


def nodes_over(panes: range, top: int) -> Sequence[int]:
    """The levels of the fewest aligned nodes that cover `panes`, from old to new, none above level `top`.

    >>> nodes_over(range(3, 7), top=3)
    [0, 1, 0]
    >>> nodes_over(range(-8, 3), top=3)
    [3, 1, 0]
    """
    levels, position = [], panes.start
    while position < panes.stop:
        aligned = top if position == 0 else (position & -position).bit_length() - 1
        level = min(aligned, top, (panes.stop - position).bit_length() - 1)
        levels.append(level)
        position += 1 << level
    return levels


def runs_of(firsts: np.ndarray, stops: np.ndarray, gap: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Spans that overlap, or lie no more than `gap` apart, together: from where to where, and which they are.

    >>> firsts, stops = np.array([9, 1, 2]), np.array([10, 3, 4])
    >>> [(first, stop, members.tolist()) for first, stop, members in runs_of(firsts, stops, gap=2)]
    [(1, 4, [1, 2]), (9, 10, [0])]
    """
    order = np.argsort(firsts, kind="stable")
    reached = np.maximum.accumulate(stops[order])
    begins = np.flatnonzero(firsts[order][1:] > reached[:-1] + gap) + 1
    for members in np.split(order, begins):
        yield int(firsts[members[0]]), int(stops[members].max()), members
