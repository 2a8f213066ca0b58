"""A binary tree over panes, for kernels that cannot forget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, identity
from windrow.storage.blocks import Blocks
from windrow.windows.entries import Entries, reduced
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import PaneSource, fold_into

_FIRST = -(1 << 62)


class Tree:
    """A slide combines O(log panes) nodes, all of them built once and never changed.

    Node k of level l is the fold of the panes from k * 2^l up to (k + 1) * 2^l, built when the last of them closes, so
    nothing is ever flipped or rewritten, any range can be asked for, and panes that hold nothing cost nothing (after
    FlatFAT: Tangwongsan, Hirzel, Schneider and Wu, "General incremental sliding-window aggregation", 2015, but
    aligned to pane numbers, append-only and in blocks). A slide builds one node in the mean and reads at most 2 log2 of
    the panes in a window.

        level 2   [       0       ) [       1       )
        level 1   [   0   ) [   1   ) [   2   ) [   3   )
        panes      0    1    2    3    4    5    6    7     3 ... 6 = pane 3 + node 2 of level 1 + pane 6
    """

    def __init__(self, panes: PaneSource, count: int, space: str, blocks: Blocks, snapshot: dict | None = None) -> None:
        """`count` is how many panes the widest window has."""
        self._panes = panes
        levels = range(1, count.bit_length())
        kept = snapshot["levels"] if snapshot else [None for _ in levels]
        self._closed: int | None = snapshot["closed"] if snapshot else None
        self._levels = [PaneLog(f"{space}.{level}", panes.kernels, blocks, kept[level - 1]) for level in levels]

    def adopt(self, older: Tree) -> None:
        """Take over the nodes that an `older` view has decoded and nobody has written since."""
        for mine, theirs in zip(self._levels, older._levels):
            mine.adopt(theirs)

    def close(self, before: int) -> None:
        """Build each node whose last pane has closed, level by level."""
        below: PaneSource = self._panes
        for level, log in enumerate(self._levels, start=1):
            built = _FIRST if self._closed is None else (self._closed >> level) << 1
            children = below.between(built, (before >> level) << 1)
            if len(children):
                nodes = Entries(children.panes >> 1, children.slots, children.partials)
                log.add(reduced(self._panes.kernels, nodes))
            below = log
        self._closed = before

    def answer(self, panes: range, width: int) -> list[Fields]:
        window = [identity(kernel, width) for kernel in self._panes.kernels]
        position = panes.start
        for level in nodes_over(panes, len(self._levels)):
            source = self._levels[level - 1] if level else self._panes
            node = position >> level
            fold_into(self._panes.kernels, window, source.between(node, node + 1))
            position += 1 << level
        return window

    def release(self, slots: np.ndarray) -> None:
        """Nothing to do: only nodes that begin before every later window still hold a group that has left."""

    def drop(self, before: int) -> None:
        for level, log in enumerate(self._levels, start=1):
            log.drop(before >> level)

    def save(self, version: int) -> None:
        for log in self._levels:
            log.save(version)

    def snapshot(self) -> dict:
        return {"closed": self._closed, "levels": [log.snapshot() for log in self._levels]}


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
