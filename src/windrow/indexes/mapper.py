"""Mappers: a function that is applied to every entry of a range while it is walked (Paper I, Listings 1 and 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import njit
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from windrow.indexes.structure import Spans

Mapping = Callable[[Any, Any, np.ndarray], None]
"""What is done with a word and its value: it changes the state, an array, and returns nothing."""


def map_range(spans: Iterable[Spans], mapping: Mapping, state: np.ndarray) -> np.ndarray:
    """Apply a function to each entry of some spans; returns the state that it has changed.

    A function that numba can compile is compiled, any other is called as it is.

    >>> def most(word, value, state):
    ...     state[0] = max(state[0], value)
    >>> entries = Spans(np.array([3, 5, 8]), np.array([7, 9, 1]), np.array([[0, 2]]))
    >>> map_range([entries], most, np.zeros(1, np.int64)).tolist()
    [9]
    """
    compiled = mapping if isinstance(mapping, Dispatcher) else njit(mapping)
    for words, values, bounds in spans:
        try:
            _walk(words, values, bounds, compiled, state)
        except NumbaError:
            _walk.py_func(words, values, bounds, mapping, state)  # type: ignore[no-untyped-call]
    return state


@njit(nogil=True)
def _walk(words, values, bounds, mapping, state):  # type: ignore[no-untyped-def]
    for i in range(len(bounds)):
        for at in range(bounds[i, 0], bounds[i, 1]):
            mapping(words[at], values[at], state)


def fold_range(spans: Iterable[Spans]) -> tuple[int, int, int, int]:
    """COUNT, SUM, MIN and MAX of the values in a range, by a mapper that ships compiled; without entries 0, 0, -1, -1.

    >>> fold_range([Spans(np.array([3, 5, 8]), np.array([7, 9, 1], np.uint32), np.array([[0, 3]]))])
    (3, 17, 1, 9)
    """
    state = np.array([0, 0, np.iinfo(np.int64).max, -1], np.int64)
    for _, values, bounds in spans:
        _fold(values, bounds, state)
    return int(state[0]), int(state[1]), int(state[2]) if state[0] else -1, int(state[3])


@njit(cache=True, nogil=True)
def _fold(values: np.ndarray, bounds: np.ndarray, state: np.ndarray) -> None:
    for i in range(len(bounds)):
        total, least, most = np.int64(0), state[2], state[3]
        for at in range(bounds[i, 0], bounds[i, 1]):
            value = np.int64(values[at])
            total += value
            least, most = min(least, value), max(most, value)
        state[0] += bounds[i, 1] - bounds[i, 0]
        state[1] += total
        state[2], state[3] = least, most
