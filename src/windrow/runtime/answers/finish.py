"""What is left to do with the rows that slide emits: HAVING, rankings, the select list, ORDER BY and LIMIT."""

from __future__ import annotations

import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.expressions.session_zones import UTC
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.changed_rows import changed_rows
from windrow.runtime.answers.rankings import first_rows, numbered
from windrow.runtime.answers.top import Term, first_of_each_window

PART_ROWS = 1 << 14
"""Where batches have more rows than this on average, each is finished by itself."""


def finish_part(rows: pa.Table, query: QueryPlan | ChangePlan, zone: str = UTC) -> pa.Table:
    """The rows of one shard, as far as it can tell: of those that are ranked, its own first ones, and their ranks.

    Expressions are evaluated in the `zone` of the session.
    """
    if isinstance(query, ChangePlan):
        return rows
    if query.emit != SNAPSHOT:
        return changed_rows(rows, query, zone)
    if query.rankings:
        return first_rows(_kept(rows, query, zone), query, zone)
    shown = pa.concat_tables([_shown(_kept(part, query, zone), query, zone) for part in _parts(rows)])
    return _in_order(shown, query) if query.order and query.limit is not None else shown


def _parts(rows: pa.Table) -> list[pa.Table]:
    """The rows as they came, where each batch has many: expressions copy the batches of a table into one."""
    parts = rows.to_batches()
    return [pa.table(part) for part in parts] if rows.num_rows > PART_ROWS * len(parts) else [rows]


def _kept(rows: pa.Table, query: QueryPlan, zone: str) -> pa.Table:
    return rows if query.having is None else rows.filter(evaluate_text(query.having, rows, zone))


def _shown(rows: pa.Table, query: QueryPlan, zone: str) -> pa.Table:
    shown = {name: rows[name] for name in query.leading}
    for output in query.outputs:
        shown[output.name] = evaluate_text(output.sql, rows, zone)
    if query.order:
        for (name, _), term in zip(_terms(query), query.order):
            shown[name] = evaluate_text(term.sql, rows, zone)
        for name, source in zip(_windows(query), query.told_apart_by):
            shown[name] = rows[source]
    return pa.table(shown)


def finish_whole(parts: pa.Table, query: QueryPlan | ChangePlan, zone: str = UTC) -> pa.Table:
    """The rows as their reader sees them, from the parts of all shards."""
    if isinstance(query, ChangePlan) or not query.compares_rows or query.emit != SNAPSHOT:
        return parts
    if query.rankings:
        parts = numbered(parts, query, zone)
        if query.qualify is not None:
            parts = parts.filter(evaluate_text(query.qualify, parts, zone))
        parts = _shown(parts, query, zone)
    if not query.order:
        return parts
    return _in_order(parts, query).drop_columns([*(name for name, _ in _terms(query)), *_windows(query)])


def _in_order(rows: pa.Table, query: QueryPlan) -> pa.Table:
    return first_of_each_window(rows, [term for _, term in _terms(query)], query.limit, _windows(query))


def _terms(query: QueryPlan) -> list[tuple[str, Term]]:
    named = [(f"order {i}", term) for i, term in enumerate(query.order)]
    return [(name, Term(name, term.descending, term.nulls_first)) for name, term in named]


def _windows(query: QueryPlan) -> list[str]:
    return [f"window {i}" for i in range(len(query.told_apart_by))]
