"""BIT_AND, BIT_OR and BIT_XOR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels import bits
from windrow.kernels.columns import columns, frozen, live, plain
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, integer

AND, OR, XOR = "bit_and", "bit_or", "bit_xor"
_NUMBERS = {AND: 0, OR: 1, XOR: 2}


@dataclass(frozen=True, slots=True)
class BitFold(Irreversible):
    """The bits that all integers have, that one has, or that an odd number of them have.

    What was folded in by XOR goes out by XOR again; of the others nobody knows which value a bit came from.

    >>> from windrow.kernels.partials import identity
    >>> both = BitFold(AND, pa.int32())
    >>> partials = identity(both, 2)
    >>> both.lift(partials, np.array([0, 0, 1]), Rows(pa.array([6, 3, None], pa.int32()), np.arange(3)))
    >>> both.lower(partials, "BIT_AND", pa.int32()).values.to_pylist()
    [2, None]
    """

    fold: str
    type: pa.DataType
    fields = (integer("n"), integer("bits"))

    @property
    def reversible(self) -> bool:  # type: ignore[override]
        return self.fold == XOR

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        given = bits.bits(plain(rows.values))
        _fold(into["n"], into["bits"], live(codes, rows), frozen(np.ones(len(given), np.int64)), given, self._number)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        n, given = columns(newer, "n", "bits")
        _fold(into["n"], into["bits"], frozen(slots), n, given, self._number)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        if not self.reversible:
            Irreversible.remove(self, into, slots, older)
        n, given = columns(older, "n", "bits")
        _fold(into["n"], into["bits"], frozen(slots), frozen(-n), given, self._number)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(bits.values(partials["bits"], partials["n"] > 0, self.type).cast(type))

    @property
    def _number(self) -> int:
        return _NUMBERS[self.fold]


@njit(cache=True, nogil=True)
def _fold(n: np.ndarray, held: np.ndarray, slots: np.ndarray, counts: np.ndarray, given: np.ndarray, fold: int) -> None:
    for i in range(slots.size):
        slot = slots[i]
        if slot < 0 or counts[i] == 0:
            continue
        if n[slot] == 0:
            held[slot] = given[i]
        elif fold == 0:
            held[slot] &= given[i]
        elif fold == 1:
            held[slot] |= given[i]
        else:
            held[slot] ^= given[i]
        n[slot] += counts[i]
        if n[slot] == 0:
            held[slot] = 0
