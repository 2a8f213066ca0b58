"""Running folds: the fold of each run of partials up to each of its elements."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, Kernel, identity, reset, take
from windrow.kernels.count import Count
from windrow.kernels.float_sum import FloatSum
from windrow.kernels.integer_sum import IntegerSum

IN_TURN = (Count, IntegerSum, FloatSum)
"""Kernels that combine one element after the other, in compiled loops, whichever of two comes first."""

STRETCH = 16
"""Elements that are folded one after the other: with more of them come more calls, with fewer more levels."""


def running(kernel: Kernel, partials: Fields, begins: np.ndarray) -> Fields:
    """For each element the fold of its run up to it; `begins` marks where runs begin, the first element among them.

    The elements are cut into short stretches that are folded side by side, then the folds of whole stretches are
    folded in the same way, and each is put before the elements that go on with it: little more than two folds an
    element, and calls of the kernel that grow with the logarithm of their number, however long the runs are.

    >>> from windrow.kernels.count import Count
    >>> begins = np.array([True, False, False, True])
    >>> running(Count(), {"n": np.array([1, 2, 3, 4])}, begins)["n"].tolist()
    [1, 3, 6, 4]
    """
    n = len(begins)
    if n and isinstance(kernel, IN_TURN):
        return _in_turn(kernel, partials, begins)
    count = -(-n // STRETCH)
    folded, totals = identity(kernel, n), identity(kernel, count)
    starts = np.arange(count) * STRETCH
    for step in range(min(STRETCH, n)):
        places = starts + step
        if places[-1] >= n:
            places = places[:-1]
        anew = np.flatnonzero(begins[places])
        if len(anew):
            reset(kernel, totals, anew)
        kernel.combine(totals, np.arange(len(places)), take(partials, places))
        for name, column in totals.items():
            folded[name][places] = column[: len(places)]
    if count < 2:
        return folded
    owner = np.arange(n) // STRETCH
    broken = np.add.reduceat(begins, starts) > 0  # a stretch in which some run begins does not hand on the one before
    carried = running(kernel, totals, broken | (np.arange(count) == 0))
    begun = np.cumsum(begins)
    before = np.concatenate([[0], begun])[starts]
    open_rows = np.flatnonzero((begun == before[owner]) & (owner > 0))
    if len(open_rows):
        older = take(carried, owner[open_rows] - 1)
        kernel.combine(older, np.arange(len(open_rows)), take(folded, open_rows))
        for name, column in older.items():
            folded[name][open_rows] = column
    return folded


def _in_turn(kernel: Kernel, partials: Fields, begins: np.ndarray) -> Fields:
    """The same by kernels that take one element after the other: each is combined into the next, once it is done.

    The first of a run is not: what is before it goes to a place behind all.
    """
    n = len(begins)
    folded = {name: np.append(column, column[:1]) for name, column in partials.items()}
    slots = np.where(begins[1:], n, np.arange(1, n))
    kernel.combine(folded, slots, {name: column[: n - 1] for name, column in folded.items()})
    return {name: column[:n] for name, column in folded.items()}
