"""The value that a partial holds of one event that it has picked: as bits where it fits 64, else as an object."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import valid
from windrow.kernels.kernel import OBJECT, Field, Fields, Lowered, flag, integer
from windrow.kernels.stored import held


def value_fields(type: pa.DataType) -> tuple[Field, ...]:
    """What holds a value, which may be NULL: texts, bytes and decimals as Python's own, the rest as Arrow scalars."""
    if bits.fits(type):
        return (integer("bits"), flag("known"))
    return (Field("value", OBJECT, type, None, "scalars" if pa.types.is_nested(type) else "values"),)


def put_values(into: Fields, slots: np.ndarray, picked: pa.Array, type: pa.DataType) -> None:
    """Put the value that each of `slots` has picked into it."""
    if "value" in into:
        into["value"][slots] = held(value_fields(type)[0], picked)
        return
    known = valid(picked)
    into["known"][slots] = True if known is None else known
    # What stands at a NULL is arbitrary; equal partials should be equal bits.
    into["bits"][slots] = bits.bits(picked) if known is None else np.where(known, bits.bits(picked), 0)


def take_over(into: Fields, slots: np.ndarray, newer: Fields, took: np.ndarray) -> None:
    """Let the slots that `took` have the newer value."""
    for name in ("value",) if "value" in into else ("bits", "known"):
        into[name][slots[took]] = newer[name][took]  # of a repeated slot, numpy keeps the last


def lower_values(partials: Fields, held_as: pa.DataType, type: pa.DataType) -> Lowered:
    """The values, of the type that is answered."""
    if "value" in partials:
        return Lowered(pa.array(partials["value"].tolist(), held_as).cast(type))
    return Lowered(bits.values(partials["bits"], partials["known"], held_as).cast(type))
