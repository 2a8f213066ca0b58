"""A B+-tree over flat arrays: nodes are rows of a matrix, links are row numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from windrow.indexes.structure import Spans, grown

ORDER = 64
"""Words a node: 256 bytes of 32-bit words, four lines of a cache."""

ROOT, HEIGHT, INNER, LEAVES, ENTRIES = range(5)
"""Where the header has the root, how many levels of inner nodes there are, and how many of each are in use."""


class BPlusTree:
    """Words in leaves that are linked, below nodes of words that part them (Bayer and McCreight, 1972).

    Equal words go behind each other. `delete` takes out one entry and leaves its leaf as full as it is then: it is for
    the index that expires entry by entry, which others are measured by.
    """

    ordered = True

    def __init__(self, words: np.dtype | type = np.uint32) -> None:
        self._dtype = np.dtype(words)
        self._parts = np.zeros((1, ORDER), self._dtype)
        self._links = np.zeros((1, ORDER + 1), np.int32)
        self._sizes = np.zeros(1, np.int32)
        self._words, self._values = np.zeros((1, ORDER), self._dtype), np.zeros((1, ORDER), np.uint32)
        self._counts, self._next = np.zeros(1, np.int32), np.full(1, -1, np.int32)
        self._header = np.array([0, 0, 0, 1, 0], np.int64)

    def __len__(self) -> int:
        return int(self._header[ENTRIES])

    @property
    def nbytes(self) -> int:
        arrays = (self._parts, self._links, self._sizes, self._words, self._values, self._counts, self._next)
        return sum(array.nbytes for array in arrays)

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        words, values = np.ascontiguousarray(words, self._dtype), np.ascontiguousarray(values, np.uint32)
        done = 0
        while True:
            done = _insert(words, values, done, self._header, *self._arrays)
            if done == len(words):
                return
            self._grow()

    def delete(self, words: np.ndarray) -> int:
        """Take out the oldest entry of each of some words; returns how many there were."""
        return int(_delete(np.ascontiguousarray(words, self._dtype), self._header, *self._arrays))

    def last(self, words: np.ndarray) -> np.ndarray:
        found: np.ndarray = _last(np.ascontiguousarray(words, self._dtype), self._header, *self._arrays)
        return found

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        if not len(self):
            return []
        first, last = self._dtype.type(low), self._dtype.type(high)
        bounds = _spans(first, last, self._header, *self._arrays)
        return [Spans(self._words.ravel(), self._values.ravel(), bounds)] if len(bounds) else []

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        leaves = (self._words, self._values, self._counts, self._next)
        return (self._parts, self._links, self._sizes, *leaves)

    def _grow(self) -> None:
        """Room for a quarter more: half-empty arrays would count as memory that the tree takes."""
        leaves, inner = len(self._counts) * 5 // 4 + 16, len(self._sizes) * 5 // 4 + 16
        self._words, self._values = grown(self._words, leaves), grown(self._values, leaves)
        self._counts, self._next = grown(self._counts, leaves), grown(self._next, leaves)
        self._parts, self._links = grown(self._parts, inner), grown(self._links, inner)
        self._sizes = grown(self._sizes, inner)


@njit(cache=True, nogil=True)
def _above(words: np.ndarray, count: int, word: int) -> int:
    """How many of the first `count` words are not above `word`."""
    at, left = 0, count
    while left > 0:
        half = left >> 1
        if words[at + half] <= word:
            at += half + 1
            left -= half + 1
        else:
            left = half
    return at


@njit(cache=True, nogil=True)
def _below(words: np.ndarray, count: int, word: int) -> int:
    """How many of the first `count` words are below `word`."""
    at, left = 0, count
    while left > 0:
        half = left >> 1
        if words[at + half] < word:
            at += half + 1
            left -= half + 1
        else:
            left = half
    return at


@njit(cache=True, nogil=True)
def _insert(  # type: ignore[no-untyped-def]
    asked, given, done, header, parts, links, sizes, words, values, counts, nexts
):
    """Insert from entry `done` on; returns how many are in, which are not all where the arrays are full.

    A full node is split on the way down, so that there is room above whatever is split below.
    """
    for k in range(done, len(asked)):
        height = header[HEIGHT]
        if header[LEAVES] + 2 > len(counts) or header[INNER] + height + 3 > len(sizes):
            return k
        word, root = asked[k], header[ROOT]
        if (counts[root] if height == 0 else sizes[root]) == ORDER:
            fresh = header[INNER]
            header[INNER] += 1
            links[fresh, 0], sizes[fresh] = root, 0
            _split(fresh, 0, height == 0, header, parts, links, sizes, words, values, counts, nexts)
            header[ROOT], header[HEIGHT] = fresh, height + 1
        node = header[ROOT]
        for level in range(header[HEIGHT], 0, -1):
            at = _above(parts[node], sizes[node], word)
            child = links[node, at]
            full = counts[child] == ORDER if level == 1 else sizes[child] == ORDER
            if full:
                _split(node, at, level == 1, header, parts, links, sizes, words, values, counts, nexts)
                if parts[node, at] <= word:
                    at += 1
                child = links[node, at]
            node = child
        at = _above(words[node], counts[node], word)
        for i in range(counts[node], at, -1):
            words[node, i], values[node, i] = words[node, i - 1], values[node, i - 1]
        words[node, at], values[node, at] = word, given[k]
        counts[node] += 1
        header[ENTRIES] += 1
    return len(asked)


@njit(cache=True, nogil=True)
def _split(  # type: ignore[no-untyped-def]
    node, at, leaf, header, parts, links, sizes, words, values, counts, nexts
):
    """Split child `at` of a node that has room: its upper half becomes a child more."""
    child = links[node, at]
    half = ORDER // 2
    if leaf:
        fresh = header[LEAVES]
        header[LEAVES] += 1
        words[fresh, : ORDER - half], values[fresh, : ORDER - half] = words[child, half:], values[child, half:]
        counts[child], counts[fresh] = half, ORDER - half
        nexts[fresh], nexts[child] = nexts[child], fresh
        parting = words[fresh, 0]
    else:
        fresh = header[INNER]
        header[INNER] += 1
        parting = parts[child, half]
        parts[fresh, : ORDER - half - 1] = parts[child, half + 1 :]
        links[fresh, : ORDER - half] = links[child, half + 1 :]
        sizes[child], sizes[fresh] = half, ORDER - half - 1
    for i in range(sizes[node], at, -1):
        parts[node, i], links[node, i + 1] = parts[node, i - 1], links[node, i]
    parts[node, at], links[node, at + 1] = parting, fresh
    sizes[node] += 1


@njit(cache=True, nogil=True)
def _first_leaf(word, header, parts, links, sizes):  # type: ignore[no-untyped-def]
    """The first leaf that may hold a word."""
    node = header[ROOT]
    for _ in range(header[HEIGHT]):
        node = links[node, _below(parts[node], sizes[node], word)]
    return node


@njit(cache=True, nogil=True)
def _last(asked, header, parts, links, sizes, words, values, counts, nexts):  # type: ignore[no-untyped-def]
    found = np.full(len(asked), -1, np.int64)
    for k in range(len(asked)):
        word, node = asked[k], header[ROOT]
        for _ in range(header[HEIGHT]):
            node = links[node, _above(parts[node], sizes[node], word)]
        at = _above(words[node], counts[node], word)
        if at > 0:
            if words[node, at - 1] == word:
                found[k] = values[node, at - 1]
            continue
        leaf = _first_leaf(word, header, parts, links, sizes)  # what this leaf had of it has been deleted
        while leaf >= 0 and leaf != node:
            for i in range(counts[leaf]):
                if words[leaf, i] == word:
                    found[k] = values[leaf, i]
            leaf = nexts[leaf]
    return found


@njit(cache=True, nogil=True)
def _spans(low, high, header, parts, links, sizes, words, values, counts, nexts):  # type: ignore[no-untyped-def]
    bounds = np.empty((64, 2), np.int64)
    number, leaf = 0, _first_leaf(low, header, parts, links, sizes)
    while leaf >= 0:
        count = counts[leaf]
        if count and words[leaf, 0] > high:
            break
        begin = _below(words[leaf], count, low) if count and words[leaf, 0] < low else 0
        end = _above(words[leaf], count, high) if count and words[leaf, count - 1] > high else count
        if begin < end:
            if number == len(bounds):
                larger = np.empty((2 * number, 2), np.int64)
                larger[:number] = bounds
                bounds = larger
            bounds[number, 0], bounds[number, 1] = leaf * ORDER + begin, leaf * ORDER + end
            number += 1
        leaf = nexts[leaf]
    return bounds[:number]


@njit(cache=True, nogil=True)
def _delete(asked, header, parts, links, sizes, words, values, counts, nexts):  # type: ignore[no-untyped-def]
    gone = 0
    for k in range(len(asked)):
        word = asked[k]
        leaf = _first_leaf(word, header, parts, links, sizes)
        while leaf >= 0:
            at = _below(words[leaf], counts[leaf], word)
            if at < counts[leaf]:
                if words[leaf, at] == word:
                    for i in range(at, counts[leaf] - 1):
                        words[leaf, i], values[leaf, i] = words[leaf, i + 1], values[leaf, i + 1]
                    counts[leaf] -= 1
                    header[ENTRIES] -= 1
                    gone += 1
                break
            leaf = nexts[leaf]
    return gone
