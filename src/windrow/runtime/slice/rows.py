"""Events into rows that wait for their numbers: what a map task does for windows that count rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from windrow.clustering.point_rows import only_places
from windrow.clustering.taken_rows import ROW as POINT_ROW
from windrow.clustering.taken_rows import column_of
from windrow.kernels import Kernel, identity, to_arrow
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.groupings import plain_keys, sets_in
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.runtime.keys import canonical
from windrow.runtime.rows.pending_rows import TIME
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.grouping_sets import repeated_rows

ROW = "row"
"""The column that tells which of the times that were sent before is a row's."""

OPENS, CLOSES = "opens", "closes"
"""The columns that tell which rows a window may open with, and which close it."""


def counted_rows(space: RowSpace, chunk: Chunk) -> np.ndarray:
    """Which of the events that have a time are rows of the windows."""
    condition = space.window.counted
    return chunk.timed if condition is None else chunk.timed & chunk.passed(condition)


def row_entries(space: RowSpace, kernels: Mapping[Partial, Kernel], chunk: Chunk) -> pa.RecordBatch | None:
    """The rows of `space`, each with its keys and a partial of its own.

    Where a shard gets all rows that it numbers they come with their times, and those that WHERE keeps out come as empty
    partials, since they are counted all the same. Else they come without both: the order of all rows is sent apart.
    Points of clusterings come as they are, where the shard knows which are together.
    """
    counted = counted_rows(space, chunk)
    inside = counted if space.where is None else counted & chunk.passed(space.where)
    sent = np.flatnonzero(counted if space.is_alone else inside)
    if not len(sent):
        return None
    codes = np.full(len(chunk), -1)
    codes[sent] = np.where(inside[sent], np.arange(len(sent)), -1)
    columns: dict[str, pa.Array] = {}
    if space.is_alone:
        columns[TIME] = pa.array(chunk.times[sent])
        if isinstance(space.window, PredicateWindow):
            columns[OPENS] = pa.array(chunk.passed(space.window.opens)[sent])
            columns[CLOSES] = pa.array(chunk.passed(space.window.closes)[sent])
    else:
        columns[ROW] = pa.array((np.cumsum(counted) - 1)[sent])
    for i, key in enumerate(plain_keys(space.keys)):
        columns[f"key_{i}"] = canonical(chunk.column(key.sql).take(pa.array(sent)))
    for partial in space.partials:
        if isinstance(partial, ClusterPartial) and space.holds_points:
            columns[f"{partial.name}.{POINT_ROW}"] = _points(partial, chunk, sent, inside)
            continue
        fields = identity(kernels[partial], len(sent))
        kernels[partial].lift(fields, codes, chunk.rows(partial))
        stored = to_arrow(kernels[partial], fields, whole=True)
        columns |= {f"{partial.name}.{name}": column for name, column in stored.items()}
    rows = pa.record_batch(columns)
    return repeated_rows(rows, space.keys) if sets_in(space.keys) else rows


def _points(partial: ClusterPartial, chunk: Chunk, sent: np.ndarray, inside: np.ndarray) -> pa.Array:
    """The rows of a clustering, none where WHERE keeps a row out."""
    rows = column_of(chunk.rows(partial), only_places(partial))
    return rows.take(pa.array(sent, mask=~inside[sent]))
