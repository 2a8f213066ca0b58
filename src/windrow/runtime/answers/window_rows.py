"""The rows that windows hold, as their answers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.query_plan import QueryPlan


def row_by_row(query: QueryPlan, answers: pa.RecordBatch) -> pa.RecordBatch:
    """Answers whose last column has all rows of a window and a key, with a row for each of them."""
    schema, collected = query.emitted, answers.columns[-1]
    parents = pc.list_parent_indices(collected)
    columns = [column.take(parents) for column in answers.columns[:-1]]
    items = collected.flatten().flatten()
    columns += [item.cast(field.type) for item, field in zip(items, list(schema)[len(columns) :])]
    return pa.record_batch(columns, schema=schema)
