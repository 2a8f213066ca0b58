"""Whether a window over the answers of another is folded in the shards that give them, or in a stage more."""

from __future__ import annotations

from windrow.plan.nodes.groupings import keys_of_all
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.windows.row_window import CountWindow


def stages_over(query: QueryPlan) -> int:
    """In how many stages a query runs, with all that its stream is made of."""
    if query.made_of is None:
        return 1
    return query.made_of.stages + (0 if stays_in_shard(query, query.made_of) else 1)


def stays_in_shard(query: QueryPlan, inner: AnyQuery) -> bool:
    """Whether all answers of `inner` that a group of `query` needs are given by one shard."""
    return why_not(query, inner) is None


def why_not(query: QueryPlan, inner: AnyQuery) -> str | None:
    """Why a group of `query` may need answers of `inner` that several shards give; None where it does not.

    Groups are spread over the shards by all of their keys. So a group that has all keys of the inner one finds them in
    one place, and all are in one place where the inner query has no keys. Rows that are numbered over all groups are
    numbered by one who sees them all.
    """
    if not isinstance(inner, QueryPlan):
        return "operators over changes may give the answers in any shard"
    if not inner.keys:
        return None
    columns = {output.name.lower(): output.sql for output in inner.outputs}
    counted = isinstance(query.window, CountWindow)
    grouped = query.window.partition if counted else tuple(key.sql for key in keys_of_all(query.keys))
    if counted and not grouped:
        return "rows are numbered over all groups of the answers"
    reached = {columns.get(text.strip("`").lower()) for text in grouped}
    lacking = [key.sql for number, key in enumerate(inner.keys) if f"key_{number}" not in reached]
    groups = f"groups by {', '.join(grouped)} lack" if grouped else "one group lacks"
    return f"{groups} {', '.join(lacking)} of the answers' keys" if lacking else None
