"""MIN and MAX of numbers, dates and times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.bits import keys, unkeyed
from windrow.kernels.columns import columns, counted, frozen, live, plain
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, flag, integer


@dataclass(frozen=True, slots=True)
class Extreme(Irreversible):
    """The smallest value, or the `largest`, by an int64 that sorts as the values do.

    >>> from windrow.kernels.partials import identity
    >>> largest = Extreme(pa.float64(), largest=True)
    >>> partials = identity(largest, 2)
    >>> largest.lift(partials, np.array([0, 0, 1]), Rows(pa.array([2.5, -3.0, None]), np.arange(3)))
    >>> largest.lower(partials, "MAX", pa.float64()).values.to_pylist()
    [2.5, None]
    """

    type: pa.DataType
    largest: bool
    fields = (integer("key"), flag("has"))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        _lift(into["key"], into["has"], live(codes, rows), keys(plain(rows.values)), self.largest)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _combine(into["key"], into["has"], frozen(slots), columns(newer, "key", "has"), self.largest)

    def ranks(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        assert rows.values is not None
        places = counted(rows)
        ranks = keys(plain(rows.values.take(pa.array(places))))
        return places, ranks if self.largest else ~ranks

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(unkeyed(partials["key"], partials["has"], self.type).cast(type))


@njit(cache=True, nogil=True)
def _lift(best: np.ndarray, has: np.ndarray, codes: np.ndarray, keys: np.ndarray, largest: bool) -> None:
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0 and (not has[slot] or (keys[i] > best[slot] if largest else keys[i] < best[slot])):
            best[slot] = keys[i]
            has[slot] = True


@njit(cache=True, nogil=True)
def _combine(
    best: np.ndarray, has: np.ndarray, slots: np.ndarray, newer: tuple[np.ndarray, ...], largest: bool
) -> None:
    keys, known = newer
    for i in range(slots.size):
        slot = slots[i]
        if known[i] and (not has[slot] or (keys[i] > best[slot] if largest else keys[i] < best[slot])):
            best[slot] = keys[i]
            has[slot] = True
