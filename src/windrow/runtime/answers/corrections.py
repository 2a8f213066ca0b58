"""Answers of windows that late events may correct: as they are told first, and again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.emission import HAD, HAS
from windrow.plan.nodes.query_plan import QueryPlan


def told_first(query: QueryPlan, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The answers of windows that have ended: nothing was told of them before."""
    nothing = [pa.nulls(rows.num_rows, aggregate.type) for aggregate in query.aggregates]
    return _together(query, rows, np.zeros(rows.num_rows, bool), nothing)


def told_again(query: QueryPlan, now: pa.RecordBatch, was: pa.RecordBatch, had: np.ndarray) -> pa.RecordBatch:
    """What holds `now` beside what `was` told of the same windows and groups, row by row; of some nothing was."""
    older = [was.column(f"agg_{i}") for i in range(len(query.aggregates))]
    return _together(query, now, had, older)


def _together(query: QueryPlan, now: pa.RecordBatch, had: np.ndarray, was: list[pa.Array]) -> pa.RecordBatch:
    flags = {HAS: pa.array(np.ones(now.num_rows, bool)), HAD: pa.array(had)}
    older = {f"was_agg_{i}": column for i, column in enumerate(was)}
    known = {**dict(zip(now.schema.names, now.columns)), **flags, **older}
    return pa.record_batch([known[field.name] for field in query.changed], schema=query.changed)
