"""Windows in others' words: Spark's `GROUP BY window(ts, '10 minutes')`; they must be over a stream's own time."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import Query, as_written, error_at, expression_sql, parse_duration, parse_expression, span_of
from windrow.language.parsing.table_functions import TIMED_BY, window_by_starts
from windrow.plan.bind.names import placed_as
from windrow.plan.catalog import Catalog

_EXAMPLE = "GROUP BY window(ts, '10 minutes', '1 minute')"
_EDGES = {"start": "window_start", "end": "window_end"}
_STRUCT = "STRUCT(window_start AS start, window_end AS end)"


def read_others_windows(query: Query, catalog: Catalog) -> Query:
    """The same query with windows as ours are, behind the names of streams."""
    tree = query.tree.copy()
    for select in tree.find_all(exp.Select):
        calls = _window_calls(select)
        if calls:
            _move(select, calls, query.text)
    for table in tree.find_all(exp.Table):
        window = table.args.get("stream_window")
        if window is not None and TIMED_BY in window.meta:
            _check_time(table, window.meta[TIMED_BY], catalog, query.text)
    return replace(query, tree=tree)


def _window_calls(select: exp.Select) -> list[exp.Anonymous]:
    group = select.args.get("group")
    return [] if group is None else [node for node in group.expressions if _is_window(node)]


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "window"


def _move(select: exp.Select, calls: list[exp.Anonymous], text: str) -> None:
    """The window of GROUP BY goes behind the stream, and `window.start` becomes `window_start`."""
    call, from_clause = calls[0], select.args.get("from_")
    source = None if from_clause is None else from_clause.this
    if len({expression_sql(each) for each in calls}) > 1:
        raise error_at(calls[1], "a query has one window", text, _EXAMPLE)
    if select.args.get("joins") or not isinstance(source, exp.Table) or source.args.get("stream_window") is not None:
        hint = "[RANGE 10 MINUTES SLIDE 1 MINUTE] behind the name of each stream"
        raise error_at(call, "window(...) is read where FROM names one stream, without a window of its own", text, hint)
    if not 2 <= len(call.expressions) <= 4:
        raise error_at(call, "window takes a time, a length, and perhaps a slide and a start", text, _EXAMPLE)
    timed_by, *lengths = call.expressions
    range_us, *others = [_length_us(node, text) for node in lengths]
    slide_us, start_us = (others[0] if others else range_us), (others[1] if len(others) > 1 else 0)
    if range_us <= 0 or not 0 < slide_us <= range_us:
        raise error_at(call, "a window has a length, and its slide is positive and no longer", text, _EXAMPLE)
    span = span_of(call) or (0, 0)
    source.set("stream_window", window_by_starts(range_us, slide_us, start_us, timed_by, *span))
    meant = expression_sql(call)
    group = select.args["group"]
    group.set("expressions", [node for node in group.expressions if not _is_window(node)])
    if not any(group.args.get(name) for name in ("expressions", "cube", "rollup", "grouping_sets", "all")):
        select.set("group", None)
    select.set("expressions", [_selected(node, meant) for node in select.expressions])
    for clause in ("having", "order"):
        if select.args.get(clause) is not None:
            select.set(clause, _over_edges(select.args[clause], meant))


def _selected(node: exp.Expr, meant: str) -> exp.Expr:
    """An item of the select list; `window.start` has the name that it has in Spark."""
    changed = _over_edges(node, meant)
    if changed is node or isinstance(changed, exp.Alias):
        return changed
    named = {"window_start": "start", "window_end": "end"}.get(changed.name if isinstance(changed, exp.Column) else "")
    return placed_as(exp.alias_(changed, named or "window", quoted=True), node)


def _over_edges(node: exp.Expr, meant: str) -> exp.Expr:
    def changed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table.lower() == "window" and part.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.name.lower()]), part)
        if isinstance(part, exp.Dot) and _is_window(part.this) and part.expression.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.expression.name.lower()]), part)
        struct = isinstance(part, exp.Column) and not part.table and part.name.lower() == "window"
        if struct or (_is_window(part) and expression_sql(part) == meant):
            return placed_as(parse_expression(_STRUCT), part)
        return part

    return node.transform(changed, copy=False)


def _length_us(node: exp.Expr, text: str) -> int:
    written = node.name if isinstance(node, exp.Literal) and node.is_string else as_written(node, text)
    try:
        return parse_duration(written or expression_sql(node))
    except QueryError as error:
        raise error_at(node, error.message, text, error.hint or _EXAMPLE) from None


def _check_time(table: exp.Table, timed_by: exp.Expr, catalog: Catalog, text: str) -> None:
    """A window is over the time of its stream; that of another column would be another window."""
    stream = catalog.streams.get(table.name)
    if stream is None:
        if table.name in catalog.tables:
            return  # which is said elsewhere
        hint = f"FROM {table.name} [RANGE 10 MINUTES SLIDE 1 MINUTE]"
        raise error_at(table, f"{table.name!r} is no stream, whose time such a window could be over", text, hint)
    own = None if stream.time is None else expression_sql(parse_expression(stream.time))
    written = expression_sql(timed_by)
    if own is None or own.strip("`").lower() != written.strip("`").lower():
        timed = "when they arrive" if own is None else own
        message = f"the windows of {table.name!r} are over the time of its events, {timed}, and this is {written}"
        raise error_at(timed_by, message, text, f"TIMESTAMP BY {written} in CREATE STREAM {table.name}")
