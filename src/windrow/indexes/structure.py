"""What an index of one pane is: words in order, each with a value; one small interface, several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np


class Spans(NamedTuple):
    """Entries of an index, in order: those at [bounds[i, 0], bounds[i, 1]) of two flat arrays, stretch by stretch.

    A walk over them touches what the index holds and copies nothing.
    """

    words: np.ndarray
    values: np.ndarray
    bounds: np.ndarray


class Structure(Protocol):
    """An index of words, uint32 or uint64 as it was made for, each with a uint32 value; a word may come often.

    Entries of equal words are in the order in which they came. An index is never asked to forget: its pane is dropped
    as a whole. A structure of a user's own has these methods and nothing else.
    """

    ordered: bool
    """Whether it can be asked for a range; one that cannot finds single words alone."""

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """What it takes in memory, free places included."""
        ...

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        """Take in entries, which are in no order."""
        ...

    def last(self, words: np.ndarray) -> np.ndarray:
        """For each of some words the value that came last, as int64; -1 for one that is not there."""
        ...

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        """Where the entries from `low` to `high` lie, both included: each of the results in order.

        One that is not `ordered` is asked for one word only.
        """
        ...


def grown(array: np.ndarray, length: int) -> np.ndarray:
    """The same array with room for `length` rows; what is new is zero."""
    larger = np.zeros((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
