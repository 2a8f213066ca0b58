"""What a pane keeps of a group's points: the plug-in's summary, and other aggregates of each of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.clustering.algorithm import Algorithm
from windrow.clustering.plugin import Moves, Parameters
from windrow.kernels import Fields, Kernel, concat, from_arrow, identity, to_arrow
from windrow.kernels.footprint import bytes_of, size_of


@dataclass(slots=True)
class Summary:
    """A plug-in's `state`, and for each other aggregate the fields of its kernel, with an element a row.

    Only its `owner` may change it; None: nobody.
    """

    state: Any
    partials: list[Fields]
    owner: object | None = None

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return size_of(self.state) + sum(map(bytes_of, self.partials))


def moved(kernel: Kernel, fields: Fields, own: np.ndarray | None, rows: int) -> Fields:
    """The partials of rows that have moved to where `own` says; rows that are one now are combined."""
    into = identity(kernel, rows)
    if own is None:
        own = np.arange(len(next(iter(fields.values()))))
    kept = own >= 0
    kernel.combine(into, own[kept], {name: column[kept] for name, column in fields.items()})
    return into


def rows_after(moves: Moves, known: int) -> int:
    """How many rows a summary of `known` has after `moves`."""
    own = known - 1 if moves.own is None else int(moves.own.max(initial=-1))
    return max(own, int(moves.incoming.max(initial=-1))) + 1


class SummaryCodec:
    """Summaries as Arrow: a list of rows for each, where the plug-in has columns, or its state as bytes, and beside it
    a list of the attached partials of its rows.

    A plug-in has columns if it has `rows(summary)`, arrays of as many rows by name, and `from_rows(parameters, rows)`.
    """

    def __init__(self, plugin: Algorithm, parameters: Parameters, kernels: Sequence[Kernel], name: str) -> None:
        self._plugin, self._parameters, self._kernels, self._name = plugin, parameters, tuple(kernels), name
        self._in_columns = plugin.in_columns
        self._states = plugin.states(name)

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        if all(summary is None for summary in objects):
            return pa.nulls(len(objects))
        held = [summary for summary in objects if summary is not None]
        missing = np.array([summary is None for summary in objects])
        partials = self._partials(held)
        if self._in_columns:
            tables = [self._plugin.rows(summary.state) for summary in held]
            columns = {f"={name}": _column([table[name] for table in tables]) for name in tables[0]}
            return _lists(columns | partials, [len(next(iter(table.values()))) for table in tables], missing)
        states = np.empty(len(objects), object)
        states[:] = [None if summary is None else summary.state for summary in objects]
        stored = [self._states.to_arrow(states)]
        if self._kernels:
            stored.append(_lists(partials, [len(next(iter(s.partials[0].values()))) for s in held], missing))
        return pa.StructArray.from_arrays(stored, names=["state", "rows"][: len(stored)], mask=pa.array(missing))

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        found = np.empty(len(column), object)
        if pa.types.is_null(column.type):
            return found
        known = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        if not self._in_columns:
            states, *rows = column.flatten()
            held = self._states.from_arrow(states)
            partials = self._read(rows[0])[1] if rows else [[] for _ in held]
            for i in known.tolist():
                found[i] = Summary(held[i], partials[i])
            return found
        tables, partials = self._read(column)
        for i in known.tolist():
            found[i] = Summary(self._plugin.from_rows(self._parameters, tables[i]), partials[i])
        return found

    def _read(self, column: pa.Array) -> tuple[list[dict[str, np.ndarray]], list[list[Fields]]]:
        """For each list of rows its own columns, and the attached partials."""
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths)
        struct = column.flatten()
        columns = {field.name: struct.field(field.name) for field in struct.type}
        rows = {name[1:]: _array(column) for name, column in columns.items() if name.startswith("=")}
        attached = [self._fields(i, kernel, columns, len(struct)) for i, kernel in enumerate(self._kernels)]
        parts = [slice(int(end - length), int(end)) for end, length in zip(ends, lengths)]
        tables = [{name: array[part] for name, array in rows.items()} for part in parts]
        return tables, [
            [{name: array[part] for name, array in fields.items()} for fields in attached] for part in parts
        ]

    def _partials(self, held: Sequence[Summary]) -> dict[str, pa.Array | None]:
        columns: dict[str, pa.Array | None] = {}
        for i, kernel in enumerate(self._kernels):
            fields = concat([summary.partials[i] for summary in held])
            columns |= {f"{i}.{name}": column for name, column in to_arrow(kernel, fields).items()}
        return columns

    def _fields(self, i: int, kernel: Kernel, columns: dict[str, pa.Array], rows: int) -> Fields:
        prefix = f"{i}."
        own = {name[len(prefix) :]: column for name, column in columns.items() if name.startswith(prefix)}
        return from_arrow(kernel, own, rows)


def _lists(columns: dict[str, pa.Array | None], lengths: Sequence[int], missing: np.ndarray) -> pa.Array:
    """Rows one after the other as a list for each summary that is there, of which each has so many."""
    known = {name: column for name, column in columns.items() if column is not None}
    struct = pa.StructArray.from_arrays(list(known.values()), names=list(known))
    each = np.zeros(len(missing), np.int64)
    each[~missing] = lengths
    offsets = pa.array(np.concatenate([[0], np.cumsum(each)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, struct, mask=pa.array(missing) if missing.any() else None)


def _column(arrays: Sequence[np.ndarray]) -> pa.Array | None:
    """Arrays one after the other as a column; rows of several numbers become lists of that size."""
    whole = np.concatenate(arrays)
    if whole.ndim == 1:
        return pa.array(whole)
    if whole.shape[1] == 0:
        return None
    return pa.FixedSizeListArray.from_arrays(pa.array(whole.reshape(-1)), whole.shape[1])


def _array(column: pa.Array) -> np.ndarray:
    is_list = pa.types.is_fixed_size_list(column.type)
    array: np.ndarray = (column.flatten() if is_list else column).to_numpy()
    return array.reshape(-1, column.type.list_size) if is_list else array
