"""Arrays asked for their size, an element, or whether and where they hold a value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .casts import coerce
from .columns import column, missing, values
from .compare import equal_sides
from .lists import (
    ARRAY,
    ATOMS,
    Elements,
    any_of,
    arrays_of,
    element_at,
    elements_of,
    entries_of,
    is_array,
    is_map,
    lengths_of,
)
from .registry import ANY, INT, INTEGRAL, PATTERN, Taken, function

TEXTS = Taken(None, lambda kind: is_array(kind) and kind.value_type == types.STRING)
COLLECTION = Taken(None, lambda kind: is_array(kind) or is_map(kind))


@function("size", "cardinality", takes=[COLLECTION])
def size(collection: pa.Array) -> pa.Array:
    """How many elements there are; -1 for NULL, as Spark has it where ANSI is off."""
    return column(np.where(missing(collection), -1, lengths_of(collection)), np.zeros(len(collection), bool), types.INT)


@function("array_size", takes=[ARRAY])
def array_size(arrays: pa.Array) -> pa.Array:
    return pc.list_value_length(arrays).cast(types.INT)


@function("get", takes=[ARRAY, INTEGRAL])
def element_from_zero(arrays: pa.Array, place: pa.Array) -> pa.Array:
    return element_at(arrays, values(place), missing(place))


@function("element_at", "try_element_at", takes=[ANY, ANY])
def element_from_one(collection: pa.Array, place: pa.Array) -> pa.Array:
    """The element at a place that counts from 1, or from the end if it is negative; of a map, the value of a key."""
    if is_map(collection.type):
        return value_of_key(collection, place)
    arrays, at = ARRAY.take("element_at", collection), values(INT.take("element_at", place))
    if ((at == 0) & ~missing(place)).any():
        raise QueryError("the elements of an array are counted from 1", hint="element_at(array, 1)")
    lengths = lengths_of(arrays)
    return element_at(arrays, np.where(at > 0, at.astype(np.int64) - 1, lengths + at.astype(np.int64)), missing(place))


def _beside(name: str, arrays: pa.Array, value: pa.Array) -> tuple[Elements, pa.Array]:
    """The elements of arrays, and the value that each is compared with, in one type."""
    if value.type == types.VOID:
        raise QueryError(f"{name} takes no NULL that has no type")
    held = elements_of(arrays)
    common = types.wider_type(held.values.type, value.type, texts=False)
    if common is None or not types.is_atom(common):
        kinds = f"{types.sql_name(held.values.type)} and {types.sql_name(value.type)}"
        raise NotSupportedYet(f"replay does not evaluate {name} of {kinds}")
    compared = coerce(value, common).take(pa.array(held.parents))
    return Elements(coerce(held.values, common), held.parents, held.lengths, held.absent), compared


def _hits(held: Elements, wanted: pa.Array) -> np.ndarray:
    hits: np.ndarray = pc.fill_null(equal_sides(held.values, wanted), False).to_numpy(zero_copy_only=False)
    return hits


@function("array_contains", takes=[ATOMS, ANY])
def contains(arrays: pa.Array, value: pa.Array) -> pa.Array:
    """Whether a value is among the elements; unknown if only a NULL could be it."""
    held, wanted = _beside("array_contains", arrays, value)
    found = any_of(held, _hits(held, wanted))
    unknown = any_of(held, missing(held.values)) & ~found
    return column(found, held.absent | missing(value) | unknown, types.BOOLEAN)


@function("array_position", takes=[ATOMS, ANY])
def position(arrays: pa.Array, value: pa.Array) -> pa.Array:
    """The place of the first element that is the value, from 1, or 0."""
    held, wanted = _beside("array_position", arrays, value)
    hits = np.flatnonzero(_hits(held, wanted))[::-1]
    places = np.zeros(len(held.lengths), np.int64)
    places[held.parents[hits]] = held.places()[hits] + 1  # the first hit of a row is written last
    return column(places, held.absent | missing(value), types.BIGINT)


@function("array_join", takes=[TEXTS, PATTERN, PATTERN], least=2)
def join(arrays: pa.Array, delimiter: pa.Array, instead: pa.Array | None = None) -> pa.Array:
    """The texts with a delimiter between them; NULLs are left out, or written as `instead`."""
    held = elements_of(arrays)
    if instead is not None:
        kept, lengths = pc.fill_null(held.values, instead[0]), held.lengths
    else:
        there = ~missing(held.values)
        kept, lengths = held.values.filter(pa.array(there)), np.bincount(held.parents[there], minlength=len(arrays))
    return pc.binary_join(arrays_of(kept, lengths, held.absent, types.STRING), delimiter[0])


def value_of_key(maps: pa.Array, key: pa.Array) -> pa.Array:
    """The value that a map has for a key, or NULL."""
    held, hits = key_hits("element_at", maps, key)
    places = np.full(len(maps), -1, np.int64)
    found = np.flatnonzero(hits)[::-1]
    places[held.parents[found]] = found
    absent = places < 0
    _, items = entries_of(maps)
    return items.take(pa.array(np.where(absent, 0, places), mask=absent))


def key_hits(name: str, maps: pa.Array, key: pa.Array) -> tuple[Elements, np.ndarray]:
    keys, _ = entries_of(maps)
    held, wanted = _beside(name, arrays_of(keys, lengths_of(maps), missing(maps), keys.type), key)
    return held, _hits(held, wanted)
