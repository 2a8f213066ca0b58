"""A cache-sensitive B+-tree: the children of a node lie side by side, so that one link finds them all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from windrow.indexes.structure import Spans, grown

FAN = 14
"""Words a node: with its count and its link, one line of a cache of 32-bit words."""

GROUP = FAN + 1
ROOT, HEIGHT, GROUPS, LEAF_GROUPS, ENTRIES = range(5)


class CsbTree:
    """The full CSB+-tree (Rao and Ross: Making B+-Trees Cache Conscious in Main Memory, 2000).

    Nodes come in groups of as many as a parent can have, all made at once: a split shifts nodes within their group, and
    needs a new group only where the parent splits. What is not used yet of a group is the price.
    """

    ordered = True

    def __init__(self, words: np.dtype | type = np.uint32) -> None:
        self._dtype = np.dtype(words)
        self._parts = np.zeros((GROUP, FAN), self._dtype)
        self._sizes, self._links = np.zeros(GROUP, np.int32), np.zeros(GROUP, np.int32)
        self._words, self._values = np.zeros((GROUP, FAN), self._dtype), np.zeros((GROUP, FAN), np.uint32)
        self._counts = np.zeros(GROUP, np.int32)
        self._header = np.array([0, 0, 0, 1, 0], np.int64)

    def __len__(self) -> int:
        return int(self._header[ENTRIES])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays)

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        words, values = np.ascontiguousarray(words, self._dtype), np.ascontiguousarray(values, np.uint32)
        done = 0
        while True:
            done = _insert(words, values, done, self._header, *self._arrays)
            if done == len(words):
                return
            inner, leaves = (len(array) * 5 // 4 // GROUP * GROUP + 16 * GROUP for array in (self._sizes, self._counts))
            self._parts, self._sizes = grown(self._parts, inner), grown(self._sizes, inner)
            self._links = grown(self._links, inner)
            self._words, self._values = grown(self._words, leaves), grown(self._values, leaves)
            self._counts = grown(self._counts, leaves)

    def last(self, words: np.ndarray) -> np.ndarray:
        found: np.ndarray = _last(np.ascontiguousarray(words, self._dtype), self._header, *self._arrays)
        return found

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        bounds = _spans(self._dtype.type(low), self._dtype.type(high), self._header, *self._arrays)
        return [Spans(self._words.ravel(), self._values.ravel(), bounds)] if len(bounds) else []

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self._parts, self._sizes, self._links, self._words, self._values, self._counts


@njit(cache=True, nogil=True)
def _insert(asked, given, done, header, parts, sizes, links, words, values, counts):  # type: ignore[no-untyped-def]
    """Insert from entry `done` on, splitting full nodes on the way down; stops where the arrays could be full."""
    for k in range(done, len(asked)):
        height = header[HEIGHT]
        if (header[GROUPS] + height + 3) * GROUP > len(sizes) or (header[LEAF_GROUPS] + 2) * GROUP > len(counts):
            return k
        word, root = asked[k], header[ROOT]
        if (counts[root] if height == 0 else sizes[root]) == FAN:
            above = header[GROUPS] * GROUP  # a root has its group to itself
            header[GROUPS] += 1
            sizes[above], links[above] = 0, root // GROUP
            header[ROOT], header[HEIGHT] = above, height + 1
            _split(above, 0, height, header, parts, sizes, links, words, values, counts)
        node = header[ROOT]
        for level in range(header[HEIGHT], 0, -1):
            at = 0
            while at < sizes[node] and parts[node, at] <= word:
                at += 1
            child = links[node] * GROUP + at
            if (counts[child] if level == 1 else sizes[child]) == FAN:
                _split(node, at, level - 1, header, parts, sizes, links, words, values, counts)
                if parts[node, at] <= word:
                    at += 1
                child = links[node] * GROUP + at
            node = child
        at = counts[node]
        while at > 0 and words[node, at - 1] > word:
            words[node, at], values[node, at] = words[node, at - 1], values[node, at - 1]
            at -= 1
        words[node, at], values[node, at] = word, given[k]
        counts[node] += 1
        header[ENTRIES] += 1
    return len(asked)


@njit(cache=True, nogil=True)
def _split(node, at, level, header, parts, sizes, links, words, values, counts):  # type: ignore[no-untyped-def]
    """Split child `at`, `level` levels above leaves, of a node that has room: those behind it in its group move."""
    first, size, half = links[node] * GROUP, sizes[node], FAN // 2
    child = first + at
    if level == 0:
        for i in range(first + size, child, -1):
            words[i + 1], values[i + 1], counts[i + 1] = words[i], values[i], counts[i]
        words[child + 1, : FAN - half], values[child + 1, : FAN - half] = words[child, half:], values[child, half:]
        counts[child], counts[child + 1] = half, FAN - half
        parting = words[child + 1, 0]
    else:
        for i in range(first + size, child, -1):
            parts[i + 1], sizes[i + 1], links[i + 1] = parts[i], sizes[i], links[i]
        parting = parts[child, half]
        parts[child + 1, : FAN - half - 1] = parts[child, half + 1 :]
        sizes[child], sizes[child + 1] = half, FAN - half - 1
        old = links[child] * GROUP + half + 1
        moved = FAN - half
        if level == 1:
            fresh = header[LEAF_GROUPS]
            header[LEAF_GROUPS] += 1
            for i in range(moved):
                to = fresh * GROUP + i
                words[to], values[to], counts[to] = words[old + i], values[old + i], counts[old + i]
        else:
            fresh = header[GROUPS]
            header[GROUPS] += 1
            for i in range(moved):
                to = fresh * GROUP + i
                parts[to], sizes[to], links[to] = parts[old + i], sizes[old + i], links[old + i]
        links[child + 1] = fresh
    for i in range(size, at, -1):
        parts[node, i] = parts[node, i - 1]
    parts[node, at] = parting
    sizes[node] += 1


@njit(cache=True, nogil=True)
def _last(asked, header, parts, sizes, links, words, values, counts):  # type: ignore[no-untyped-def]
    found = np.full(len(asked), -1, np.int64)
    for k in range(len(asked)):
        word, node = asked[k], header[ROOT]
        for _ in range(header[HEIGHT]):
            at = 0
            while at < sizes[node] and parts[node, at] <= word:
                at += 1
            node = links[node] * GROUP + at
        at = counts[node]
        while at > 0 and words[node, at - 1] > word:
            at -= 1
        if at and words[node, at - 1] == word:
            found[k] = values[node, at - 1]
    return found


@njit(cache=True, nogil=True)
def _spans(low, high, header, parts, sizes, links, words, values, counts):  # type: ignore[no-untyped-def]
    """The leaves of a range: there are no links between them, so the walk goes down from the root."""
    bounds, number = np.empty((header[LEAF_GROUPS] * GROUP, 2), np.int64), 0
    stack = np.empty((GROUP * (header[HEIGHT] + 2), 2), np.int64)
    stack[0, 0], stack[0, 1] = header[ROOT], header[HEIGHT]
    top = 1
    while top:
        top -= 1
        node, level = stack[top, 0], stack[top, 1]
        if level == 0:
            begin, end = 0, counts[node]
            while begin < end and words[node, begin] < low:
                begin += 1
            while begin < end and words[node, end - 1] > high:
                end -= 1
            if begin < end:
                bounds[number, 0], bounds[number, 1] = node * FAN + begin, node * FAN + end
                number += 1
            continue
        for at in range(sizes[node], -1, -1):
            if (at == sizes[node] or parts[node, at] >= low) and (at == 0 or parts[node, at - 1] <= high):
                stack[top, 0], stack[top, 1] = links[node] * GROUP + at, level - 1
                top += 1
    return bounds[:number]
