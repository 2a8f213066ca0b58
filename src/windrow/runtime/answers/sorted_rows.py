"""The rows of windows in order, partition by partition, and the frames of each row as stretches of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.plan.nodes.over_calls import Frame


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows by partition and order: of each its partition, from `begins` to `ends`, and the rows that are alike."""

    sorting: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    first_alike: np.ndarray
    last_alike: np.ndarray

    @classmethod
    def of(cls, apart: list[np.ndarray], order: list[np.ndarray], others: list[np.ndarray], count: int) -> Sorted:
        """The rows in order; `others` decide where `order` does not.

        >>> found = Sorted.of([np.array([1, 1, 2, 1])], [np.array([7, 5, 9, 5])], [], 4)
        >>> found.sorting.tolist(), found.begins.tolist(), found.last_alike.tolist()
        ([1, 3, 0, 2], [0, 0, 0, 3], [2, 2, 3, 4])
        """
        keys = [*others[::-1], *order[::-1], *apart[::-1]]
        sorting = np.lexsort(keys) if keys else np.arange(count)
        opens = _differs([key[sorting] for key in apart], count)
        alike = opens | _differs([key[sorting] for key in order], count)
        return cls(sorting, *_stretches(opens), *_stretches(alike))

    @property
    def count(self) -> int:
        return len(self.sorting)

    def framed(self, frame: Frame, distances: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
        """Where the frame of each row begins and ends; an empty one ends where it begins."""
        place = np.arange(self.count)
        low, high = self.begins, self.ends
        if frame.in_rows:
            low = low if frame.start is None else np.clip(place + frame.start, self.begins, self.ends)
            high = high if frame.end is None else np.clip(place + frame.end + 1, self.begins, self.ends)
        elif distances is None:
            low = low if frame.start is None else self.first_alike
            high = high if frame.end is None else self.last_alike
        else:
            low, high = self._in_range(frame, *distances)
        return low, np.maximum(low, high)

    def _in_range(self, frame: Frame, values: np.ndarray, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Frames by the distance of values; rows without one have each other."""
        low, high = self.begins.copy(), self.ends.copy()
        for begin in np.unique(self.begins):
            rows = np.arange(begin, self.ends[begin])
            known = rows[~missing[rows]]
            if len(known):
                own = values[known]
                if frame.start is not None:
                    low[known] = known[0] + np.searchsorted(own, own + frame.start, "left")
                if frame.end is not None:
                    high[known] = known[0] + np.searchsorted(own, own + frame.end, "right")
        if frame.start is not None:
            low[missing] = self.first_alike[missing]
        if frame.end is not None:
            high[missing] = self.last_alike[missing]
        return low, high

    def folded(
        self, function: np.ufunc, values: np.ndarray, frame: Frame, low: np.ndarray, high: np.ndarray, nothing: int
    ) -> np.ndarray:
        """`function` over the values of each frame; those that begin with their partition are folded as they grow."""
        if frame.start is None:
            grown = values.copy()
            for begin in np.unique(self.begins):
                end = self.ends[begin]
                grown[begin:end] = function.accumulate(values[begin:end])
            found = grown[np.maximum(high - 1, 0)]
        else:
            edges = np.stack([low, np.maximum(high, low + 1)], axis=1).ravel()
            beyond = np.array([nothing, nothing], values.dtype)  # where empty frames behind the last row begin and end
            found = function.reduceat(np.concatenate([values, beyond]), edges)[::2]
        result: np.ndarray = np.where(high > low, found, np.array(nothing, values.dtype))
        return result


def _stretches(opens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row where its stretch begins and ends, if one begins at each of `opens`."""
    starts = np.flatnonzero(opens)
    lengths = np.diff(np.append(starts, len(opens)))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)


def _differs(keys: list[np.ndarray], count: int) -> np.ndarray:
    """Where a row is not like the one before it."""
    differs = np.zeros(count, bool)
    differs[:1] = True
    for key in keys:
        differs[1:] |= key[1:] != key[:-1]
    return differs
