"""Running folds: the fold of each run of partials up to each of its elements."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, Kernel, identity, reset, take

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
