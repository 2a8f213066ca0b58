"""Tries over the bytes of words: a radix tree whose nodes are as large as they must be, and a burst trie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.indexes.structure import Spans, grown
from windrow.indexes.trie_nodes import ARENA, LARGEST, LEAVES, NODES, Trie
from windrow.indexes.trie_steps import insert_all, last_of, spans_of

_PARTS = (("links4", "bytes4"), ("links16", "bytes16"), ("links48", "bytes48"), ("links256",))
"""The arrays of each size of nodes."""


class RadixTree:
    """A trie with nodes of 4, 16, 48 and 256 links and small sorted leaves.

    From Judy (Baskins, 2004) that a leaf holds some keys as long as they fit a few lines of a cache; from ART (Leis,
    Kemper, Neumann, 2013) the four sizes of nodes. However many keys there are, a look-up reads as many nodes as a word
    has bytes at most.

    >>> tree = RadixTree()
    >>> tree.insert(np.array([7, 7, 900], np.uint32), np.array([1, 2, 3], np.uint32))
    >>> tree.last(np.array([7, 8], np.uint32)).tolist()
    [2, -1]
    """

    ordered = True
    limit = 32
    """So many entries a leaf holds before it bursts."""
    adapts = True
    """Whether nodes begin small."""

    def __init__(self, words: np.dtype | type = np.uint32) -> None:
        self._dtype = np.dtype(words)
        self._width = self._dtype.itemsize
        links = [np.zeros((1, width), np.int32) for width in (4, 16, 48, 256)]
        marks = [np.zeros((1, width), np.uint8) for width in (4, 16, 256)]
        leaves = (np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, self._dtype), np.zeros(1, np.uint32))
        sizes = np.zeros((1, 3), np.uint8)
        heads = (np.zeros(16, np.int64), np.full(40, -1, np.int64))
        self._trie = Trie._make([*heads, *marks, *links, sizes, *leaves])

    def __len__(self) -> int:
        return int(self._trie.header[0])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._trie)

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        words, values = np.ascontiguousarray(words, self._dtype), np.ascontiguousarray(values, np.uint32)
        done = 0
        while True:
            done = insert_all(self._trie, words, values, done, self._width, self.limit, self.adapts)
            if done == len(words):
                return
            self._grow()

    def last(self, words: np.ndarray) -> np.ndarray:
        found: np.ndarray = last_of(self._trie, np.ascontiguousarray(words, self._dtype), self._width)
        return found

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        bounds = spans_of(self._trie, self._dtype.type(low), self._dtype.type(high), self._width)
        return [Spans(self._trie.words, self._trie.values, bounds)] if len(bounds) else []

    def _grow(self) -> None:
        """A quarter more of whatever is nearly full; the rest stays as it is."""
        arrays, header = dict(zip(Trie._fields, self._trie)), self._trie.header
        made = [int(header[NODES + kind]) for kind in range(4)]
        for used, names in zip(made, _PARTS):
            if used + 9 > len(arrays[names[0]]):
                arrays |= {name: grown(arrays[name], used * 5 // 4 + 16) for name in names}
        if max(made[:3]) + 9 > len(arrays["sizes"]):
            arrays["sizes"] = grown(arrays["sizes"], max(made[:3]) * 5 // 4 + 16)
        if header[LEAVES] + 2 * self.limit + 9 > len(arrays["offsets"]):
            room = int(header[LEAVES]) * 5 // 4 + 4 * self.limit + 16
            arrays |= {name: grown(arrays[name], room) for name in ("offsets", "counts")}
        need = int(header[ARENA]) + 20 * self.limit + 2 * int(header[LARGEST]) + 9
        if need > len(arrays["words"]):
            arrays |= {name: grown(arrays[name], need * 5 // 4) for name in ("words", "values")}
        self._trie = Trie(**arrays)


class BurstTrie(RadixTree):
    """A trie of nodes with 256 links each, over containers that burst into such a node when they are full.

    (Heinz, Zobel, Williams: Burst Tries, 2002, with the sorted containers of Paper I.) Nodes need no search, and are
    mostly empty where keys are far apart.
    """

    limit = 128
    adapts = False
