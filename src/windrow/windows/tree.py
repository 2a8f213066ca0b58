"""A binary tree over panes, for kernels that cannot forget, such as those of MAX and MIN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, identity
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, reduced
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import InBlocks, PaneSource, fold_into


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

    def __init__(
        self,
        panes: PaneSource,
        unit: int,
        origin: int,
        cells: int,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        """`cells` is how many cells the widest window has."""
        self._panes, self._unit, self._origin = panes, unit, origin
        levels = range(1, cells.bit_length())
        self._ruled = [unit, origin, len(levels), *panes.names]
        if snapshot is not None and snapshot["ruled"] != self._ruled:  # another tree: it is built again from the panes
            blocks.delete_all(f"{family}.")
            snapshot = None
        kept = snapshot["levels"] if snapshot else [None for _ in levels]
        self._closed: int | None = snapshot["closed"] if snapshot else None
        kernels = dict(zip(panes.names, panes.kernels))
        self._levels = [PaneLog(f"{family}.{level}", kernels, blocks, kept[level - 1]) for level in levels]

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
        first, stop = -((self._origin - panes.start) // self._unit), (panes.stop - self._origin) // self._unit
        if first >= stop:
            fold_into(self._panes.kernels, window, self._panes.between(panes.start, panes.stop))
            return window
        self._fold_part(window, panes.start, self._begin(first))
        position = first
        for level in nodes_over(range(first, stop), len(self._levels)):
            node, position = position >> level, position + (1 << level)
            if level:
                fold_into(self._panes.kernels, window, self._levels[level - 1].between(node, node + 1))
            else:
                self._fold_part(window, self._begin(node), self._begin(node + 1))
        self._fold_part(window, self._begin(stop), panes.stop)
        return window

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

    def _fold_part(self, window: list[Fields], first: int, stop: int) -> None:
        if first < stop:
            fold_into(self._panes.kernels, window, self._panes.between(first, stop))

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
