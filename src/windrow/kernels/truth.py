"""BOOL_AND and BOOL_OR that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.bits import bits
from windrow.kernels.columns import columns, frozen, live
from windrow.kernels.kernel import Fields, KernelDefaults, Lowered, Rows, integer


@dataclass(frozen=True, slots=True)
class Truth(KernelDefaults):
    """How often a condition held and how often it did not: counts can be subtracted, a single bit cannot.

    >>> from windrow.kernels.partials import identity
    >>> truth = Truth()
    >>> partials = identity(truth, 2)
    >>> truth.lift(partials, np.array([0, 0, 1]), Rows(pa.array([True, False, None]), np.arange(3)))
    >>> [truth.lower(partials, answer, pa.bool_()).values.to_pylist() for answer in ("BOOL_AND", "BOOL_OR")]
    [[False, None], [True, None]]
    """

    fields = (integer("yes"), integer("no"))
    reversible = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        _lift(into["yes"], into["no"], live(codes, rows), bits(rows.values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(into["yes"], into["no"], frozen(slots), columns(newer, "yes", "no"), 1)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        _fold(into["yes"], into["no"], frozen(slots), columns(older, "yes", "no"), -1)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        yes, no = partials["yes"], partials["no"]
        values = no == 0 if answer == "BOOL_AND" else yes > 0
        return Lowered(pa.array(values, mask=(yes == 0) & (no == 0)).cast(type))


@njit(cache=True, nogil=True)
def _lift(yes: np.ndarray, no: np.ndarray, codes: np.ndarray, values: np.ndarray) -> None:
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0:
            if values[i]:
                yes[slot] += 1
            else:
                no[slot] += 1


@njit(cache=True, nogil=True)
def _fold(yes: np.ndarray, no: np.ndarray, slots: np.ndarray, more: tuple[np.ndarray, ...], sign: int) -> None:
    more_yes, more_no = more
    for i in range(slots.size):
        yes[slots[i]] += sign * more_yes[i]
        no[slots[i]] += sign * more_no[i]
