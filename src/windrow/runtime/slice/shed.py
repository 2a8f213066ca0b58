"""Load shedding: which rows of a chunk are taken, by their hashes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def taken(hashes: pa.Array, halvings: int) -> np.ndarray:
    """Which rows are taken where the share is 1, so often halved: those with the smallest hashes.

    So the same row is taken whenever it comes at the same share, and whoever is taken at a share is taken at a larger
    one.

    >>> taken(pa.array([5, -1, 1 << 62, -(1 << 63)]), 1).tolist()
    [True, False, True, False]
    """
    unsigned = pc.fill_null(hashes, 0).to_numpy().view(np.uint64)
    found: np.ndarray = unsigned < np.uint64(1 << (64 - halvings)) if halvings else np.ones(len(unsigned), bool)
    return found
