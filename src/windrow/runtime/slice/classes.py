"""Rows by which predicates they pass: as many classes as the data shows, never two to the number of predicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def classes_of(passed: Sequence[np.ndarray], most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The class of each row, and for each class which predicates its rows pass; None if there are more than `most`.

    >>> cheap, small = np.array([True, True, False, True]), np.array([False, True, False, False])
    >>> numbers, passes = classes_of([cheap, small], most=10)
    >>> passes[numbers].tolist()
    [[True, False], [True, True], [False, False], [True, False]]
    """
    rows = len(passed[0])
    numbers, passes = np.zeros(rows, np.int64), np.zeros((1, 0), bool)
    for begin in range(0, len(passed), 8):  # eight predicates make a byte
        octet = passed[begin : begin + 8]
        bits = np.zeros(rows, np.int64)
        for place, one in enumerate(octet):
            bits |= one.astype(np.int64) << place
        numbers, known = _compacted(numbers << len(octet) | bits, len(passes) << len(octet))
        if len(known) > most:
            return None
        told = (known[:, None] >> np.arange(len(octet)) & 1).astype(bool)
        passes = np.concatenate([passes[known >> len(octet)], told], axis=1)
    return numbers, passes


def _compacted(numbers: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
    """The same numbers counted through without holes, and which number each was."""
    seen = np.zeros(room, bool)
    seen[numbers] = True
    known = np.flatnonzero(seen)
    place = np.zeros(room, np.int64)
    place[known] = np.arange(len(known))
    return place[numbers], known
