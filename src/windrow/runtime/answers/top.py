"""ORDER BY and LIMIT within each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.runtime.keys import canonical


@dataclass(frozen=True, slots=True)
class Term:
    """A column to order by."""

    column: str
    descending: bool
    nulls_first: bool


def first_of_each_window(
    rows: pa.Table, terms: Sequence[Term], limit: int | None, windows: Sequence[str] = ("window_end",)
) -> pa.Table:
    """The rows in order of window and then of `terms`, of each window at most `limit`; `windows` tell windows apart.

    >>> rows = pa.table({"window_end": [1, 1, 1, 2], "n": [5, None, 7, 1]})
    >>> first_of_each_window(rows, [Term("n", descending=True, nulls_first=False)], 2)["n"].to_pylist()
    [7, 5, 1]
    """
    keys = [ranks(rows[name], Term(name, False, False)) for name in windows]
    keys += [ranks(rows[term.column], term) for term in terms]
    order = np.lexsort(keys[::-1])
    if limit is not None and len(order):
        told = np.stack([key[order] for key in keys[: len(windows)]])
        starts = np.flatnonzero(np.concatenate([[True], (told[:, 1:] != told[:, :-1]).any(axis=0)]))
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        order = order[place < limit]
    return rows.take(pa.array(order))


def ranks(column: pa.ChunkedArray | pa.Array, term: Term) -> np.ndarray:
    """Numbers that sort as the values do: NaN above all numbers, both zeros equal, NULL where the term says."""
    values = canonical(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    found = _nested_ranks(values) if pa.types.is_nested(values.type) else _plain_ranks(values)
    found = -found if term.descending else found
    missing = values.is_null().to_numpy(zero_copy_only=False)
    return np.where(missing, -(1 << 62) if term.nulls_first else 1 << 62, found)


def _plain_ranks(values: pa.Array) -> np.ndarray:
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    ranks = np.zeros(len(distinct), np.int64)
    ranks[pc.sort_indices(distinct, sort_keys=[("", "ascending")]).to_numpy()] = np.arange(len(distinct))
    numbers = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return ranks[numbers] if len(distinct) else np.zeros(len(values), np.int64)


def _nested_ranks(values: pa.Array) -> np.ndarray:
    """Of arrays and structs, which Arrow does not sort: element by element, as Spark does."""
    keys = [_sort_key(value) for value in values.to_pylist()]
    ranks = np.zeros(len(keys), np.int64)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    for before, after in pairwise(order):
        ranks[after] = ranks[before] + (keys[after] != keys[before])
    return ranks


def _sort_key(value: Any) -> tuple[Any, ...]:
    """What sorts as `value` does inside of another one: NULL first, NaN last, of two lists the one that ends first.

    >>> sorted([[2], [1, None], [1], [], [float("nan")], [1, 0.5]], key=_sort_key)
    [[], [1], [1, None], [1, 0.5], [2], [nan]]
    """
    match value:
        case None:
            return (0,)
        case float():
            return (2,) if isnan(value) else (1, value)
        case list():
            return (1, [_sort_key(item) for item in value])
        case dict():
            return (1, [_sort_key(item) for item in value.values()])
    return (1, value)
