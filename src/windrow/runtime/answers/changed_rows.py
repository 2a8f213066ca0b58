"""Changes as their reader sees them: `-` what a group had, `+` what it has."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.plan.nodes.emission import HAD, HAS, OPERATIONS, WHEN, as_was
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.keys import same_values


def changed_rows(rows: pa.Table, query: QueryPlan, zone: str) -> pa.Table:
    """The changes of one query, from the rows that slide emits: `-` what a group had, then `+` what it has."""
    sides = {
        operation: _side(rows, query, flag, was, zone) for operation, flag, was in (("-", HAD, True), ("+", HAS, False))
    }
    same = sides["-"][0] & sides["+"][0]
    if query.emit != WHEN:  # a group that goes on to fulfil the condition is not told again, whatever it has become
        for old, new in zip(sides["-"][1], sides["+"][1]):
            same &= same_values(_one(old), _one(new))
    sent = {operation: np.flatnonzero(sides[operation][0] & ~same) for operation in OPERATIONS[query.emit]}
    order = np.concatenate([2 * rows + (operation == "+") for operation, rows in sent.items()])
    places = pa.array(np.argsort(order, kind="stable"))
    columns: dict[str, pa.Array] = {
        "op": pa.array([operation for operation, rows in sent.items() for _ in range(len(rows))], pa.string())
    }
    chosen = pa.array(np.concatenate(list(sent.values())))
    columns |= {name: _one(rows[name]).take(chosen) for name in query.leading if name != "op"}
    for i, output in enumerate(query.outputs):
        parts = [_one(sides[operation][1][i]).take(pa.array(rows)) for operation, rows in sent.items()]
        columns[output.name] = pa.concat_arrays(parts)
    return pa.table(columns).take(places)


def _side(
    rows: pa.Table, query: QueryPlan, flag: str, was: bool, zone: str
) -> tuple[np.ndarray, list[pa.ChunkedArray]]:
    """Which rows there are of what was, or of what is, and their columns."""
    there = rows[flag].to_numpy()
    if query.having is not None:
        kept = evaluate_text(as_was(query.having) if was else query.having, rows, zone)
        there = there & _one(kept).fill_null(False).to_numpy(zero_copy_only=False)
    return there, [evaluate_text(as_was(output.sql) if was else output.sql, rows, zone) for output in query.outputs]


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
