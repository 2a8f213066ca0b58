"""Joins with tables as text: what is joined before the panes, where, and why."""

from __future__ import annotations

from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stream_plan import StreamPlan


def joined_lines(plan: StreamPlan) -> list[str]:
    """For each join of the stream with tables that some space counts the rows of, its steps and what is evaluated."""
    lines = []
    for rows in plan.joined:
        lines.append(f"  joins {plan.stream} with {', '.join(rows.tables)} before the panes: it stays a stream")
        lines += [f"    {step}" for step in rows.steps]
        over_both = [text for text in plan.texts_of(rows) if not rows.is_of_stream(text)]
        where = "by Spark, from the joined rows" if plan.joins_first else "in the map task that joins"
        lines += [f"    evaluates {text} {where}" for text in over_both]
    if plan.joined and plan.joins_first:
        lines.append("  rows are joined in a step before, and go once more to Spark: some function is Spark's alone")
    return lines


def look_up_lines(query: QueryPlan) -> list[str]:
    """The tables that are looked up for the answers of a query."""
    if query.look_up is None:
        return []
    lines = [f"      {step}, of each answer: nothing of it is counted" for step in query.look_up.rows.steps]
    return lines + [f"      look_{number} = {key.sql}" for number, key in enumerate(query.look_up.columns)]
