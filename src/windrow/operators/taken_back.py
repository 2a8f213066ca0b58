"""Rows of a batch that go again within it: what comes later meets them twice, for nothing."""

from __future__ import annotations

import numpy as np

from windrow.operators.changes import NEVER, Changes
from windrow.operators.net import same_rows


def taken_back(keys: np.ndarray, changes: Changes) -> np.ndarray | None:
    """From which instant on each change is undone by another of its key, of the same row; None where none is.

    A row and its `-` say the same of since when the row is there. So both may be left out where they meet what is there
    only from when the row goes. A group sends its row anew with every event: without this an event that is joined with
    a group would meet all its earlier rows of the batch, and a second join all pairs of the first.

    >>> import pyarrow as pa
    >>> times, since, row = np.array([3, 5, 5]), np.array([3, 3, 5]), (pa.array(["old", "old", "new"]),)
    >>> changes = Changes(times, since, np.full(3, NEVER), np.array([1, -1, 1]), row)
    >>> (taken_back(np.zeros(3, int), changes) == [5, 5, NEVER]).all()
    np.True_
    """
    if not (changes.weights < 0).any():
        return None
    order = np.lexsort((changes.times, changes.since, keys))
    comes, goes = order[:-1], order[1:]
    opposite = (keys[comes] == keys[goes]) & (changes.until[comes] == changes.until[goes])
    opposite &= changes.since[comes] == changes.since[goes]  # equal rows of two instants are two values of a group
    opposite &= (changes.weights[comes] > 0) & (changes.weights[comes] == -changes.weights[goes])
    comes, goes = comes[opposite], goes[opposite]
    same = same_rows(changes.columns, comes, goes)
    comes, goes = comes[same], goes[same]
    undone = np.full(len(changes), NEVER)
    undone[comes] = undone[goes] = changes.times[goes]
    return undone
