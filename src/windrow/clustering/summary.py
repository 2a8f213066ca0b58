"""What a pane keeps of a group's points: the plug-in's summary, and other aggregates of each of its rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.clustering.plugin import Moves, Parameters
from windrow.errors import ClusteringError
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
    """Summaries as Arrow: a list of rows for each, where the plug-in has columns, or what pickle makes of them.

    A plug-in has columns if it has `rows(summary)`, arrays of as many rows by name, and `from_rows(parameters, rows)`.
    """

    def __init__(self, plugin: Any, parameters: Parameters, kernels: Sequence[Kernel], name: str) -> None:
        self._plugin, self._parameters, self._kernels, self._name = plugin, parameters, tuple(kernels), name
        self._in_columns = hasattr(plugin, "rows") and hasattr(plugin, "from_rows")

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        if all(summary is None for summary in objects):
            return pa.nulls(len(objects))
        return self._lists(objects) if self._in_columns else self._pickles(objects)

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        found = np.empty(len(column), object)
        if pa.types.is_null(column.type):
            return found
        if not self._in_columns:
            for i, block in enumerate(column):
                found[i] = Summary(*pickle.loads(block.as_py())) if block.is_valid else None
            return found
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths)
        struct = column.flatten()
        columns = {field.name: struct.field(field.name) for field in struct.type}
        rows = {name[1:]: _array(column) for name, column in columns.items() if name.startswith("=")}
        partials = [self._fields(i, kernel, columns, len(struct)) for i, kernel in enumerate(self._kernels)]
        for i, valid in enumerate(column.is_valid().to_pylist()):
            if valid:
                part = slice(int(ends[i] - lengths[i]), int(ends[i]))
                state = self._plugin.from_rows(self._parameters, {name: array[part] for name, array in rows.items()})
                found[i] = Summary(
                    state, [{name: array[part] for name, array in fields.items()} for fields in partials]
                )
        return found

    def _lists(self, objects: np.ndarray) -> pa.Array:
        held = [summary for summary in objects if summary is not None]
        tables = [self._plugin.rows(summary.state) for summary in held]
        columns = {f"={name}": _column([table[name] for table in tables]) for name in tables[0]}
        for i, kernel in enumerate(self._kernels):
            fields = concat([summary.partials[i] for summary in held])
            columns |= {f"{i}.{name}": column for name, column in to_arrow(kernel, fields).items()}
        known = {name: column for name, column in columns.items() if column is not None}
        struct = pa.StructArray.from_arrays(list(known.values()), names=list(known))
        sizes = iter([len(next(iter(table.values()))) for table in tables])
        lengths = np.array([0 if summary is None else next(sizes) for summary in objects], np.int64)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
        missing = np.array([summary is None for summary in objects])
        return pa.ListArray.from_arrays(offsets, struct, mask=pa.array(missing) if missing.any() else None)

    def _fields(self, i: int, kernel: Kernel, columns: dict[str, pa.Array], rows: int) -> Fields:
        prefix = f"{i}."
        own = {name[len(prefix) :]: column for name, column in columns.items() if name.startswith(prefix)}
        return from_arrow(kernel, own, rows)

    def _pickles(self, objects: np.ndarray) -> pa.Array:
        try:
            blocks = [None if s is None else pickle.dumps((s.state, s.partials), protocol=5) for s in objects]
        except Exception as error:
            raise ClusteringError(f"clustering {self._name}: its summary cannot be pickled: {error}") from error
        return pa.array(blocks, pa.binary())


def _column(arrays: Sequence[np.ndarray]) -> pa.Array | None:
    """Arrays one after the other as a column; rows of several numbers become lists of that size."""
    whole = np.concatenate(arrays)
    if whole.ndim == 1:
        return pa.array(whole)
    if whole.shape[1] == 0:
        return None
    return pa.FixedSizeListArray.from_arrays(pa.array(whole.reshape(-1)), whole.shape[1])


def _array(column: pa.Array) -> np.ndarray:
    if pa.types.is_fixed_size_list(column.type):
        return column.flatten().to_numpy().reshape(-1, column.type.list_size)
    return column.to_numpy()
