"""Partials on their way into blocks and back: a column that says nothing is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import frozen, plain, words
from windrow.kernels.kernel import BOOL, OBJECT, Field, Fields, Kernel


def to_arrow(kernel: Kernel, fields: Fields, *, whole: bool = False) -> dict[str, pa.Array]:
    """The columns to store: those that are not wholly empty, and at least one, which tells how many slots there are.

    With `whole` it is all of them, so that columns stored at different times can be put together.

    >>> from windrow.kernels.integer_sum import IntegerSum
    >>> from windrow.kernels.partials import identity
    >>> list(to_arrow(IntegerSum(), identity(IntegerSum(), 5) | {"low": np.arange(5)}))
    ['low']
    """
    telling = [field for field in kernel.fields if whole or _tells(field, fields)]
    told = {field.name: _encoded(field, fields[field.name]) for field in telling}
    if not told:
        first = kernel.fields[0]
        told[first.name] = _encoded(first, fields[first.name])
    return told


def from_arrow(kernel: Kernel, stored: Mapping[str, pa.Array], n: int | None = None) -> Fields:
    """The partials that were stored, read-only where numpy can look into Arrow's memory.

    `n` is only needed where a caller has left out the last column too.
    """
    if n is None:
        n = len(next(iter(stored.values())))
    return {
        field.name: _decoded(field, plain(stored[field.name])) if field.name in stored else field.empty(n)
        for field in kernel.fields
    }


def _tells(field: Field, fields: Fields) -> bool:
    column = fields[field.name]
    if field.dtype == OBJECT:
        return any(value is not None for value in column)
    return bool((column != field.identity).any())


def _encoded(field: Field, column: np.ndarray) -> pa.Array:
    if field.dtype != OBJECT:
        return pa.array(column.copy(), field.type)  # Arrow would share memory that the next batch folds into
    if field.codec is not None:
        return field.codec.to_arrow(column)
    return pa.array(column.tolist(), field.type)


def _decoded(field: Field, column: pa.Array) -> np.ndarray:
    if field.dtype == BOOL:
        truths: np.ndarray = column.to_numpy(zero_copy_only=False)
        return truths
    if field.dtype != OBJECT:
        return frozen(words(column, field.dtype))
    return held(field, column)


def held(field: Field, column: pa.Array) -> np.ndarray:
    """A column of Arrow as the objects that `field` holds, None for NULL."""
    if field.codec is not None:
        return field.codec.from_arrow(column)
    if field.holds == "scalars":
        return _objects([scalar if scalar.is_valid else None for scalar in column])
    return _objects(column.to_pylist())


def _objects(values: list[Any]) -> np.ndarray:
    """A column of the values themselves: numpy would make a matrix of equally long lists.

    >>> _objects([[1, 2], [3, 4]]).shape
    (2,)
    """
    column = np.empty(len(values), OBJECT)
    column[:] = values
    return column
