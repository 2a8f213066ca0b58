"""Arrays taken apart: their elements in one column, and which row each belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from . import types
from .columns import Missing, missing, normal
from .registry import Taken


def is_array(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind))


def is_map(kind: pa.DataType) -> bool:
    return bool(pa.types.is_map(kind))


def array_of(kind: pa.DataType, *, nullable: bool) -> pa.DataType:
    """The type of an array, of which Spark knows whether its elements may be NULL."""
    return pa.list_(pa.field("element", kind, nullable=nullable))


ARRAY = Taken(None, is_array)
ATOMS = Taken(None, lambda kind: is_array(kind) and types.is_atom(kind.value_type))
MAP = Taken(None, is_map)


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of arrays: `parents` says which row each is in, `first` where those of a row begin."""

    values: pa.Array
    parents: np.ndarray
    lengths: np.ndarray
    absent: Missing

    @property
    def first(self) -> np.ndarray:
        begins: np.ndarray = np.cumsum(self.lengths) - self.lengths
        return begins

    def places(self) -> np.ndarray:
        """The place of each element in its array, from 0."""
        place: np.ndarray = np.arange(len(self.parents)) - self.first[self.parents]
        return place


def elements_of(arrays: pa.Array) -> Elements:
    """What arrays hold, whatever part of a larger column they are.

    >>> elements = elements_of(pa.array([[1, 2], None, [3]]))
    >>> elements.values.to_pylist(), elements.parents.tolist()
    ([1, 2, 3], [0, 0, 2])
    """
    lengths = lengths_of(arrays)
    return Elements(normal(arrays.flatten()), np.repeat(np.arange(len(arrays)), lengths), lengths, missing(arrays))


def lengths_of(collections: pa.Array) -> np.ndarray:
    """How many elements each array or map holds, 0 for NULL."""
    sizes = np.diff(collections.offsets.to_numpy()).astype(np.int64)
    return np.where(missing(collections), 0, sizes)


def entries_of(maps: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The keys and the values of maps, in one column each.

    >>> maps = pa.array([[("a", 1)], None, [("b", 2)]], pa.map_(pa.string(), pa.int64())).slice(1)
    >>> [column.to_pylist() for column in entries_of(maps)]
    [['b'], [2]]
    """
    lengths = lengths_of(maps)
    begins = maps.offsets.to_numpy()[:-1].astype(np.int64) - (np.cumsum(lengths) - lengths)
    places = pa.array(np.repeat(begins, lengths) + np.arange(lengths.sum()))
    return normal(maps.keys.take(places)), normal(maps.items.take(places))


def arrays_of(elements: pa.Array, lengths: np.ndarray, absent: Missing, kind: pa.DataType) -> pa.Array:
    """Arrays of so many elements each.

    >>> arrays_of(pa.array([1, 2, 3]), np.array([2, 0, 1]), np.array([False, True, False]), pa.int64()).to_pylist()
    [[1, 2], None, [3]]
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    kind = kind if is_array(kind) else array_of(kind, nullable=True)
    mask = pa.array(absent) if absent.any() else None
    return pa.ListArray.from_arrays(pa.array(offsets), elements, type=kind, mask=mask)


def element_at(arrays: pa.Array, places: np.ndarray, absent: Missing) -> pa.Array:
    """The element at a place, from 0, of each array; NULL where there is none."""
    held = elements_of(arrays)
    outside = absent | held.absent | (places < 0) | (places >= held.lengths)
    return held.values.take(pa.array(np.where(outside, 0, held.first + places), mask=outside))


def any_of(held: Elements, hits: np.ndarray) -> np.ndarray:
    """For each array, whether one of its elements is hit."""
    found = np.zeros(len(held.lengths), bool)
    found[held.parents[hits]] = True
    return found
