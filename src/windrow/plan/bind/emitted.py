"""What is sent of a query over changes, beside which of them: at which pace, when a condition begins, of nothing."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.language import Query, RowWindow, TimeWindow, error_at, window_of
from windrow.language.nodes import EMIT, Emit
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.groupings import NUMBER, grouped_by
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.nodes.changes import ClusterGroup, Group, Minus, Node, Project, Ranked, Scan, Select
from windrow.plan.nodes.emission import DELETES, SNAPSHOT
from windrow.plan.nodes.joins import Join, TableJoin

WHEN, KEY = "#when", "#key"
"""Columns behind the select list: whether the condition of EMIT WHEN holds, and the keys of the group."""


def refuse_pace(query: Query) -> None:
    """Refuse EMIT LAST EVERY of windows that are told when they end: what holds at an instant is another window."""
    emit = query.tree.args.get(EMIT)
    if emit is None or emit.args.get("every") is None:
        return
    windows = [found for table in query.tree.find_all(exp.Table, exp.Subquery) if (found := window_of(table))]
    written = next((window for window in windows if not isinstance(window, TimeWindow)), None)
    if written is None:
        return
    message = "EMIT LAST EVERY is for windows over time without a slide: these are told when they end"
    way_out = (
        "EMIT CHANGES, or a window over its answers: FROM (SELECT ...) AS answers [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    )
    if isinstance(written, RowWindow):
        way_out = "the last rows at each instant: [ROWS 100 SLIDE 10 SECONDS], with EMIT CHANGES"
    raise error_at(emit, message, query.text, way_out)


def refuse_empty(query: Query) -> None:
    """Refuse WITH EMPTY of windows that are never empty, or are no more when they are."""
    emit = query.tree.args.get(EMIT)
    if emit is None or not emit.args.get("empty"):
        return
    for table in query.tree.find_all(exp.Table, exp.Subquery):
        written = window_of(table)
        if written is not None and not isinstance(written, TimeWindow):
            message = "WITH EMPTY is for a RANGE of time: rows, and sessions, are there as long as their window is"
            raise error_at(emit, message, query.text, "leave WITH EMPTY out, or [RANGE 10 MINUTES SLIDE 1 MINUTE]")


def every_of(query: Query, slide_us: int | None) -> int | None:
    """How far apart net changes are sent, if something was said of it."""
    emit = query.tree.args.get(EMIT)
    if emit is None or emit.args.get("every") is None:
        return None
    if slide_us is not None:
        message = "windows with a slide do not end at each multiple of this period of EMIT LAST EVERY"
        raise error_at(emit, message, query.text, "a multiple of the slide; or that period as SLIDE, with EMIT CHANGES")
    period: int = emit.args["every"].us
    return period


def check_without_slide(emit: str, plan: Node, query: Query) -> None:
    """Refuse, of windows without a slide, answers at instants that they do not have, and `-` rows that never come."""
    if emit == SNAPSHOT:
        message, way_out = (
            "a window without SLIDE has no instants to answer at",
            "add a SLIDE to the windows, or EMIT CHANGES",
        )
        raise error_at(query.tree.args[EMIT], message, query.text, way_out)
    if emit == DELETES and not _deletes(plan):
        message = "this query never takes a row back"
        raise error_at(query.tree.args[EMIT], message, query.text, "EMIT INSERTS, or windows that end")


def _deletes(plan: Node) -> bool:
    """Whether a `-` can ever come."""
    if isinstance(plan, Scan):
        return plan.range_us is not None
    if isinstance(plan, Group | Minus | Ranked) or (isinstance(plan, Join | TableJoin) and plan.kind != "inner"):
        return True
    return any(_deletes(child) for child in plan.children)


def when_of(query: Query, scope: Scope) -> exp.Expr | None:
    """The condition of EMIT WHEN, if there is one; it is asked of groups."""
    emit, select = query.tree.args.get(EMIT), query.tree
    if emit is None or emit.args.get("when") is None:
        return None
    if not isinstance(select, exp.Select) or not aggregates(select, scope) or select.args.get("distinct"):
        message = "EMIT WHEN is asked of groups: of a SELECT with an aggregate, and without DISTINCT"
        way_out = (
            "WHERE, for each row of which it holds; SELECT k, COUNT(*) AS n FROM s [RANGE 1 MINUTE] GROUP BY k EMIT ..."
        )
        raise error_at(emit, message, query.text, way_out)
    condition: exp.Expr = emit.args["when"]
    return condition


def with_condition(query: Query, scope: Scope) -> tuple[exp.Expr, int]:
    """The query with the condition of EMIT WHEN and its group's keys behind the select list, and how many these are."""
    if when_of(query, scope) is None:
        return query.tree, 0
    copied = query.tree.copy()
    assert isinstance(copied, exp.Select)
    named = {node.alias.lower(): node.unalias() for node in copied.selects if node.alias}
    group = copied.args.get("group")
    given, sets = grouped_by(copied, scope)
    keys = [_meant(_placed(node, copied), named) for node in given]
    if group is not None and group.args.get("all"):
        keys = [node.unalias() for node in copied.selects if not calls_in(node, scope)]
    if sets is not None:
        keys.append(exp.GroupingId(expressions=[]))
        keys[-1].meta[NUMBER] = True
    asked = copied.args[EMIT].args["when"].transform(lambda node: _meant(node, named))
    hidden = [exp.alias_(asked, WHEN, quoted=True)]
    hidden += [exp.alias_(key.copy(), f"{KEY}{i}", quoted=True) for i, key in enumerate(keys)]
    copied.set("expressions", [*copied.expressions, *hidden])
    return copied, len(hidden)


def check_condition(plan: Node, hidden: int, query: Query) -> None:
    """Refuse a condition that is neither true nor false."""
    if hidden and not pa.types.is_boolean(plan.columns[-hidden].type):
        raise error_at(query.tree.args[EMIT].args["when"], "EMIT WHEN needs a condition", query.text)


def with_empty(plan: Node, query: Query) -> Node:
    """The plan, whose aggregate has a row of nothing once all its rows have gone, if that was asked for.

    Hammad et al. (2003), section 2.2, produce a NULL tuple then.
    """
    emit = query.tree.args.get(EMIT)
    if not isinstance(emit, Emit) or not emit.args.get("empty"):
        return plan
    found = _emptied(plan)
    if found is None:
        message = "WITH EMPTY is for an aggregate of all rows: groups that have gone would be kept for ever"
        raise error_at(emit, message, query.text, "leave out GROUP BY, or WITH EMPTY")
    return found


def _emptied(plan: Node) -> Node | None:
    if isinstance(plan, Group) and not isinstance(plan, ClusterGroup) and not plan.keys:
        return replace(plan, empty=True)
    if isinstance(plan, Project | Select):
        below = _emptied(plan.child)
        return None if below is None else plan.with_children([below])
    return None


def _placed(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """What is grouped by: a number is a place in the select list."""
    if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(select.selects):
        return select.selects[int(node.name) - 1].unalias()
    return node


def _meant(node: exp.Expr, named: dict[str, exp.Expr]) -> exp.Expr:
    """What a name means that the select list may have given."""
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
        return named[node.name.lower()].copy()
    return node
