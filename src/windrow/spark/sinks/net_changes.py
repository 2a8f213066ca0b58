"""What a batch of changes does to an answer whose rows a key tells apart: keys whose row goes, and rows that come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import JobError

OPERATION = "windrow_op"
"""The column of changes by key that says whether a row comes or goes."""


_NOT_HELD = (
    "the table does not hold the answer as it was before this batch: its query ran on this checkpoint before the sink"
    " held the answer, {} does not tell its rows apart, or somebody else has written to the table. Start it on a new"
    " checkpoint"
)


class NetChanges(NamedTuple):
    """Rows that `came`, at most one of a key, and the rows that were there before under the keys of `went`.

    A key that is in both has another row now.
    """

    came: pa.Table
    went: pa.Table
    key: tuple[str, ...]

    @property
    def told(self) -> pa.Table:
        """A row for each key that changes: the one that it has now, `+`, or had last, `-`."""
        going = self.went.filter(pa.array(places_of(self.went, self.came, self.key) < 0))
        rows = pa.concat_tables([self.came, going])
        signs = ["+"] * self.came.num_rows + ["-"] * going.num_rows
        return rows.append_column(OPERATION, pa.array(signs, pa.string()))

    def check_held(self, rows: pa.Table) -> np.ndarray:
        """Which of `rows`, those of a table before the batch, change; raises unless they are those that went.

        Only rows whose key changes matter, and of these all must be given.
        """
        told = self.told
        places = places_of(rows, told, self.key)
        found = np.bincount(places[places >= 0], minlength=told.num_rows)
        if (found != (places_of(told, self.went, self.key) >= 0)).any():
            raise JobError(_NOT_HELD.format(", ".join(self.key)))
        return places >= 0

    def reach(self) -> list[tuple[str, Any, Any, bool]]:
        """Between which values the keys that change are, by column, and whether NULL is among them.

        Columns whose values files keep no bounds of, or other ones than these, are left out.
        """
        told, reach = self.told, []
        for name in self.key:
            values, kind = told.column(name), told.schema.field(name).type
            if pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind):
                ends = pc.min_max(values).as_py()
                if ends["min"] is not None:
                    reach.append((name, ends["min"], ends["max"], values.null_count > 0))
        return reach


def net_changes(rows: pa.Table, leading: int, key: Sequence[str]) -> NetChanges:
    """The changes of a batch, whose first `leading` columns say how and when each came, the first of them by `op`.

    >>> rows = pa.table({"op": ["-", "+", "-", "+"], "k": ["a", "a", "a", "a"], "n": [1, 2, 2, 3]})
    >>> net = net_changes(rows, 1, ["k"])
    >>> net.went.to_pylist(), net.came.to_pylist()
    ([{'k': 'a', 'n': 1}], [{'k': 'a', 'n': 3}])
    """
    answer = rows.select(rows.column_names[leading:]).combine_chunks()
    signs = np.where(pc.equal(rows.column(0), "+").to_numpy(zero_copy_only=False), 1, -1)
    first, copies = _counted(answer, signs)
    came, went = (answer.take(pa.array(first[copies * sign > 0], pa.int64())) for sign in (1, -1))
    for side in (came, went):
        if np.abs(copies).max(initial=0) > 1 or len(set(_codes(side, tuple(key)))) < side.num_rows:
            raise JobError(f"{', '.join(key)} does not tell the rows of the answer apart")
    return NetChanges(came, went, tuple(key))


def places_of(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> np.ndarray:
    """For each of `rows` which of `others`, of which no two have the same key, has its key; -1 where none has.

    NULL is equal to NULL.

    >>> places_of(pa.table({"k": ["b", None, "c"]}), pa.table({"k": [None, "b"]}), ["k"]).tolist()
    [1, 0, -1]
    """
    both = pa.concat_tables([table.select(list(key)) for table in (others, rows)])
    codes = _codes(both, tuple(key))
    place = np.full(codes.max(initial=-1) + 1, -1)
    place[codes[: others.num_rows]] = np.arange(others.num_rows)
    found: np.ndarray = place[codes[others.num_rows :]]
    return found


def _counted(answer: pa.Table, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each different row where it is first, and how many more there are of it, or fewer."""
    if any(pa.types.is_nested(field.type) for field in answer.schema):
        net, place = Counter[str](), dict[str, int]()
        for number, text in enumerate(map(repr, answer.to_pylist())):
            place.setdefault(text, number)
            net[text] += int(signs[number])
        return np.array([*place.values()], np.int64), np.array([net[text] for text in place], np.int64)
    codes = _codes(answer, tuple(answer.column_names))
    _, first = np.unique(codes, return_index=True)
    copies = np.bincount(codes, weights=signs, minlength=len(first)).astype(np.int64)
    return first, copies


def _codes(rows: pa.Table, columns: tuple[str, ...]) -> np.ndarray:
    """Numbers without a gap, equal where rows are equal in some columns."""
    codes = np.zeros(rows.num_rows, np.int64)
    for name in columns:
        found = rows.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        own = found.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, codes = np.unique(codes * max(1, len(found.dictionary)) + own, return_inverse=True)
    return codes
