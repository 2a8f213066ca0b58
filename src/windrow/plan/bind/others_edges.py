"""How other engines name the edges of a window: `window.start`, TUMBLE_START(ts, INTERVAL '1' MINUTE), window_time."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import as_written, error_at, expression_sql, parse_expression
from windrow.plan.bind.names import placed_as

_EDGES = {"start": "window_start", "end": "window_end"}
_STRUCTS = ("window", "session_window")
_GROUPS = ("tumble", "hop", "session")
"""Flink's and Calcite's windows in GROUP BY, and the beginnings of the names of their edges: TUMBLE_START(...)."""
_OF_GROUPS = {
    "start": "window_start",
    "end": "window_end",
    "rowtime": "window_end - INTERVAL 1 MILLISECOND",
}
_STRUCT = "STRUCT(window_start AS start, window_end AS end)"


def is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in (*_STRUCTS, *_GROUPS)


def last_instant() -> exp.Expr:
    """The last millisecond of a window, which is the time of its rows in Flink."""
    return parse_expression(_OF_GROUPS["rowtime"])


def selected(node: exp.Expr, call: exp.Anonymous, text: str) -> exp.Expr:
    """An item of the select list; `window.start` has the name that it has in Spark, TUMBLE_START(...) its own."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    changed = over_edges(node, call, text)
    if changed is node or isinstance(changed, exp.Alias):
        return changed
    named = {"window_start": "start", "window_end": "end"}.get(changed.name if isinstance(changed, exp.Column) else "")
    if name.split("_")[0] in _GROUPS:
        named = name
    return placed_as(exp.alias_(changed, named or call.name.lower(), quoted=True), node)


def over_edges(node: exp.Expr, call: exp.Anonymous, text: str) -> exp.Expr:
    """What is said of the window, said of its edges."""
    meant = expression_sql(call)

    def changed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table.lower() in _STRUCTS and part.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.name.lower()]), part)
        if isinstance(part, exp.Dot) and is_window(part.this) and part.expression.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.expression.name.lower()]), part)
        struct = isinstance(part, exp.Column) and not part.table and part.name.lower() in _STRUCTS
        if struct or (is_window(part) and expression_sql(part) == meant):
            return placed_as(parse_expression(_STRUCT), part)
        return _edge_of_group(part, call, text) or part

    return node.transform(changed, copy=False)


def _edge_of_group(part: exp.Expr, call: exp.Anonymous, text: str) -> exp.Expr | None:
    """The edge that `TUMBLE_START(ts, INTERVAL '1' MINUTE)` names; its arguments are those of GROUP BY."""
    kind, _, edge = part.name.lower().partition("_") if isinstance(part, exp.Anonymous) else ("", "", "")
    if kind not in _GROUPS or not edge:
        return None
    own = [expression_sql(argument) for argument in part.expressions]
    if kind != call.name.lower() or own != [expression_sql(argument) for argument in call.expressions]:
        way_out = f"{kind.upper()}_START({', '.join(as_written(one, text) or one.sql() for one in call.expressions)})"
        message = f"{part.name} is of the window of GROUP BY, with the same arguments"
        raise error_at(part, message, text, way_out if kind == call.name.lower() else "window_start, window_end")
    if edge not in _OF_GROUPS:
        raise error_at(
            part, f"{part.name} is not part of the language", text, f"{kind.upper()}_START, {kind.upper()}_END"
        )
    return placed_as(parse_expression(_OF_GROUPS[edge]), part)
