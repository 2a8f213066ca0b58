"""Changes added up: an answer is a multiset of rows, and `+` and `-` rows come to it and leave it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import pyarrow as pa

_NAN = object()


class AddedUp:
    """The rows that are there after all changes so far, in the order in which they came.

    >>> answer = AddedUp(pa.schema({"k": pa.string(), "n": pa.int64()}))
    >>> answer.change(["+", "+"], pa.table({"k": ["a", "b"], "n": [1, 2]}))
    >>> answer.change(["-", "+"], pa.table({"k": ["a", "a"], "n": [1, 5]}))
    >>> answer.table().to_pylist()
    [{'k': 'b', 'n': 2}, {'k': 'a', 'n': 5}]
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema, self.unknown = schema, 0
        self._rows: dict[Hashable, list[tuple[Any, ...]]] = {}
        self.count = 0

    def change(self, ops: Sequence[str], rows: pa.Table) -> None:
        """Let rows come and go; a row that goes and was never there is counted as `unknown`."""
        columns = [column.to_pylist() for column in rows.columns]
        values = zip(*columns) if columns else (() for _ in ops)
        for op, row in zip(ops, values):
            key = tuple(_told_apart(value) for value in row)
            if op == "+":
                self._rows.setdefault(key, []).append(row)
                self.count += 1
            elif key in self._rows:
                copies = self._rows[key]
                copies.pop()
                self.count -= 1
                if not copies:
                    del self._rows[key]
            else:
                self.unknown += 1

    def table(self, most: int | None = None) -> pa.Table:
        """The rows, or the first so many of them."""
        found = [row for copies in self._rows.values() for row in copies][:most]
        arrays = [pa.array([row[i] for row in found], field.type) for i, field in enumerate(self.schema)]
        return pa.table(arrays, schema=self.schema)


def _told_apart(value: Any) -> Hashable:
    """What is equal for values that SQL takes for the same: NaN is NaN, and 0.0 is -0.0."""
    if isinstance(value, float):
        return _NAN if value != value else value
    if isinstance(value, list):
        return tuple(_told_apart(part) for part in value)
    if isinstance(value, dict):
        return tuple((name, _told_apart(part)) for name, part in value.items())
    return value  # type: ignore[no-any-return]
