"""FIRST and LAST by event time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, plain
from windrow.kernels.kernel import Field, Fields, Irreversible, Lowered, Rows, flag, integer
from windrow.kernels.picked_value import lower_values, put_values, take_over, value_fields

NONE = -1


@dataclass(frozen=True, slots=True)
class EdgeValue(Irreversible):
    """The value of the earliest event, or of the `latest`; of events at one time, of the first or the last folded.

    A NULL is a value like any other unless `ignore_nulls`. What fits 64 bits is held as bits, texts, bytes and
    decimals as Python's own, the rest as Arrow scalars.

    >>> from windrow.kernels.partials import identity
    >>> last = EdgeValue(pa.string(), latest=True)
    >>> partials = identity(last, 1)
    >>> last.lift(partials, np.zeros(3, int), Rows(pa.array(["a", "b", "c"]), np.array([10, 20, 5])))
    >>> last.lower(partials, "LAST", pa.string()).values.to_pylist()
    ['b']
    """

    type: pa.DataType
    latest: bool
    ignore_nulls: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        return (integer("time"), flag("has"), *value_fields(self.type))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        won = np.full(len(into["time"]), NONE, np.int64)
        codes = live(codes, rows, nulls=not self.ignore_nulls)
        _pick(into["time"], into["has"], won, codes, frozen(rows.times), self.latest)
        slots = np.flatnonzero(won != NONE)
        if len(slots):
            put_values(into, slots, plain(rows.values).take(pa.array(won[slots])), self.type)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        took = np.zeros(len(slots), np.bool_)
        _take(into["time"], into["has"], took, frozen(slots), columns(newer, "time", "has"), self.latest)
        take_over(into, slots, newer, took)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return lower_values(partials, self.type, type)


@njit(cache=True, nogil=True)
def _pick(
    time: np.ndarray, has: np.ndarray, won: np.ndarray, codes: np.ndarray, times: np.ndarray, latest: bool
) -> None:
    """Which row, if any, each slot takes over."""
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0 and (not has[slot] or (times[i] >= time[slot] if latest else times[i] < time[slot])):
            time[slot] = times[i]
            has[slot] = True
            won[slot] = i


@njit(cache=True, nogil=True)
def _take(
    time: np.ndarray, has: np.ndarray, took: np.ndarray, slots: np.ndarray, newer: tuple[np.ndarray, ...], latest: bool
) -> None:
    """Which partials take their slot over; no memory for slots that are not named, of which there may be many."""
    times, known = newer
    for i in range(slots.size):
        slot = slots[i]
        if known[i] and (not has[slot] or (times[i] >= time[slot] if latest else times[i] < time[slot])):
            time[slot] = times[i]
            has[slot] = True
            took[i] = True
