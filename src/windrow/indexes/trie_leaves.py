"""The leaves of a trie, compiled: their entries stand in one arena, in stretches that are used again."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.indexes.trie_nodes import ARENA, LARGEST, LEAF, LEAVES


@njit(cache=True, nogil=True, inline="always")
def power_of(count):  # type: ignore[no-untyped-def]
    """The least power of two, as an exponent, that holds `count`."""
    power = 0
    while (1 << power) < count:
        power += 1
    return power


@njit(cache=True, nogil=True)
def new_stretch(trie, power):  # type: ignore[no-untyped-def]
    """Room for 2 ** power entries: one that is free, or the next of the arena."""
    free = trie.spare[power]
    if free >= 0:
        trie.spare[power] = np.int64(trie.values[free]) - 1
        return free
    begin = trie.header[ARENA]
    trie.header[ARENA] += 1 << power
    return begin


@njit(cache=True, nogil=True)
def enter(trie, leaf, word, value):  # type: ignore[no-untyped-def]
    """Put an entry into a leaf, behind those that are not above it; a full one moves to where there is more room."""
    count, begin = trie.counts[leaf], np.int64(trie.offsets[leaf])
    if count & (count - 1) == 0:  # a power of two: its room is used up
        power = power_of(count)
        room = new_stretch(trie, power + 1)
        trie.words[room : room + count] = trie.words[begin : begin + count]
        trie.values[room : room + count] = trie.values[begin : begin + count]
        trie.values[begin] = trie.spare[power] + 1
        trie.spare[power] = begin
        trie.offsets[leaf], begin = room, room
        trie.header[LARGEST] = max(trie.header[LARGEST], 2 * count)
    at = begin + count
    while at > begin and trie.words[at - 1] > word:
        trie.words[at], trie.values[at] = trie.words[at - 1], trie.values[at - 1]
        at -= 1
    trie.words[at], trie.values[at] = word, value
    trie.counts[leaf] = count + 1


@njit(cache=True, nogil=True)
def new_leaf(trie, words, values):  # type: ignore[no-untyped-def]
    leaf = trie.header[LEAVES]
    trie.header[LEAVES] += 1
    begin = new_stretch(trie, power_of(len(words)))
    trie.words[begin : begin + len(words)], trie.values[begin : begin + len(words)] = words, values
    trie.offsets[leaf], trie.counts[leaf] = begin, len(words)
    return leaf * 8 + LEAF
