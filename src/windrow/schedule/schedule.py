"""Who slides now: one small interface, several ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike


class Due(NamedTuple):
    """What is due, in columns: at instants[i], the queries from place starts[i] to starts[i + 1]."""

    instants: np.ndarray
    starts: np.ndarray
    queries: np.ndarray

    def part(self, first: int, stop: int) -> Due:
        """What is due at the instants from place `first` to `stop`."""
        begin, end = int(self.starts[first]), int(self.starts[stop])
        return Due(self.instants[first:stop], self.starts[first : stop + 1] - begin, self.queries[begin:end])

    @classmethod
    def joined(cls, parts: Sequence[Due]) -> Due:
        """One after the other.

        >>> due = Due(np.array([4, 6]), np.array([0, 2, 3]), np.array([7, 8, 9]))
        >>> Due.joined([due.part(0, 1), due.part(1, 2)])
        Due(instants=array([4, 6]), starts=array([0, 2, 3]), queries=array([7, 8, 9]))
        """
        if not parts:
            return NOTHING
        begins = np.cumsum([0, *(len(part.queries) for part in parts)])
        starts = [part.starts[:-1] + begin for part, begin in zip(parts, begins)]
        return Due(
            np.concatenate([part.instants for part in parts]),
            np.concatenate([*starts, begins[-1:]]),
            np.concatenate([part.queries for part in parts]),
        )


NOBODY = np.empty(0, np.int64)
NOTHING = Due(NOBODY, np.zeros(1, np.int64), NOBODY)


class Schedule(Protocol):
    """Knows which queries answer at which instant.

    An instant is a whole number: of rows since the stream's start, or of microseconds. A query with slide s and offset
    o is due at every instant t with (t - o) % s == 0 that comes after it was added. So a query is never asked when it
    came: one with slide 10 that is added after row 958 answers at row 960, and a schedule has no state of its own to
    save. It is made again from its queries and the clock.

        slide 4             |       4       8       12
        slide 6             |           6           12
        slide 4, offset 1   |   1       5       9       13
        clock 7             |                ^ adding one of them here changes nothing that is due later

    Queries that are due at one instant come in order of their slides, those with equal slides in order of their
    numbers, whatever happened before.
    """

    @property
    def clock(self) -> int:
        """The newest instant that has been asked for; the next one comes after it."""

    @property
    def comparisons(self) -> int:
        """How many tests of a slide, or comparisons of due times, have been made so far."""

    @property
    def pushes(self) -> int:
        """How often a node was pushed to the stack of the tree walk, or an instant to a calendar."""

    def __len__(self) -> int:
        """How many queries there are."""

    def add(self, query: int, slide: int, offset: int = 0) -> None:
        """From the next instant on, `query` is due at the multiples of `slide`, shifted by `offset`."""

    def add_many(self, slides: ArrayLike, queries: ArrayLike | None = None, offsets: ArrayLike = 0) -> None:
        """Add a query for each of `slides`; they are called 0, 1, 2, ... if `queries` does not say otherwise."""

    def remove(self, query: int) -> None:
        """`query` is not due any more."""

    def due(self, count: int) -> np.ndarray:
        """The queries that are due at exactly `count`, which is after the clock; instants between are passed over."""

    def advance(self, until: int) -> Iterator[tuple[int, np.ndarray]]:
        """Each instant after the clock and up to `until` at which something is due, in order, with what is due.

        The clock moves along: whoever stops early, adds or removes queries and goes on misses nothing.
        """

    def due_until(self, until: int) -> Due:
        """The same as `advance`, all at once and in columns: for batches, whose ends are near."""
