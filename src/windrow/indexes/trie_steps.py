"""The compiled steps on a trie: nodes of four sizes and leaves in one arena, all in flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

ENTRIES, ROOT, FREE, NODES, LEAVES, ARENA, LARGEST = 0, 1, 2, 6, 10, 11, 12
"""Places in the header: how many entries there are, the root, for each size of nodes the first free one plus one, and
how many have been made; how many leaves, how much of the arena, and the largest leaf."""

NODE4, NODE16, NODE48, NODE256, LEAF = 1, 2, 3, 4, 5


class Trie(NamedTuple):
    """A trie in flat arrays. A link is 0 where nothing is, else 8 times a row plus the kind of what is there.

    The entries of a leaf stand together in `words` and `values` from its offset on, in room for the next power of two
    of their count; `spare` has by that power the first stretch that is free.
    """

    header: np.ndarray
    spare: np.ndarray
    bytes4: np.ndarray
    bytes16: np.ndarray
    bytes48: np.ndarray
    links4: np.ndarray
    links16: np.ndarray
    links48: np.ndarray
    links256: np.ndarray
    sizes: np.ndarray
    offsets: np.ndarray
    counts: np.ndarray
    words: np.ndarray
    values: np.ndarray


@njit(cache=True, nogil=True, inline="always")
def _byte(word, depth, width):  # type: ignore[no-untyped-def]
    return np.int64((np.uint64(word) >> np.uint64(8 * (width - 1 - depth))) & np.uint64(255))


@njit(cache=True, nogil=True, inline="always")
def _power(count):  # type: ignore[no-untyped-def]
    """The least power of two, as an exponent, that holds `count`."""
    power = 0
    while (1 << power) < count:
        power += 1
    return power


@njit(cache=True, nogil=True)
def _child(trie, link, byte):  # type: ignore[no-untyped-def]
    kind, row = link & 7, link >> 3
    if kind == NODE256:
        return trie.links256[row, byte]
    if kind == NODE48:
        place = trie.bytes48[row, byte]
        return trie.links48[row, place - 1] if place else 0
    if kind == NODE16:
        for i in range(trie.sizes[row, 1]):
            if trie.bytes16[row, i] == byte:
                return trie.links16[row, i]
        return 0
    for i in range(trie.sizes[row, 0]):
        if trie.bytes4[row, i] == byte:
            return trie.links4[row, i]
    return 0


@njit(cache=True, nogil=True)
def _relink(trie, link, byte, child):  # type: ignore[no-untyped-def]
    """Let the link that a node has for a byte lead elsewhere."""
    kind, row = link & 7, link >> 3
    if kind == NODE256:
        trie.links256[row, byte] = child
    elif kind == NODE48:
        trie.links48[row, trie.bytes48[row, byte] - 1] = child
    elif kind == NODE16:
        for i in range(trie.sizes[row, 1]):
            if trie.bytes16[row, i] == byte:
                trie.links16[row, i] = child
    else:
        for i in range(trie.sizes[row, 0]):
            if trie.bytes4[row, i] == byte:
                trie.links4[row, i] = child


@njit(cache=True, nogil=True)
def _new_node(trie, kind):  # type: ignore[no-untyped-def]
    header = trie.header
    free = header[FREE + kind - 1]
    if free:
        row = free - 1
        if kind == NODE4:
            header[FREE] = trie.links4[row, 0]
        elif kind == NODE16:
            header[FREE + 1] = trie.links16[row, 0]
        else:
            header[FREE + 2] = trie.links48[row, 0]
            trie.bytes48[row, :] = 0
    else:
        row = header[NODES + kind - 1]
        header[NODES + kind - 1] += 1
    if kind < NODE256:
        trie.sizes[row, kind - 1] = 0
    return row * 8 + kind


@njit(cache=True, nogil=True)
def _free_node(trie, link):  # type: ignore[no-untyped-def]
    kind, row, header = link & 7, link >> 3, trie.header
    if kind == NODE4:
        trie.links4[row, 0] = header[FREE]
    elif kind == NODE16:
        trie.links16[row, 0] = header[FREE + 1]
    else:
        trie.links48[row, 0] = header[FREE + 2]
    header[FREE + kind - 1] = row + 1


@njit(cache=True, nogil=True)
def _sorted_in(bytes_, links, size, byte, child):  # type: ignore[no-untyped-def]
    at = size
    while at > 0 and bytes_[at - 1] > byte:
        bytes_[at], links[at] = bytes_[at - 1], links[at - 1]
        at -= 1
    bytes_[at], links[at] = byte, child


@njit(cache=True, nogil=True)
def _add(trie, link, byte, child):  # type: ignore[no-untyped-def]
    """Give a node a child more; returns the node, which is another one where it was full."""
    kind, row = link & 7, link >> 3
    if kind == NODE256:
        trie.links256[row, byte] = child
        return link
    size = trie.sizes[row, kind - 1]
    if kind == NODE4:
        if size < 4:
            _sorted_in(trie.bytes4[row], trie.links4[row], size, byte, child)
            trie.sizes[row, 0] = size + 1
            return link
        larger = _new_node(trie, NODE16)
        trie.bytes16[larger >> 3, :4], trie.links16[larger >> 3, :4] = trie.bytes4[row], trie.links4[row]
        trie.sizes[larger >> 3, 1] = 4
    elif kind == NODE16:
        if size < 16:
            _sorted_in(trie.bytes16[row], trie.links16[row], size, byte, child)
            trie.sizes[row, 1] = size + 1
            return link
        larger = _new_node(trie, NODE48)
        for i in range(16):
            trie.bytes48[larger >> 3, trie.bytes16[row, i]] = i + 1
            trie.links48[larger >> 3, i] = trie.links16[row, i]
        trie.sizes[larger >> 3, 2] = 16
    else:
        if size < 48:
            trie.bytes48[row, byte], trie.links48[row, size] = size + 1, child
            trie.sizes[row, 2] = size + 1
            return link
        larger = _new_node(trie, NODE256)
        for b in range(256):
            if trie.bytes48[row, b]:
                trie.links256[larger >> 3, b] = trie.links48[row, trie.bytes48[row, b] - 1]
    _free_node(trie, link)
    return _add(trie, larger, byte, child)


@njit(cache=True, nogil=True)
def _stretch(trie, power):  # type: ignore[no-untyped-def]
    """Room for 2 ** power entries: one that is free, or the next of the arena."""
    free = trie.spare[power]
    if free >= 0:
        trie.spare[power] = np.int64(trie.values[free]) - 1
        return free
    begin = trie.header[ARENA]
    trie.header[ARENA] += 1 << power
    return begin


@njit(cache=True, nogil=True)
def _enter(trie, leaf, word, value):  # type: ignore[no-untyped-def]
    """Put an entry into a leaf, behind those that are not above it; a full one moves to where there is more room."""
    count, begin = trie.counts[leaf], np.int64(trie.offsets[leaf])
    if count & (count - 1) == 0:  # a power of two: its room is used up
        power = _power(count)
        room = _stretch(trie, power + 1)
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
def _new_leaf(trie, words, values):  # type: ignore[no-untyped-def]
    leaf = trie.header[LEAVES]
    trie.header[LEAVES] += 1
    begin = _stretch(trie, _power(len(words)))
    trie.words[begin : begin + len(words)], trie.values[begin : begin + len(words)] = words, values
    trie.offsets[leaf], trie.counts[leaf] = begin, len(words)
    return leaf * 8 + LEAF


@njit(cache=True, nogil=True)
def _burst(trie, leaf, depth, width, adapts):  # type: ignore[no-untyped-def]
    """A node in place of a leaf: its entries go to leaves by the byte at `depth`, the first of them into the old."""
    begin, count = np.int64(trie.offsets[leaf]), trie.counts[leaf]
    words, values = trie.words[begin : begin + count].copy(), trie.values[begin : begin + count].copy()
    node = _new_node(trie, NODE4 if adapts else NODE256)
    start = 0
    first = True
    while start < count:
        byte, end = _byte(words[start], depth, width), start + 1
        while end < count and _byte(words[end], depth, width) == byte:
            end += 1
        if first:
            power = _power(count)
            trie.values[begin] = trie.spare[power] + 1
            trie.spare[power] = begin
            room = _stretch(trie, _power(end))
            trie.words[room : room + end], trie.values[room : room + end] = words[:end], values[:end]
            trie.offsets[leaf], trie.counts[leaf] = room, end
            node = _add(trie, node, byte, leaf * 8 + LEAF)
            first = False
        else:
            node = _add(trie, node, byte, _new_leaf(trie, words[start:end], values[start:end]))
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
            header[ROOT] = _new_leaf(trie, words[k : k + 1], values[k : k + 1])
            header[ENTRIES] += 1
            continue
        while True:
            if link & 7 == LEAF:
                leaf = link >> 3
                if trie.counts[leaf] < limit or depth == width:
                    _enter(trie, leaf, word, value)
                    break
                link = _burst(trie, leaf, depth, width, adapts)
                if above:
                    _relink(trie, above, above_byte, link)
                else:
                    header[ROOT] = link
            byte = _byte(word, depth, width)
            child = _child(trie, link, byte)
            if child == 0:
                node = _add(trie, link, byte, _new_leaf(trie, words[k : k + 1], values[k : k + 1]))
                if node != link:
                    if above:
                        _relink(trie, above, above_byte, node)
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
            link = _child(trie, link, _byte(word, depth, width))
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
        first = _byte(low, depth, width) if at_low else 0
        last = _byte(high, depth, width) if at_high else 255
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
