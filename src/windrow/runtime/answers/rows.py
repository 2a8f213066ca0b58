"""Answers as the rows of a query."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels.rounding import rounding_of
from windrow.plan.instants import shown_starts
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.parts import NestedWindow, level_of
from windrow.plan.windows.row_levels import NestedRows
from windrow.runtime.answers.windows import Answers, ManyAnswers
from windrow.runtime.group_slots import GroupSlots


def answer_rows(
    query: QueryPlan, groups: GroupSlots, answers: Answers, user: Mapping[str, type]
) -> tuple[pa.RecordBatch, int]:
    """The rows of one query: times, keys, and the aggregates drawn from their partials, or from clusters.

    Returns also how many values are NULL because their type cannot hold them.
    """
    if answers.among is not None and query.clusters is None and not isinstance(query.window, NestedRows):
        many, first = answers.among
        made = rows_of_many(query, groups, many, user)
        if made is not None:
            return made.slice(first, len(answers.ends)), 0
    overflows = 0
    clusters = answers.clusters_for(query)
    if clusters is not None:
        answers = answers.taken(clusters.rows)
    starts = pa.nulls(len(answers.ends), pa.int64()) if answers.starts is None else shown_starts(answers.starts)
    schema = query.answered
    columns = [starts.cast(schema.field(0).type), pa.array(answers.ends).cast(schema.field(1).type)]
    if answers.rows is not None:
        columns.append(pa.array(answers.rows))
    if isinstance(query.window, NestedWindow | NestedRows) and answers.window is not None:
        level = pa.scalar(level_of(query.window, answers.window), pa.int32())
        columns.append(pa.repeat(level, len(answers.ends)))
    if "final" in schema.names:
        columns.append(pa.repeat(not answers.early, len(answers.ends)))
    if "due" in schema.names:
        columns.append(pa.array(answers.ends if answers.instants is None else answers.instants))
    if "as_of" in schema.names:
        columns.append(columns[-1].cast(schema.field("as_of").type))
    columns += groups.keys_of(answers.slots)
    for aggregate in query.aggregates:
        if clusters is not None:
            lowered = clusters.lower(aggregate, answers.until)
        else:
            kernel = kernel_of(aggregate.partial, user)
            number = (answers.kept or query.partials).index(aggregate.partial)
            partials = kernel.ended(answers.partials[number], answers.until)
            lowered = kernel.lower(partials, aggregate.answer, aggregate.type)
        overflows += lowered.overflows
        columns.append(lowered.values)
    return pa.record_batch(columns, schema=schema), overflows


def rows_of_many(
    query: QueryPlan, groups: GroupSlots, many: ManyAnswers, user: Mapping[str, type]
) -> pa.RecordBatch | None:
    """The rows of all windows of `many` as a query has them; None where values are NULL, for each counts its own."""
    if query.aggregates not in many.made:
        batch, overflows = answer_rows(query, groups, many.answers, user)
        many.made[query.aggregates] = None if overflows else batch
    return many.made[query.aggregates]


def answer_rounding(query: QueryPlan, answers: Answers, user: Mapping[str, type]) -> dict[str, np.ndarray]:
    """The columns of `answer_rows` that may be off by rounding, with how far in each row."""
    clusters = answers.clusters_for(query)
    found = {}
    for i, aggregate in enumerate(query.aggregates):
        if clusters is not None:
            far = clusters.rounding(aggregate)
        else:
            number = (answers.kept or query.partials).index(aggregate.partial)
            far = rounding_of(kernel_of(aggregate.partial, user), answers.partials[number], aggregate.answer)
        if far is not None:
            found[f"agg_{i}"] = far
    return found
