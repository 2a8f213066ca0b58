"""ORDER BY and LIMIT within each window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    keys = [_ranks(rows[name], Term(name, False, False)) for name in windows]
    keys += [_ranks(rows[term.column], term) for term in terms]
    order = np.lexsort(keys[::-1])
    if limit is not None and len(order):
        told = np.stack([key[order] for key in keys[: len(windows)]])
        starts = np.flatnonzero(np.concatenate([[True], (told[:, 1:] != told[:, :-1]).any(axis=0)]))
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        order = order[place < limit]
    return rows.take(pa.array(order))


def _ranks(column: pa.ChunkedArray, term: Term) -> np.ndarray:
    """Numbers that sort as the values do: NaN above all numbers, both zeros equal, NULL where the term says."""
    values = canonical(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    ranks = np.zeros(len(distinct), np.int64)
    ranks[pc.sort_indices(distinct, sort_keys=[("", "ascending")]).to_numpy()] = np.arange(len(distinct))
    numbers = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    found = ranks[numbers] if len(distinct) else np.zeros(len(values), np.int64)
    found = -found if term.descending else found
    missing = values.is_null().to_numpy(zero_copy_only=False)
    return np.where(missing, -(1 << 62) if term.nulls_first else 1 << 62, found)
