"""Joins with the answers of sessions, of rows or of a calendar: these do not end together, and are read as a stream."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.language import TimeWindow, Window, query_window_of, window_of
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.is_table import is_table
from windrow.plan.bind.over_changes import aggregates

Named = Mapping[str, exp.CTE]


def is_joined_answers(source: exp.Expr, scope: Scope) -> bool:
    """Whether what stands in FROM is a query whose answers are joined as events of a stream.

    Windows that slide in time end together, and a join of their answers is one of what ends at the same instant. Where
    one of those that are joined has other windows, all of them are streams of answers, each at its own time. Rows that
    are joined with tables before an aggregate above folds them are no answers yet.
    """
    clause = source.parent
    if not isinstance(clause, exp.From | exp.Join) or not isinstance(clause.parent, exp.Select):
        return False
    select = clause.parent
    if not select.args.get("joins") or window_of(source) is not None:
        return False
    named = named_around(source)
    sources = [select.args["from_"].this, *(join.this for join in select.args["joins"])]
    answered = [_windows(each, named) for each in sources]
    ends_apart = any(not isinstance(window, TimeWindow) for windows in answered for window in windows)
    if not ends_apart or not _windows(source, named):
        return False
    if sum(not is_table(each, named, scope) for each in sources) > 1:
        return True
    body = source.this if isinstance(source, exp.Subquery) else named[source.name.lower()].this
    folded_below = any(aggregates(each, scope) for each in body.find_all(exp.Select))
    return folded_below or not any(aggregates(each, scope) for each in source.root().find_all(exp.Select))


def _windows(source: exp.Expr, named: Named) -> list[Window]:
    """The windows by which the answers of a sub-query end; a stream, and what has a window over it, has none."""
    if not isinstance(source, exp.Subquery | exp.Table) or window_of(source) is not None:
        return []
    if isinstance(source, exp.Subquery):
        return _windows_of(source.this, named)
    name = source.name.lower()
    if name not in named:
        return []
    return _windows_of(named[name].this, {other: query for other, query in named.items() if other != name})


def _windows_of(body: exp.Expr, named: Named) -> list[Window]:
    query = body.unnest()
    if isinstance(query, exp.SetOperation):
        return [window for side in (query.this, query.expression) for window in _windows_of(side, named)]
    if not isinstance(query, exp.Select) or query.args.get("from_") is None:
        return []
    sources = [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]
    found = [window for each in sources if (window := window_of(each)) is not None]
    whole = query_window_of(query)
    found += [whole] if whole is not None else []
    return found + [window for each in sources for window in _windows(each, named)]


def named_around(node: exp.Expr) -> dict[str, exp.CTE]:
    """What WITH has named around `node`: the queries before the one that it stands in itself."""
    found: dict[str, exp.CTE] = {}
    inside: exp.Expr | None = node
    while inside is not None:
        around = inside.parent
        clause = around.args.get("with_") if around is not None else None
        if clause is not None and clause is not inside:
            for common in clause.expressions:
                found.setdefault(common.alias.lower(), common)
        if isinstance(around, exp.With):
            for common in around.expressions:
                if common is inside:
                    break
                found.setdefault(common.alias.lower(), common)
            inside = around.parent
            continue
        inside = around
    return found
