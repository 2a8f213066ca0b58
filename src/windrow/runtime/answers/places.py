"""Where an answer stands among those that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Places:
    """Where answers stand in their line: in order of `orders`, and those alike by `numbers`; `times` are shown.

    A line is what follows each other: the windows of a key, of a level, or of the stream.
    """

    orders: np.ndarray
    numbers: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, ends: np.ndarray, rows: np.ndarray | None, instants: np.ndarray | None, *, by_row: bool) -> Places:
        """What is due at an instant holds what was before it; what ends `by_row` holds the rows of its last instant."""
        times = ends if instants is None else instants
        orders = 2 * times + (by_row and instants is None)
        return cls(orders, np.zeros(len(times), np.int64) if rows is None else rows, times)

    def taken(self, rows: np.ndarray) -> Places:
        """The places of some answers, some of them perhaps several times."""
        return Places(self.orders[rows], self.numbers[rows], self.times[rows])
