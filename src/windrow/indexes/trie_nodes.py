"""The nodes of a trie, of four sizes that grow into each other, compiled: all of it in flat arrays."""

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
def byte_of(word, depth, width):  # type: ignore[no-untyped-def]
    return np.int64((np.uint64(word) >> np.uint64(8 * (width - 1 - depth))) & np.uint64(255))


@njit(cache=True, nogil=True)
def child_of(trie, link, byte):  # type: ignore[no-untyped-def]
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
def relink(trie, link, byte, child):  # type: ignore[no-untyped-def]
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
def new_node(trie, kind):  # type: ignore[no-untyped-def]
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
def free_node(trie, link):  # type: ignore[no-untyped-def]
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
def add_child(trie, link, byte, child):  # type: ignore[no-untyped-def]
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
        larger = new_node(trie, NODE16)
        trie.bytes16[larger >> 3, :4], trie.links16[larger >> 3, :4] = trie.bytes4[row], trie.links4[row]
        trie.sizes[larger >> 3, 1] = 4
    elif kind == NODE16:
        if size < 16:
            _sorted_in(trie.bytes16[row], trie.links16[row], size, byte, child)
            trie.sizes[row, 1] = size + 1
            return link
        larger = new_node(trie, NODE48)
        for i in range(16):
            trie.bytes48[larger >> 3, trie.bytes16[row, i]] = i + 1
            trie.links48[larger >> 3, i] = trie.links16[row, i]
        trie.sizes[larger >> 3, 2] = 16
    else:
        if size < 48:
            trie.bytes48[row, byte], trie.links48[row, size] = size + 1, child
            trie.sizes[row, 2] = size + 1
            return link
        larger = new_node(trie, NODE256)
        for b in range(256):
            if trie.bytes48[row, b]:
                trie.links256[larger >> 3, b] = trie.links48[row, trie.bytes48[row, b] - 1]
    free_node(trie, link)
    return add_child(trie, larger, byte, child)
