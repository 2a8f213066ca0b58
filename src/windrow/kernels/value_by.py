"""MIN_BY and MAX_BY: a value of the event in which another one is smallest or largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import bits
from windrow.kernels.columns import columns, counted, frozen, live, plain, plain_type, valid
from windrow.kernels.extreme_object import ranked
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows, flag, integer
from windrow.kernels.picked_value import lower_values, put_values, take_over, value_fields

NONE = -1


@dataclass(frozen=True, slots=True)
class ValueBy(Irreversible):
    """Of pairs (x, y), the x, NULL or not, where y is smallest or `largest`; a NULL y is no candidate.

    Of events with the same y the latest counts, as in Spark, which takes the one it sees last; so the time is kept.
    NaN is above all numbers. Where y fits 64 bits, events are compared by a key that sorts as y does.

    >>> from windrow.kernels.partials import identity
    >>> kernel = ValueBy(pa.string(), pa.float64(), largest=True)
    >>> pairs = pa.StructArray.from_arrays([pa.array(["a", "b", "c"]), pa.array([2.5, 2.5, None])], names=["x", "y"])
    >>> partials = identity(kernel, 1)
    >>> kernel.lift(partials, np.zeros(3, int), Rows(pairs, np.array([7, 5, 9])))
    >>> kernel.lower(partials, "MAX_BY", pa.string()).values.to_pylist()
    ['a']
    """

    type: pa.DataType
    by: pa.DataType
    largest: bool

    @classmethod
    def of(cls, pair: pa.DataType, *, largest: bool) -> ValueBy:
        """The kernel for structs of x and y."""
        return cls(plain_type(pair.field(0).type), plain_type(pair.field(1).type), largest)

    @property
    def fields(self) -> tuple[Field, ...]:
        by = integer("key") if bits.fits(self.by) else Field("by", OBJECT, self.by, None)
        return (integer("time"), flag("has"), by, *value_fields(self.type))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        x, y = (plain(part) for part in plain(rows.values).flatten())
        known = valid(y)
        codes = live(codes if known is None else np.where(known, codes, -1), rows, nulls=True)
        won = np.full(len(into["time"]), NONE, np.int64)
        if "key" in into:
            _pick(into["key"], into["time"], into["has"], won, codes, bits.keys(y), frozen(rows.times), self.largest)
        else:
            self._pick_objects(into, won, codes, y, rows.times)
        slots = np.flatnonzero(won != NONE)
        if len(slots):
            put_values(into, slots, x.take(pa.array(won[slots])), self.type)

    def ranks(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        assert rows.values is not None
        _, y = (plain(part) for part in plain(rows.values).flatten())
        places = counted(Rows(y, rows.times, rows.mask))
        y = y.take(pa.array(places))
        ranks = bits.keys(y) if bits.fits(self.by) else ranked(y)[1]
        return places, ranks if self.largest else ~ranks

    def _pick_objects(self, into: Fields, won: np.ndarray, codes: np.ndarray, y: pa.Array, times: np.ndarray) -> None:
        """The best of the rows by rank, then one comparison of objects for each slot."""
        distinct, ranks = ranked(y)
        n = len(won)
        best, at, some = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
        _pick(best, at, some, won, codes, ranks, frozen(times), self.largest)
        slots = np.flatnonzero(some)
        values = distinct.take(pa.array(best[slots])).to_pylist()
        for slot, value, time in zip(slots.tolist(), values, at[slots].tolist()):
            if not self._offer(into, slot, value, time):
                won[slot] = NONE

    def _offer(self, into: Fields, slot: int, value: object, time: int) -> bool:
        """Whether `value`, at `time`, takes the slot over."""
        old = into["by"][slot]
        if into["has"][slot] and old != value:
            if (value < old) if self.largest else (value > old):
                return False
        elif into["has"][slot] and time < into["time"][slot]:
            return False
        into["by"][slot], into["time"][slot], into["has"][slot] = value, time, True
        return True

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        took = np.zeros(len(slots), np.bool_)
        if "key" in into:
            mine = (into["key"], into["time"], into["has"])
            _take(mine, took, frozen(slots), columns(newer, "key", "time", "has"), self.largest)
        else:
            offered = zip(slots.tolist(), newer["by"].tolist(), newer["time"].tolist(), newer["has"].tolist())
            for place, (slot, value, time, has) in enumerate(offered):
                took[place] = has and self._offer(into, slot, value, time)
        take_over(into, slots, newer, took)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return lower_values(partials, self.type, type)


@njit(cache=True, nogil=True, inline="always")
def _beats(key: int, time: int, old_key: int, old_time: int, largest: bool) -> bool:
    if key == old_key:
        return time >= old_time
    return key > old_key if largest else key < old_key


@njit(cache=True, nogil=True)
def _pick(
    best: np.ndarray,
    time: np.ndarray,
    has: np.ndarray,
    won: np.ndarray,
    codes: np.ndarray,
    keys: np.ndarray,
    times: np.ndarray,
    largest: bool,
) -> None:
    """Which row, if any, each slot takes over."""
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0 and (not has[slot] or _beats(keys[i], times[i], best[slot], time[slot], largest)):
            best[slot], time[slot], has[slot], won[slot] = keys[i], times[i], True, i


@njit(cache=True, nogil=True)
def _take(
    into: tuple[np.ndarray, ...], took: np.ndarray, slots: np.ndarray, newer: tuple[np.ndarray, ...], largest: bool
) -> None:
    """Which partials take their slot over."""
    best, time, has = into
    keys, times, known = newer
    for i in range(slots.size):
        slot = slots[i]
        if known[i] and (not has[slot] or _beats(keys[i], times[i], best[slot], time[slot], largest)):
            best[slot], time[slot], has[slot], took[i] = keys[i], times[i], True, True
