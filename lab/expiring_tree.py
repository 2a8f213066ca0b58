"""The baseline: one tree on time and key, from which entries are deleted one by one."""

from __future__ import annotations

import numpy as np

from windrow.indexes.b_plus_tree import BPlusTree
from windrow.indexes.structure import Spans


class ExpiringTree:
    """A B+-tree on (pane, word), so that what expires stands together (Paper I, section 3.3.1).

    It is what a ring of panes is measured by: every entry that expires is looked for from the root. Words have 32 bits.
    """

    def __init__(self, slide_us: int) -> None:
        self._slide_us, self._tree = slide_us, BPlusTree(np.uint64)

    def __len__(self) -> int:
        return len(self._tree)

    def insert(self, times: np.ndarray, words: np.ndarray, values: np.ndarray) -> None:
        """Take in entries at their times, which are not before the epoch."""
        panes = (times // self._slide_us).astype(np.uint64)
        self._tree.insert((panes << np.uint64(32)) | words.astype(np.uint64), values)

    def spans(self, pane: int, low: int, high: int) -> list[Spans]:
        """The entries of one pane."""
        return list(self._tree.spans((pane << 32) | low, (pane << 32) | high))

    def expire(self, pane: int) -> int:
        """Delete the entries of a pane, each by itself; returns how many there were."""
        found = self._tree.spans(pane << 32, (pane << 32) | 0xFFFFFFFF)
        words = [part.words[begin:end] for part in found for begin, end in part.bounds]
        return self._tree.delete(np.concatenate(words)) if words else 0
