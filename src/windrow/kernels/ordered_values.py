"""MEDIAN, QUANTILE, MAD, MODE and COUNT(DISTINCT), exact, over windows that slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, isfinite

import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import live, plain, reals
from windrow.kernels.kernel import OBJECT, Field, Fields, KernelDefaults, Lowered, Rows
from windrow.kernels.spilled_values import LargeValues, SpilledRuns
from windrow.kernels.spilled_window import SpilledGroup
from windrow.kernels.value_codec import ValueCodec
from windrow.kernels.value_index import ValueIndex
from windrow.kernels.value_ranks import FLOATS, SIGNED, UNSIGNED, between, interpolated, reals_of
from windrow.kernels.value_runs import ValueRuns, joined_runs, one, runs_by_code
from windrow.kernels.value_versions import Version

LARGE = 4096
"""From so many distinct values on a group is kept in an index that is changed in place; below, merging is as fast."""

Values = int | ValueRuns | Version[ValueIndex]
"""What a partial is: one value, some, or many."""

Asked = Values | SpilledGroup
"""What answers are drawn from: a partial, or what is read from panes."""


@dataclass(frozen=True, slots=True)
class OrderedValues(KernelDefaults):
    """All values of a group in order, with how often each occurs.

    Values are held as integers that sort as they do. A pane's are sorted runs. A window's are too, until they are many:
    then they are in an index that a slide changes where values enter and leave.

    >>> from windrow.kernels.partials import identity
    >>> ordered = OrderedValues(pa.float64())
    >>> window, pane = identity(ordered, 1), identity(ordered, 1)
    >>> for partials, values in ((window, [5.0, 1.0, 2.0]), (pane, [4.0, 4.0, None])):
    ...     ordered.lift(partials, np.zeros(3, int), Rows(pa.array(values), np.arange(3)))
    >>> ordered.combine(window, np.array([0]), pane)
    >>> for answer in ("MEDIAN", "QUANTILE 0.125", "MAD", "MODE", "COUNT_DISTINCT"):
    ...     type = pa.int64() if answer == "COUNT_DISTINCT" else pa.float64()
    ...     print(answer, ordered.lower(window, answer, type).values[0])
    MEDIAN 4.0
    QUANTILE 0.125 1.5
    MAD 1.0
    MODE 4.0
    COUNT_DISTINCT 4
    """

    type: pa.DataType
    fields = (Field("values", OBJECT, ValueCodec.TYPE, None, codec=ValueCodec()),)
    reversible = True
    spill = SpilledRuns()

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        held = into["values"]
        codes = live(codes, rows).astype(np.int64, copy=False)
        keys, counts, begins = runs_by_code(codes, self._keys(rows.values), len(held))
        for slot in np.flatnonzero(begins[1:] > begins[:-1]).tolist():
            first, stop = int(begins[slot]), int(begins[slot + 1])
            single = stop - first == 1 and counts[first] == 1
            fresh = int(keys[first]) if single else ValueRuns(keys[first:stop], counts[first:stop])
            held[slot] = fresh if held[slot] is None else _changed(held[slot], _runs(fresh), 1)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        held = into["values"]
        for slot, runs in _by_slot(slots, newer["values"]):
            held[slot] = runs if held[slot] is None else _changed(held[slot], _runs(runs), 1)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        held = into["values"]
        for slot, runs in _by_slot(slots, older["values"]):
            held[slot] = _changed(held[slot], _runs(runs), -1)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        held = partials["values"]
        if answer == "COUNT_DISTINCT":
            return Lowered(pa.array([_distinct(values) for values in held], pa.int64()))
        known = np.array([values is not None for values in held], bool)
        if answer == "MODE":
            modes = np.array([0 if values is None else _mode(values) for values in held], np.int64)
            return Lowered(bits.unkeyed(modes, known, plain(pa.array([], self.type)).type).cast(type))
        if answer == "MAD":
            spreads = [None if values is None else self._spread(values) for values in held]
            return Lowered(pa.array(spreads, pa.float64()).cast(type))
        share = 0.5 if answer == "MEDIAN" else float(answer.split()[1])
        found = [(0, 0, 0.0) if values is None else _around(values, share) for values in held]
        return Lowered(pa.array(self._between(found), pa.float64(), mask=~known).cast(type))

    def _keys(self, values: pa.Array) -> np.ndarray:
        values = plain(values)
        return bits.keys(values if bits.fits(values.type) else pa.array(reals(values)))

    def _between(self, found: list[tuple[int, int, float]]) -> np.ndarray:
        """What lies between each two keys, as Spark's `percentile` has it."""
        lower, upper, parts = zip(*found) if found else ((), (), ())
        reals: np.ndarray = between(
            np.array(lower, np.int64), np.array(upper, np.int64), np.array(parts, float), self._kind()
        )
        return reals

    def _kind(self) -> int:
        if pa.types.is_unsigned_integer(self.type):
            return UNSIGNED
        return SIGNED if pa.types.is_integer(self.type) else FLOATS

    def _spread(self, asked: Asked) -> float:
        """The median of the distances from the median."""
        values = _at_hand(asked)
        if isinstance(values, LargeValues):
            return self._spread_of(values)
        if isinstance(values, Version):
            return values.ask("MAD", self._spread_of)
        return self._spread_of(_runs(values))

    def _spread_of(self, values: ValueIndex | ValueRuns | LargeValues) -> float:
        middle = float(self._between([_ends(values, 0.5)])[0])
        rank = (values.total - 1) * 0.5
        first, last = floor(rank), ceil(rank)
        if isinstance(values, ValueIndex) and isfinite(middle):
            near, far = (values.deviation(middle, edge, self._kind()) for edge in (first, last))
        elif isinstance(values, LargeValues):
            distances = values.distances(middle, self._kind())
            near, far = reals_of(np.array([distances.select(edge) for edge in (first, last)]), FLOATS).tolist()
        else:
            runs = values.runs() if isinstance(values, ValueIndex) else values
            with np.errstate(invalid="ignore"):
                apart = np.abs(np.repeat(reals_of(runs.keys, self._kind()), runs.counts) - middle)
                near, far = np.sort(apart)[[first, last]].tolist()
        return float(interpolated(near, far, rank - first))


def _changed(values: Asked, runs: ValueRuns, sign: int) -> Asked | None:
    """The values with `runs` added, or taken out if `sign` is -1; None if nothing is left."""
    if isinstance(values, SpilledGroup):
        return values.plus(runs)
    if isinstance(values, Version):
        newer = values.changed(runs, sign)
        return None if newer.index().total == 0 else newer
    if isinstance(values, int):
        values = one(values)
    if values.distinct + runs.distinct > LARGE and sign > 0:
        return Version(ValueIndex(values)).changed(runs, sign)
    left = values.plus(runs, sign)
    return left if left.distinct else None


def _runs(values: Values) -> ValueRuns:
    if isinstance(values, Version):
        return values.index().runs()
    return one(values) if isinstance(values, int) else values


def _by_slot(slots: np.ndarray, elements: np.ndarray) -> Iterator[tuple[int, Values]]:
    """What each slot is given, put together."""
    given: dict[int, list[Values]] = {}
    for slot, values in zip(slots.tolist(), elements):
        if values is not None:
            given.setdefault(slot, []).append(values)
    for slot, parts in given.items():
        yield slot, parts[0] if len(parts) == 1 else joined_runs([_plain(part) for part in parts])


def _plain(values: Values) -> int | ValueRuns:
    return _runs(values) if isinstance(values, Version) else values


def _at_hand(values: Asked) -> Values | LargeValues:
    """The values of a group, read where they are not in memory."""
    found: Values | LargeValues = values.read() if isinstance(values, SpilledGroup) else values
    return found


def _distinct(asked: Asked | None) -> int:
    if asked is None or isinstance(asked, int):
        return 0 if asked is None else 1
    values = _at_hand(asked)
    if isinstance(values, Version):
        return values.ask("COUNT_DISTINCT", _distinct_of)
    return 1 if isinstance(values, int) else values.distinct


def _distinct_of(index: ValueIndex) -> int:
    return index.distinct


def _mode(asked: Asked) -> int:
    """The smallest of the values that occur most often."""
    values = _at_hand(asked)
    if isinstance(values, Version):
        return values.ask("MODE", ValueIndex.mode)
    if isinstance(values, LargeValues):
        return values.mode()
    return values if isinstance(values, int) else int(values.keys[np.argmax(values.counts)])


def _around(asked: Asked, share: float) -> tuple[int, int, float]:
    """The two values between which the `share` of all is reached, and how far it is from the first to the second."""
    values = _at_hand(asked)
    if isinstance(values, Version):
        return values.ask(share, lambda index: _ends(index, share))
    return (values, values, 0.0) if isinstance(values, int) else _ends(values, share)


def _ends(values: ValueIndex | ValueRuns | LargeValues, share: float) -> tuple[int, int, float]:
    rank = (values.total - 1) * share
    first = floor(rank)
    lower = values.select(first)
    return lower, lower if rank == first else values.select(first + 1), rank - first
