"""COUNT(DISTINCT) and MODE of values wider than 64 bits: texts, bytes, decimals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import live, plain
from windrow.kernels.footprint import size_of
from windrow.kernels.kernel import OBJECT, Field, Fields, KernelDefaults, Lowered, Rows
from windrow.kernels.spilled_counts import LargeCounts, SpilledCounts
from windrow.kernels.spilled_window import SpilledGroup
from windrow.kernels.value_versions import Version

LARGE = 256
"""From so many distinct values on a group is kept in a table that is changed in place."""

Counts = dict[Any, int]
"""How often each value occurs. Never changed once it is a partial, since many may share it."""


class CountTable:
    """How often each value occurs, changed in place."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    @property
    def nbytes(self) -> int:
        return size_of(self.counts)

    def change(self, runs: Counts, sign: int) -> None:
        for value, count in runs.items():
            left = self.counts.get(value, 0) + sign * count
            if left:
                self.counts[value] = left
            else:
                del self.counts[value]


Asked = Counts | Version[CountTable] | SpilledGroup
"""What answers are drawn from: a partial, or what is read from panes."""


class CountCodec:
    """A list of values with counts for each slot; NULL where there are none."""

    def __init__(self, type: pa.DataType) -> None:
        self.type = pa.list_(pa.struct([("value", type), ("count", pa.int64())]))

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        tables = [None if held is None else counts_of(held) for held in objects]
        values = [value for table in tables if table for value in table]
        counts = [count for table in tables if table for count in table.values()]
        item = self.type.value_type
        items = pa.StructArray.from_arrays(
            [pa.array(values, item[0].type), pa.array(counts, pa.int64())], fields=list(item)
        )
        offsets = np.cumsum([0, *(len(table or ()) for table in tables)]).astype(np.int32)
        mask = pa.array([table is None for table in tables], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(offsets), items, type=self.type, mask=mask)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        values, counts = (child.to_pylist() for child in column.values.flatten())
        offsets = column.offsets.to_numpy()
        for slot in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
            own = slice(offsets[slot], offsets[slot + 1])
            objects[slot] = dict(zip(values[own], counts[own]))
        return objects


@dataclass(frozen=True)
class CountedValues(KernelDefaults):
    """The distinct values of a group, and how often each occurs; a slide changes the counts of what enters and leaves.

    >>> from windrow.kernels.partials import identity
    >>> counted = CountedValues(pa.string())
    >>> partials = identity(counted, 1)
    >>> counted.lift(partials, np.zeros(4, int), Rows(pa.array(["b", "a", None, "b"]), np.arange(4)))
    >>> counted.lower(partials, "COUNT_DISTINCT", pa.int64()).values[0].as_py()
    2
    >>> counted.lower(partials, "MODE", pa.string()).values[0].as_py()
    'b'
    """

    type: pa.DataType
    reversible = True
    spill = SpilledCounts()

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        codec = CountCodec(self.type)
        return (Field("counts", OBJECT, codec.type, None, codec=codec),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        codes = live(codes, rows)
        kept = np.flatnonzero(codes >= 0)
        if not len(kept):
            return
        encoded = plain(rows.values).take(pa.array(kept)).dictionary_encode()
        distinct, width = encoded.dictionary.to_pylist(), len(encoded.dictionary)
        pairs, counts = np.unique(codes[kept] * width + encoded.indices.to_numpy(), return_counts=True)
        fresh: dict[int, Counts] = {}
        for slot, number, count in zip((pairs // width).tolist(), (pairs % width).tolist(), counts.tolist()):
            fresh.setdefault(slot, {})[distinct[number]] = count
        self._change(into, fresh.items(), 1)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        self._change(into, _given(slots, newer["counts"]), 1)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        self._change(into, _given(slots, older["counts"]), -1)

    def _change(self, into: Fields, given: object, sign: int) -> None:
        held = into["counts"]
        for slot, counts in given:  # type: ignore[attr-defined]
            held[slot] = counts if held[slot] is None else _changed(held[slot], counts, sign)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        held = partials["counts"]
        if answer == "COUNT_DISTINCT":
            return Lowered(pa.array([0 if counts is None else _distinct(counts) for counts in held], pa.int64()))
        return Lowered(pa.array([None if counts is None else _mode(counts) for counts in held], type))


def counts_of(held: Counts | Version[CountTable]) -> Counts:
    """The counts as they are now: to be read, not kept."""
    return held.index().counts if isinstance(held, Version) else held


def _given(slots: np.ndarray, elements: np.ndarray) -> Iterator[tuple[int, Counts]]:
    for slot, counts in zip(slots.tolist(), elements):
        if counts is not None:
            yield slot, dict(counts_of(counts)) if isinstance(counts, Version) else counts


def _changed(held: Asked, counts: Counts, sign: int) -> Asked | None:
    if isinstance(held, SpilledGroup):
        return held.plus(counts)
    if not isinstance(held, Version) and len(held) + len(counts) > LARGE:
        held = Version(CountTable(dict(held)))
    if isinstance(held, Version):
        newer = held.changed(counts, sign)
        return newer if newer.index().counts else None
    table = CountTable(dict(held))
    table.change(counts, sign)
    return table.counts or None


def _distinct(asked: Asked) -> int:
    held = _at_hand(asked)
    if isinstance(held, LargeCounts):
        return held.distinct
    if isinstance(held, Version):
        return held.ask("COUNT_DISTINCT", lambda table: len(table.counts))
    return len(held)


def _mode(asked: Asked) -> object:
    held = _at_hand(asked)
    if isinstance(held, LargeCounts):
        return held.mode
    return held.ask("MODE", lambda table: _most(table.counts)) if isinstance(held, Version) else _most(held)


def _at_hand(held: Asked) -> Counts | Version[CountTable] | LargeCounts:
    """The counts of a group, read where they are not in memory."""
    found: Counts | Version[CountTable] | LargeCounts = held.read() if isinstance(held, SpilledGroup) else held
    return found


def _most(counts: Counts) -> object:
    """The smallest of the values that occur most often."""
    most = max(counts.values())
    return min(value for value, count in counts.items() if count == most)
