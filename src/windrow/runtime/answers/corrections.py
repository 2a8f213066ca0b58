"""Answers of windows that late events may correct: as they are told first, and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.emission import HAD, HAS
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.windows import Answers


@dataclass(frozen=True, slots=True)
class Correction:
    """Groups of windows that have been answered: row i of `was` and of `now` are of the same window and group.

    Where `had` is false, the window held nothing of the group, so nothing was told; where `has` is, nothing holds.
    """

    was: Answers
    now: Answers
    had: np.ndarray
    has: np.ndarray


def told_first(query: QueryPlan, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The answers of windows that have ended: nothing was told of them before."""
    nothing = [pa.nulls(rows.num_rows, aggregate.type) for aggregate in query.aggregates]
    return _together(query, rows, nothing, *(np.full(rows.num_rows, flag) for flag in (False, True)))


def told_again(
    query: QueryPlan, now: pa.RecordBatch, was: pa.RecordBatch, had: np.ndarray, has: np.ndarray
) -> pa.RecordBatch:
    """What holds `now` beside what `was` told of the same windows and groups, row by row; some are of one side only."""
    older = [was.column(f"agg_{i}") for i in range(len(query.aggregates))]
    return _together(query, now, older, had, has)


def _together(
    query: QueryPlan, now: pa.RecordBatch, was: list[pa.Array], had: np.ndarray, has: np.ndarray
) -> pa.RecordBatch:
    flags = {HAS: pa.array(has), HAD: pa.array(had)}
    older = {f"was_agg_{i}": column for i, column in enumerate(was)}
    known = {**dict(zip(now.schema.names, now.columns)), **flags, **older}
    return pa.record_batch([known[field.name] for field in query.changed], schema=query.changed)
