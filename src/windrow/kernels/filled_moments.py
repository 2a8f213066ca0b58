"""Regression over a value at every instant: several at one are averaged, missing ones filled with the last."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import frozen, live, plain, reals, valid, words
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows
from windrow.kernels.pair_moments import PairMoments, halves
from windrow.kernels.partials import identity

Series = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Instants in order, how many values each has, and their sums."""


UNTIL = "until"
"""Beside the fields of a partial, when its window ends: that is not known before it is answered."""


class SeriesCodec:
    """A list of instants with counts and sums for each slot; NULL where there are none."""

    TYPE = pa.list_(pa.struct([("instant", pa.int64()), ("count", pa.int64()), ("sum", pa.float64())]))

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        held = [series for series in objects if series is not None]
        empty = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        columns = [pa.array(np.concatenate(parts)) for parts in zip(empty, *held)]
        items = pa.StructArray.from_arrays(columns, fields=list(self.TYPE.value_type))
        lengths = [0 if series is None else len(series[0]) for series in objects]
        offsets = pa.array(np.cumsum([0, *lengths]).astype(np.int32))
        mask = pa.array([series is None for series in objects], pa.bool_())
        return pa.ListArray.from_arrays(offsets, items, type=self.TYPE, mask=mask)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        instants, counts, sums = (frozen(child.to_numpy()) for child in column.values.flatten())
        offsets = column.offsets.to_numpy()
        for slot in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
            own = slice(int(offsets[slot]), int(offsets[slot + 1]))
            objects[slot] = (instants[own], counts[own], sums[own])
        return objects


@dataclass(frozen=True, slots=True)
class FilledMoments(Irreversible):
    """The line through one value for each instant of `step_us`, from the first event to the end of the window
    (Patroumpas and Sellis 2010, section IV-B: concurrent items are aggregated into one, missing values filled in with
    the latest). Before its first event a window knows of no value, and its series begins there.

    A partial is what each of its instants holds: what is missing is only known when a window is whole, since the events
    of a pane come from several tasks, in any order. So an answer costs as much as a window has instants with events.

    >>> values, times = pa.array([1.0, 3.0, 8.0]), pa.array([0, 0, 2], pa.timestamp("us"))
    >>> rows = pa.StructArray.from_arrays([values, times], names=["y", "x"])
    >>> trend = FilledMoments(step_us=1)  # 2, 2 (filled), 8
    >>> partials = identity(trend, 1)
    >>> trend.lift(partials, np.zeros(3, int), Rows(rows, np.arange(3)))
    >>> trend.lower(trend.ended(partials, np.array([3])), "REGR_SLOPE", pa.float64()).values.to_pylist()
    [3000000.0]
    >>> trend.lower(trend.ended(partials, np.array([4])), "REGR_SLOPE", pa.float64()).values.to_pylist()  # 2, 2, 8, 8
    [2400000.0]
    """

    step_us: int
    fields = (Field("series", OBJECT, SeriesCodec.TYPE, None, codec=SeriesCodec()),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        y, x = (plain(column) for column in plain(rows.values).flatten())
        for known in (valid(y), valid(x)):
            if known is not None:
                codes = np.where(known, codes, -1)
        kept = np.flatnonzero(live(codes, rows) >= 0)
        times = words(x.cast(pa.timestamp("us", x.type.tz), safe=False), np.int64)[kept] // self.step_us
        slots, values = codes[kept], reals(y)[kept]
        order = np.lexsort((times, slots))
        slots, times, values = slots[order], times[order], values[order]
        edges = [0, *(np.flatnonzero(slots[1:] != slots[:-1]) + 1).tolist(), len(slots)] if len(slots) else [0]
        for low, high in pairwise(edges):
            own = (times[low:high], np.ones(high - low, np.int64), values[low:high])
            slot = slots[low]
            into["series"][slot] = _merged(into["series"][slot], own)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        for slot, series in zip(slots.tolist(), newer["series"]):
            if series is not None:
                into["series"][slot] = _merged(into["series"][slot], series)

    def ended(self, partials: Fields, ends: np.ndarray) -> Fields:
        """The same partials, of windows that hold what is before `ends`."""
        return partials | {UNTIL: ends}

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        moments, held = PairMoments(x_units=1e6), partials["series"]
        folded, stops = identity(moments, len(held)), -(-partials[UNTIL] // self.step_us)
        for slot, series in enumerate(held):
            if series is not None:
                runs = _runs(series, int(stops[slot]), self.step_us)
                moments.combine(folded, np.full(len(series[0]), slot), runs)
        return moments.lower(folded, answer, type)


def _merged(older: Series | None, newer: Series) -> Series:
    """Both together, each instant once; neither is changed, since stored blocks may share them."""
    if older is not None:
        newer = tuple(np.concatenate(both) for both in zip(older, newer))  # type: ignore[assignment]
    instants, places = np.unique(newer[0], return_inverse=True)
    counts = np.bincount(places, newer[1], len(instants)).astype(np.int64)
    return instants, counts, np.bincount(places, newer[2], len(instants))


def _runs(series: Series, stop: int, step_us: int) -> Fields:
    """The moments of each instant together with those that it fills, the last one up to `stop`: however many these are,
    they are one arithmetic series of times with one value."""
    instants, counts, sums = series
    lengths = np.diff(np.append(instants, max(int(instants[-1]) + 1, stop)))
    nothing = np.zeros(len(instants))
    within = lengths * (lengths.astype(np.float64) ** 2 - 1) / 12 * float(step_us) ** 2
    twice = (2 * instants + lengths - 1) * step_us
    high, rest = halves(twice // 2)
    low = twice % 2 / 2 + (rest if len(rest) else nothing)
    middles = high + low
    fields = {"n": lengths, "y": sums / counts, "y_low": nothing, "x": middles, "x_low": low - (middles - high)}
    return fields | {"yy": nothing, "xx": within, "xy": nothing}
