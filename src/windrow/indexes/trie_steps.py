"""What a trie is asked, compiled: to insert, where a leaf that is full bursts into a node, and to find."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.indexes.trie_leaves import enter, new_leaf, new_stretch, power_of
from windrow.indexes.trie_nodes import (
    ARENA,
    ENTRIES,
    LARGEST,
    LEAF,
    LEAVES,
    NODE4,
    NODE16,
    NODE48,
    NODE256,
    NODES,
    ROOT,
    add_child,
    byte_of,
    child_of,
    new_node,
    relink,
)


@njit(cache=True, nogil=True)
def _burst(trie, leaf, depth, width, adapts):  # type: ignore[no-untyped-def]
    """A node in place of a leaf: its entries go to leaves by the byte at `depth`, the first of them into the old."""
    begin, count = np.int64(trie.offsets[leaf]), trie.counts[leaf]
    words, values = trie.words[begin : begin + count].copy(), trie.values[begin : begin + count].copy()
    node = new_node(trie, NODE4 if adapts else NODE256)
    start = 0
    first = True
    while start < count:
        byte, end = byte_of(words[start], depth, width), start + 1
        while end < count and byte_of(words[end], depth, width) == byte:
            end += 1
        if first:
            power = power_of(count)
            trie.values[begin] = trie.spare[power] + 1
            trie.spare[power] = begin
            room = new_stretch(trie, power_of(end))
            trie.words[room : room + end], trie.values[room : room + end] = words[:end], values[:end]
            trie.offsets[leaf], trie.counts[leaf] = room, end
            node = add_child(trie, node, byte, leaf * 8 + LEAF)
            first = False
        else:
            node = add_child(trie, node, byte, new_leaf(trie, words[start:end], values[start:end]))
        start = end
    return node


@njit(cache=True, nogil=True)
def _is_full(trie, limit):  # type: ignore[no-untyped-def]
    """Whether one entry more could need more room than there is: leaves burst once for each byte at most."""
    header = trie.header
    for kind in range(3):
        if header[NODES + kind] + 9 > len(trie.sizes):
            return True
    nodes = header[NODES] + 9 > len(trie.links4) or header[NODES + 1] + 9 > len(trie.links16)
    nodes = nodes or header[NODES + 2] + 9 > len(trie.links48) or header[NODES + 3] + 9 > len(trie.links256)
    leaves = header[LEAVES] + 2 * limit + 9 > len(trie.offsets)
    return nodes or leaves or header[ARENA] + 20 * limit + 2 * header[LARGEST] + 9 > len(trie.words)


@njit(cache=True, nogil=True)
def insert_all(trie, words, values, done, width, limit, adapts):  # type: ignore[no-untyped-def]
    """Insert from entry `done` on; returns how many are in, which are not all where an array is full."""
    header = trie.header
    for k in range(done, len(words)):
        if _is_full(trie, limit):
            return k
        word, value = words[k], values[k]
        link, above, depth = header[ROOT], 0, 0
        above_byte = 0
        if link == 0:
            header[ROOT] = new_leaf(trie, words[k : k + 1], values[k : k + 1])
            header[ENTRIES] += 1
            continue
        while True:
            if link & 7 == LEAF:
                leaf = link >> 3
                if trie.counts[leaf] < limit or depth == width:
                    enter(trie, leaf, word, value)
                    break
                link = _burst(trie, leaf, depth, width, adapts)
                if above:
                    relink(trie, above, above_byte, link)
                else:
                    header[ROOT] = link
            byte = byte_of(word, depth, width)
            child = child_of(trie, link, byte)
            if child == 0:
                node = add_child(trie, link, byte, new_leaf(trie, words[k : k + 1], values[k : k + 1]))
                if node != link:
                    if above:
                        relink(trie, above, above_byte, node)
                    else:
                        header[ROOT] = node
                break
            above, above_byte, link, depth = link, byte, child, depth + 1
        header[ENTRIES] += 1
    return len(words)


@njit(cache=True, nogil=True)
def last_of(trie, words, width):  # type: ignore[no-untyped-def]
    found = np.full(len(words), -1, np.int64)
    for k in range(len(words)):
        word, link, depth = words[k], trie.header[ROOT], 0
        while link and link & 7 != LEAF:
            link = child_of(trie, link, byte_of(word, depth, width))
            depth += 1
        if link == 0:
            continue
        begin, left = np.int64(trie.offsets[link >> 3]), np.int64(trie.counts[link >> 3])
        at = begin
        while left > 0:
            half = left >> 1
            if trie.words[at + half] <= word:
                at += half + 1
                left -= half + 1
            else:
                left = half
        if at > begin and trie.words[at - 1] == word:
            found[k] = trie.values[at - 1]
    return found


@njit(cache=True, nogil=True)
def spans_of(trie, low, high, width):  # type: ignore[no-untyped-def]
    """Where the entries of a range lie, by a walk over the nodes that cover it (the mapper of Listing 2).

    Whether a node lies at the lower or the upper edge of the range is known from its parent: between, nothing is
    compared.
    """
    bounds, number = np.empty((max(64, trie.header[LEAVES]), 2), np.int64), 0
    if trie.header[ROOT] == 0:
        return bounds[:0]
    stack = np.empty((257 * (width + 1), 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = trie.header[ROOT], 1, 1, 0
    top = 1
    while top:
        top -= 1
        link, at_low, at_high, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        row = link >> 3
        if link & 7 == LEAF:
            begin, end = np.int64(trie.offsets[row]), np.int64(trie.offsets[row]) + trie.counts[row]
            if at_low:
                while begin < end and trie.words[begin] < low:
                    begin += 1
            if at_high:
                while begin < end and trie.words[end - 1] > high:
                    end -= 1
            if begin < end:
                bounds[number, 0], bounds[number, 1] = begin, end
                number += 1
            continue
        first = byte_of(low, depth, width) if at_low else 0
        last = byte_of(high, depth, width) if at_high else 255
        kind = link & 7
        size = trie.sizes[row, kind - 1] if kind < NODE48 else 256
        for i in range(size - 1, -1, -1):  # the last is pushed first, and popped last
            if kind == NODE4:
                byte, child = np.int64(trie.bytes4[row, i]), trie.links4[row, i]
            elif kind == NODE16:
                byte, child = np.int64(trie.bytes16[row, i]), trie.links16[row, i]
            elif kind == NODE48:
                place = trie.bytes48[row, i]
                byte, child = np.int64(i), trie.links48[row, place - 1] if place else np.int32(0)
            else:
                byte, child = np.int64(i), trie.links256[row, i]
            if child and first <= byte <= last:
                stack[top, 0], stack[top, 3] = child, depth + 1
                stack[top, 1] = 1 if at_low and byte == first else 0
                stack[top, 2] = 1 if at_high and byte == last else 0
                top += 1
    return bounds[:number]
