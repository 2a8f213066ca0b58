"""What a map task sees of its events in passing: widths, different values, none, disorder. It decides nothing there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.runtime.keys import spread

LOOKED_AT = 1 << 9
"""So many rows of a task are looked at for different values: to look at all would cost more than to fold them."""

IN_ORDER = 1 << 16
"""So many rows of a chunk are looked at for their order."""

SMALLEST = 64
"""So many of the smallest hashes of a column are told: how dense they are says how many values there are."""

HASHES = 1 << 32


class Sample:
    """Adds up what is seen of the chunks of one task."""

    def __init__(self, stream: str, texts: Sequence[str], columns: Sequence[str]) -> None:
        self._stream, self._columns = stream, dict(zip(texts, columns))
        self._events, self._behind = 0, 0
        self._bytes = dict.fromkeys(texts, 0)
        self._there = dict.fromkeys(texts, 0)
        self._reach: tuple[int, int] | None = None
        self._hashes: dict[str, list[int]] = {}
        self._empty: set[str] | None = None

    def add(self, batch: pa.RecordBatch, times: np.ndarray) -> None:
        """Look at a chunk of events, at `times`."""
        self._events += batch.num_rows
        own = {text: batch.column(name) for text, name in self._columns.items() if name in batch.schema.names}
        for text, column in own.items():
            self._bytes[text] += column.nbytes
            self._there[text] += how_many_there(column)
        if len(self._hashes) < len(own):
            self._hashes = {text: smallest(column.slice(0, LOOKED_AT)) for text, column in own.items()}
        if len(times):  # where no event can be used, none could have had a value
            empty = {text for text, column in own.items() if column.null_count == len(column)}
            self._empty = empty if self._empty is None else self._empty & empty
            first, last = self._reach or (int(times[0]), int(times[0]))
            self._reach = min(first, int(times.min())), max(last, int(times.max()))
        looked_at = times[:IN_ORDER]
        self._behind = max(self._behind, int((np.maximum.accumulate(looked_at) - looked_at).max(initial=0)))

    def told(self) -> dict[str, Any]:
        """As plain values."""
        known = {"stream": self._stream, "events": self._events, "behind": self._behind}
        empty = None if self._empty is None else sorted(self._empty)
        counted = {"bytes": self._bytes, "there": self._there, "reach": self._reach}
        return known | counted | {"hashes": self._hashes, "empty": empty}


def how_many_there(column: pa.Array) -> int:
    """How many values are not NULL; of conditions, how many are true.

    >>> how_many_there(pa.array([1, None, 3])), how_many_there(pa.array([True, False, None]))
    (2, 1)
    """
    return int(column.true_count if pa.types.is_boolean(column.type) else len(column) - column.null_count)


def smallest(column: pa.Array) -> list[int]:
    """The smallest hashes of the different values of a column."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return []
    found: list[int] = np.unique(spread([column.drop_null().unique()], HASHES))[:SMALLEST].tolist()
    return found


def about_how_many(hashes: Sequence[int]) -> int:
    """How many different values there are whose smallest hashes are these (Bar-Yossef et al. 2002).

    >>> about_how_many([5, 9]), about_how_many(range(0, 64_000_000, 1_000_000))
    (2, 4295)
    """
    return len(hashes) if len(hashes) < SMALLEST else round((SMALLEST - 1) * HASHES / (hashes[-1] + 1))
