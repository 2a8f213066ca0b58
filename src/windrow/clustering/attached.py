"""Other aggregates of each cluster: partials beside the rows of a summary, which go wherever the rows go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.clustering.plugin import Moves
from windrow.clustering.summary import Summary, moved, rows_after
from windrow.kernels import Kernel, Rows

POINT = -1
"""The argument of an attached kernel that takes the point itself."""


@dataclass(frozen=True, slots=True)
class Attached:
    """Another aggregate of each cluster: its kernel, which child of the rows' struct it takes (None: no value), and
    which tells the rows that it takes (None: all)."""

    kernel: Kernel
    argument: int | None
    filter: int | None = None


def lift_attached(attached: Sequence[Attached], summary: Summary, moves: Moves, rows: Rows, part: np.ndarray) -> None:
    """Take the rows `part` into the partials of those rows of the summary that their points went to."""
    assert rows.values is not None
    children = rows.values.flatten()
    number = rows_after(moves, _rows(summary))
    places, times = pa.array(part), rows.times[part]
    for i, other in enumerate(attached):
        values = None
        if other.argument is not None:
            values = (rows.values if other.argument == POINT else children[other.argument]).take(places)
        mask = None
        if other.filter is not None:
            mask = children[other.filter].take(places).fill_null(False).to_numpy(zero_copy_only=False)
        fields = moved(other.kernel, summary.partials[i], moves.own, number)
        other.kernel.lift(fields, moves.incoming, Rows(values, times, mask))
        summary.partials[i] = fields


def merge_attached(attached: Sequence[Attached], summary: Summary, moves: Moves, newer: Summary) -> None:
    """Merge the partials of another summary as `moves` says that its rows were."""
    number = rows_after(moves, _rows(summary))
    for i, other in enumerate(attached):
        fields = moved(other.kernel, summary.partials[i], moves.own, number)
        other.kernel.combine(fields, moves.incoming, newer.partials[i])
        summary.partials[i] = fields


def exclude_attached(attached: Sequence[Attached], summary: Summary, moves: Moves, gone: Summary) -> None:
    """Take the partials of another summary out again."""
    for i, other in enumerate(attached):
        other.kernel.remove(summary.partials[i], moves.incoming, gone.partials[i])
        if moves.own is not None:
            number = int(moves.own.max(initial=-1)) + 1
            summary.partials[i] = moved(other.kernel, summary.partials[i], moves.own, number)


def _rows(summary: Summary) -> int:
    return len(next(iter(summary.partials[0].values())))
