"""HISTOGRAM_NUMERIC: about how the values lie, in a given number of bins of any width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import frozen, live, plain, reals
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows

Bins = tuple[np.ndarray, np.ndarray]
"""Where bins are, in order, and how many values each has."""


class BinCodec:
    """A list of bins for each slot; NULL where there are none."""

    TYPE = pa.list_(pa.struct([("x", pa.float64()), ("y", pa.float64())]))

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        return _listed(objects, self.TYPE, pa.float64())

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        xs, ys = (frozen(child.to_numpy()) for child in column.values.flatten())
        offsets = column.offsets.to_numpy()
        for slot in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
            own = slice(int(offsets[slot]), int(offsets[slot + 1]))
            objects[slot] = (xs[own], ys[own])
        return objects


@dataclass(frozen=True, slots=True)
class Histogram(Irreversible):
    """At most `most` bins; of more, the two nearest become one at their weighted mean (Ben-Haim and Tom-Tov, A
    streaming parallel decision tree algorithm, JMLR 11, 2010, section 2.1), as Spark and Hive have it. Where several
    pairs are equally near, it is the first; Spark draws one.

    Up to `most` different values are counted exactly. NaN and infinities have no place among bins.

    >>> from windrow.kernels.partials import identity
    >>> histogram = Histogram(pa.int32(), 3)
    >>> partials = identity(histogram, 1)
    >>> values = pa.array([0, 10, 20, 90, 12, None], pa.int32())
    >>> histogram.lift(partials, np.zeros(6, int), Rows(values, np.arange(6)))
    >>> type = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.float64())]))
    >>> [tuple(one.values()) for one in histogram.lower(partials, "HISTOGRAM_NUMERIC", type).values[0].as_py()]
    [(7, 3.0), (20, 1.0), (90, 1.0)]
    """

    type: pa.DataType
    most: int
    fields = (Field("bins", OBJECT, BinCodec.TYPE, None, codec=BinCodec()),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        values = reals(plain(rows.values))
        codes = np.where(np.isfinite(values), live(codes, rows), -1)
        order = np.argsort(codes, kind="stable")
        order = order[np.searchsorted(codes[order], 0) :]
        slots, begins = np.unique(codes[order], return_index=True)
        stops = [*begins[1:].tolist(), len(order)]
        values = frozen(values[order])
        for slot, first, stop in zip(slots.tolist(), begins.tolist(), stops):
            xs, ys = into["bins"][slot] or _NOTHING
            into["bins"][slot] = _added(frozen(xs), frozen(ys), values[first:stop], self.most)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        held = into["bins"]
        for slot, bins in zip(slots.tolist(), newer["bins"]):
            if bins is not None:
                held[slot] = bins if held[slot] is None else self._merged(held[slot], bins)

    def _merged(self, older: Bins, newer: Bins) -> Bins:
        (xs, ys), (more_xs, more_ys) = older, newer
        merged: Bins = _merged(frozen(xs), frozen(ys), frozen(more_xs), frozen(more_ys), self.most)
        return merged

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(_listed(partials["bins"], type, type.value_type[0].type))


_NOTHING: Bins = (np.empty(0), np.empty(0))


def _listed(objects: np.ndarray, type: pa.DataType, x_type: pa.DataType) -> pa.Array:
    held = [bins for bins in objects if bins is not None]
    xs, ys = (np.concatenate([np.empty(0), *(bins[side] for bins in held)]) for side in (0, 1))
    if pa.types.is_integer(x_type):
        xs = np.trunc(xs)
    columns = [pa.array(xs).cast(x_type, safe=False), pa.array(ys)]
    rows = pa.StructArray.from_arrays(columns, fields=list(type.value_type))
    offsets = np.cumsum([0, *(0 if bins is None else len(bins[0]) for bins in objects)]).astype(np.int32)
    mask = pa.array([bins is None for bins in objects], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), rows, type=type, mask=mask)


@njit(cache=True, nogil=True)
def _nearest_joined(xs: np.ndarray, ys: np.ndarray, n: int) -> None:
    """Make one bin of the two nearest, in place; the last of the n is free then."""
    place, least = 0, xs[1] - xs[0]
    for i in range(1, n - 1):
        apart = xs[i + 1] - xs[i]
        if apart < least:
            place, least = i, apart
    both = ys[place] + ys[place + 1]
    xs[place] = xs[place] * (ys[place] / both) + xs[place + 1] / both * ys[place + 1]
    ys[place] = both
    for i in range(place + 1, n - 1):
        xs[i], ys[i] = xs[i + 1], ys[i + 1]


@njit(cache=True, nogil=True)
def _added(xs: np.ndarray, ys: np.ndarray, values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """New bins with `values`, one after the other."""
    n = xs.size
    room = min(most, n + values.size) + 1
    new_xs, new_ys = np.empty(room), np.empty(room)
    new_xs[:n], new_ys[:n] = xs, ys
    for value in values:
        place = np.searchsorted(new_xs[:n], value)
        if place < n and new_xs[place] == value:
            new_ys[place] += 1.0
            continue
        for i in range(n, place, -1):
            new_xs[i], new_ys[i] = new_xs[i - 1], new_ys[i - 1]
        new_xs[place], new_ys[place] = value, 1.0
        n += 1
        if n > most:
            _nearest_joined(new_xs, new_ys, n)
            n -= 1
    return new_xs[:n].copy(), new_ys[:n].copy()


@njit(cache=True, nogil=True)
def _merged(
    xs: np.ndarray, ys: np.ndarray, more_xs: np.ndarray, more_ys: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both, in order, and then as many joined as are too many."""
    new_xs, new_ys = np.empty(xs.size + more_xs.size), np.empty(xs.size + more_xs.size)
    n = i = j = 0
    while i < xs.size or j < more_xs.size:
        if j == more_xs.size or (i < xs.size and xs[i] <= more_xs[j]):
            x, y = xs[i], ys[i]
            i += 1
        else:
            x, y = more_xs[j], more_ys[j]
            j += 1
        if n and new_xs[n - 1] == x:
            new_ys[n - 1] += y
        else:
            new_xs[n], new_ys[n] = x, y
            n += 1
    while n > most:
        _nearest_joined(new_xs, new_ys, n)
        n -= 1
    return new_xs[:n].copy(), new_ys[:n].copy()
