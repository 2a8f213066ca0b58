"""TOPK: the largest values, in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import frozen, live, plain
from windrow.kernels.extreme_object import ranked
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows

TOP = "top"
"""The field of a partial that holds values, the largest first."""


class KeyListCodec:
    """A list of keys for each slot; NULL where there are none."""

    type = pa.list_(pa.int64())

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        values = np.concatenate([np.empty(0, np.int64), *(keys for keys in objects if keys is not None)])
        offsets = np.cumsum([0, *(0 if keys is None else len(keys) for keys in objects)]).astype(np.int32)
        mask = pa.array([keys is None for keys in objects], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), mask=mask)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        keys, offsets = column.values.to_numpy(), column.offsets.to_numpy()
        for slot in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
            objects[slot] = keys[offsets[slot] : offsets[slot + 1]]
        return objects


@dataclass(frozen=True)
class TopValues(Irreversible):
    """The `most` largest values of each slot, equal ones as often as they come; NaN is above all numbers.

    A value that fits 64 bits is held as a key that sorts as it does, so all slots are sorted and cut at once. Others
    are Python's own, told apart by their ranks while they are lifted.

    >>> from windrow.kernels.partials import identity
    >>> top = TopValues(pa.int64(), 2)
    >>> partials = identity(top, 2)
    >>> top.lift(partials, np.array([0, 0, 0, 1]), Rows(pa.array([3, 9, 9, None]), np.arange(4)))
    >>> top.lower(partials, "TOPK", pa.list_(pa.int64())).values.to_pylist()
    [[9, 9], []]
    """

    type: pa.DataType
    most: int

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        if bits.fits(self.type):
            return (Field(TOP, OBJECT, KeyListCodec.type, None, codec=KeyListCodec()),)
        return (Field(TOP, OBJECT, pa.list_(self.type), None),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        values = plain(rows.values)
        codes = live(codes, rows)
        kept = np.flatnonzero(codes >= 0)
        if not len(kept):
            return
        if bits.fits(values.type):
            slots, parts = self._largest(codes[kept], bits.keys(values)[kept])
            self._merge(into, slots, parts)
            return
        distinct, ranks = ranked(values)
        slots, parts = self._largest(codes[kept], ranks[kept])
        self._merge(into, slots, [distinct.take(pa.array(part)).to_pylist() for part in parts])

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        given = [(slot, part) for slot, part in zip(slots.tolist(), newer[TOP]) if part is not None]
        self._merge(into, np.array([slot for slot, _ in given], np.int64), [part for _, part in given])

    def _merge(self, into: Fields, slots: np.ndarray, parts: list[Any]) -> None:
        """Parts are never changed, since stored blocks and other windows may share them."""
        top = into[TOP]
        if not bits.fits(self.type):
            for slot, part in zip(slots.tolist(), parts):
                top[slot] = part if top[slot] is None else sorted([*top[slot], *part], reverse=True)[: self.most]
            return
        touched = np.unique(slots)
        older = [(slot, top[slot]) for slot in touched.tolist() if top[slot] is not None]
        every = [*(keys for _, keys in older), *parts]
        if not every:
            return
        owners = np.concatenate([np.array([slot for slot, _ in older], np.int64), slots])
        owners = np.repeat(owners, [len(keys) for keys in every])
        for slot, keys in zip(*self._largest(owners, np.concatenate(every))):
            top[slot] = keys

    def _largest(self, slots: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """The largest keys of each slot, all slots at once."""
        order = np.lexsort((~keys, slots))
        slots, keys = slots[order], keys[order]
        begins = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]]))
        stops = np.minimum(np.append(begins[1:], len(slots)), begins + self.most)
        keys = frozen(keys)
        return slots[begins], [keys[first:stop] for first, stop in zip(begins.tolist(), stops.tolist())]

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        parts = [() if held is None else held for held in partials[TOP]]
        offsets = pa.array(np.cumsum([0, *map(len, parts)]).astype(np.int32))
        if not bits.fits(self.type):
            values = pa.array([value for part in parts for value in part], self.type)
            return Lowered(pa.ListArray.from_arrays(offsets, values).cast(type))
        keys = np.concatenate([np.empty(0, np.int64), *(part for part in parts if len(part))])
        values = bits.unkeyed(keys, np.ones(len(keys), np.bool_), self.type)
        return Lowered(pa.ListArray.from_arrays(offsets, values).cast(type))
