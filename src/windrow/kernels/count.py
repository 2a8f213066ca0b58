"""COUNT: of rows, or of values that are not NULL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import frozen, live
from windrow.kernels.kernel import Fields, KernelDefaults, Lowered, Rows, integer, one_turn


@dataclass(frozen=True, slots=True)
class Count(KernelDefaults):
    """How many rows there are, or how many values.

    >>> from windrow.kernels.partials import identity
    >>> count, groups = Count(), np.array([0, 1, 0, -1])
    >>> partials = identity(count, 2)
    >>> count.lift(partials, groups, Rows(pa.array([5, None, 6, 7]), np.arange(4)))
    >>> count.lower(partials, "COUNT", pa.int64()).values.to_pylist()
    [2, 0]
    """

    fields = (integer("n"),)
    reversible = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        _lift(into["n"], live(codes, rows))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(into["n"], frozen(slots), frozen(newer["n"]), one_turn(len(slots), 1), _UNTOLD)

    def combine_aligned(self, into: Fields, newer: Fields, owner: object) -> None:
        into["n"] += newer["n"]

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        _fold(into["n"], frozen(slots), frozen(older["n"]), one_turn(len(slots), -1), _UNTOLD)

    def slide(self, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        _fold(into["n"], frozen(slots), frozen(partials["n"]), turns, told["n"])

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["n"].copy()).cast(type))  # an answer outlives the slots


@njit(cache=True, nogil=True)
def _lift(n: np.ndarray, codes: np.ndarray) -> None:
    for i in range(codes.size):
        if codes[i] >= 0:
            n[codes[i]] += 1


_UNTOLD = np.empty(0, np.int64)


@njit(cache=True, nogil=True)
def _fold(n: np.ndarray, slots: np.ndarray, more: np.ndarray, turns: np.ndarray, told: np.ndarray) -> None:
    for turn in range(turns.shape[0]):
        sign, row = turns[turn, 2], turns[turn, 3]
        for i in range(turns[turn, 0], turns[turn, 1]):
            n[slots[i]] += sign * more[i]
        if row >= 0:
            for slot in range(n.size):
                told[row + slot] = n[slot]
