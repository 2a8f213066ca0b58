"""MIN and MAX of texts, bytes and decimals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from windrow.kernels.columns import counted, frozen, live, plain, words
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows


@dataclass(frozen=True, slots=True)
class ExtremeObject(Irreversible):
    """The smallest value, or the `largest`, of a type that does not fit 64 bits; texts sort by their UTF-8 bytes.

    Rows are compared by the ranks of their distinct values, so that only one value per slot becomes an object.

    >>> from windrow.kernels.partials import identity
    >>> smallest = ExtremeObject(pa.string(), largest=False)
    >>> partials = identity(smallest, 2)
    >>> smallest.lift(partials, np.array([0, 1, 0, 1]), Rows(pa.array(["b", None, "a", "é"]), np.arange(4)))
    >>> smallest.lower(partials, "MIN", pa.string()).values.to_pylist()
    ['a', 'é']
    """

    type: pa.DataType
    largest: bool

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("value", OBJECT, self.type, None),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        distinct, ranks = ranked(plain(rows.values))
        best = np.full(len(into["value"]), -1, np.int64)
        _lift(best, live(codes, rows), ranks, self.largest)
        slots = np.flatnonzero(best >= 0)
        self._fold(into["value"], slots, distinct.take(pa.array(best[slots])).to_pylist())

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        self._fold(into["value"], slots, newer["value"].tolist())

    def ranks(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        assert rows.values is not None
        places = counted(rows)
        _, ranks = ranked(plain(rows.values.take(pa.array(places))))
        return places, ranks if self.largest else ~ranks

    def _fold(self, held: np.ndarray, slots: np.ndarray, values: list[Any]) -> None:
        """One comparison of two objects per slot: ranking them would need them in Arrow first, which costs more.

        Python compares texts by code points, which is the order of their UTF-8 bytes.
        """
        for slot, value in zip(slots.tolist(), values):
            if value is not None:
                old = held[slot]
                if old is None or (value > old if self.largest else value < old):
                    held[slot] = value

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["value"].tolist(), self.type).cast(type))


def ranked(values: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The distinct values in order, and for each row where its value stands among them."""
    encoded = values.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    ranks = np.empty(max(len(order), 1), np.int64)
    ranks[words(order, np.uint64)] = np.arange(len(order))
    codes = words(encoded.indices, np.int32)
    if values.null_count:
        codes = np.where(values.is_valid().to_numpy(zero_copy_only=False), codes, 0)
    return encoded.dictionary.take(order), frozen(ranks[codes])


@njit(cache=True, nogil=True)
def _lift(best: np.ndarray, codes: np.ndarray, ranks: np.ndarray, largest: bool) -> None:
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0 and (best[slot] < 0 or (ranks[i] > best[slot] if largest else ranks[i] < best[slot])):
            best[slot] = ranks[i]
