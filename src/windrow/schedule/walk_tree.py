"""The walk over the strong edges of a sliding graph: who is due, and how many slides are tested for it."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.schedule.checks import longer
from windrow.schedule.clocked import ENOUGH
from windrow.schedule.tree import BEGIN, CHILDREN, GROUP, KID, NONE, OFFSET, SLIDE


@njit(cache=True, nogil=True)
def walk(
    root: int, after: int, until: int, nodes: np.ndarray, pool: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    """The groups that are due at the root's instants after `after`, up to `until` or until enough are found."""
    slide, offset = nodes[root, SLIDE], nodes[root, OFFSET]
    instants, groups = np.empty(1024, np.int64), np.empty(1024, np.int64)
    stack = np.empty(nodes.shape[0], np.int64)
    found = queries = comparisons = pushes = 0
    instant = after + 1 + (offset - after - 1) % slide
    while instant <= until:
        while groups.size < found + nodes.shape[0]:
            instants, groups = longer(instants), longer(groups)
        begin = found
        found, tested, pushed = _walk_at(instant, root, nodes, pool, stack, groups, found)
        comparisons += tested
        pushes += pushed
        for i in range(begin, found):
            instants[i] = instant
            queries += sizes[groups[i]]
        if queries >= ENOUGH:
            return instants[:found], groups[:found], instant, comparisons, pushes
        instant += slide
    return instants[:found], groups[:found], until, comparisons, pushes


@njit(cache=True, nogil=True, error_model="numpy")
def _walk_at(
    instant: int, root: int, nodes: np.ndarray, pool: np.ndarray, stack: np.ndarray, groups: np.ndarray, found: int
) -> tuple[int, int, int]:
    """Algorithm 1 of Salehi et al. 2010, from line 3 on: append the groups that are due at an instant of the root's."""
    comparisons = pushes = height = 1
    stack[0] = root
    while height > 0:
        height -= 1
        node = stack[height]
        if nodes[node, GROUP] != NONE:
            groups[found] = nodes[node, GROUP]
            found += 1
        begin, children = nodes[node, BEGIN], nodes[node, CHILDREN]
        comparisons += children
        slides, offsets = pool[SLIDE, begin : begin + children], pool[OFFSET, begin : begin + children]
        for i in range(slides.size):
            if (instant - offsets[i]) % slides[i] == 0:
                stack[height] = pool[KID, begin + i]
                height += 1
                pushes += 1
    return found, comparisons, pushes
