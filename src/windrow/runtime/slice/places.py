"""Which pane and group each event goes to, as one dense number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Places:
    """A code for each event, -1 for those that do not count; `room` codes there are.

    Where panes times groups are few, the code is simply their product; where most of it would be empty, only the
    pairs that occur are numbered (`known`).

    >>> places = Places.of(np.array([2, 0, 0, 1]), np.array([0, 1, 1, 0]), panes=3, groups=2,
    ...                    counted=np.array([True, True, True, False]))
    >>> places.codes.tolist(), [array.tolist() for array in places.decode(np.array([1, 4]))]
    ([4, 1, 1, -1], [[0, 2], [1, 0]])
    """

    codes: np.ndarray
    room: int
    groups: int
    known: np.ndarray | None

    @classmethod
    def of(
        cls, numbers: np.ndarray, owners: np.ndarray, panes: int, groups: int, counted: np.ndarray | None = None
    ) -> Places:
        """The places of events in the panes `numbers`, of which there are `panes`, and of the groups `owners`."""
        if counted is not None:
            numbers, owners = numbers[counted], owners[counted]
        places = numbers * groups + owners if groups > 1 else numbers
        room, known = panes * groups, None
        if room > 4 * len(places) + 65_536:
            known, places = np.unique(places, return_inverse=True)
            room = len(known)
        if counted is None:
            return cls(places, room, groups, known)
        codes = np.full(len(counted), -1)
        codes[counted] = places
        return cls(codes, room, groups, known)

    def decode(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of the pane, and the group, that each code stands for."""
        places = codes if self.known is None else self.known[codes]
        return places // self.groups, places % self.groups


def histogram(numbers: np.ndarray, times: np.ndarray, panes: int) -> tuple[np.ndarray, np.ndarray]:
    """A time in each pane that holds an event, and how many it holds.

    >>> [array.tolist() for array in histogram(np.array([0, 2, 0]), np.array([1, 7, 2]), 3)]
    [[2, 7], [2, 1]]

    Events that come by time, as most do, are counted by where one pane ends and the next begins.
    """
    if len(numbers) and (numbers[1:] >= numbers[:-1]).all():
        stops = np.searchsorted(numbers, np.arange(panes), "right")
        counts = np.diff(stops, prepend=0)
        held = np.flatnonzero(counts)
        return times[stops[held] - 1], counts[held]
    counts = np.bincount(numbers, minlength=panes)
    some = np.zeros(panes, np.int64)
    some[numbers] = times
    held = np.flatnonzero(counts)
    return some[held], counts[held]
