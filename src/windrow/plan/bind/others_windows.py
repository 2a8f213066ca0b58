"""Windows in others' words: Spark's `GROUP BY window(ts, '10 minutes')`; they must be over a stream's own time."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import Query, as_written, error_at, expression_sql, parse_duration, parse_expression, span_of
from windrow.language.parsing.table_functions import TIMED_BY, session_window, window_by_starts
from windrow.plan.bind.names import placed_as
from windrow.plan.catalog import Catalog

_EXAMPLE = "GROUP BY window(ts, '10 minutes', '1 minute')"
_EDGES = {"start": "window_start", "end": "window_end"}
_NAMES = ("window", "session_window")
_STRUCT = "STRUCT(window_start AS start, window_end AS end)"


def read_others_windows(query: Query, catalog: Catalog) -> Query:
    """The same query with windows as ours are, behind the names of streams."""
    tree = query.tree.copy()
    for select in tree.find_all(exp.Select):
        calls = _window_calls(select)
        if calls:
            _move(select, calls, query.text)
    for source in tree.find_all(exp.Table, exp.Subquery):
        window, table = source.args.get("stream_window"), source.find(exp.Table)
        if window is not None and table is not None and TIMED_BY in window.meta:
            _check_time(table, window.meta[TIMED_BY], catalog, query.text)
    return replace(query, tree=tree)


def _window_calls(select: exp.Select) -> list[exp.Anonymous]:
    group = select.args.get("group")
    return [] if group is None else [node for node in group.expressions if _is_window(node)]


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in _NAMES


def _move(select: exp.Select, calls: list[exp.Anonymous], text: str) -> None:
    """The window of GROUP BY goes behind the stream, and `window.start` becomes `window_start`."""
    call, from_clause = calls[0], select.args.get("from_")
    source = None if from_clause is None else from_clause.this
    if len({expression_sql(each) for each in calls}) > 1:
        raise error_at(calls[1], "a query has one window", text, _EXAMPLE)
    if select.args.get("joins") or not isinstance(source, exp.Table) or source.args.get("stream_window") is not None:
        hint = "[RANGE 10 MINUTES SLIDE 1 MINUTE] behind the name of each stream"
        raise error_at(call, "window(...) is read where FROM names one stream, without a window of its own", text, hint)
    if call.name.lower() == "session_window":
        _filtered_first(select, source).set("stream_window", _sessions(select, call, text))
    else:
        source.set("stream_window", _slides(call, text))
    meant = expression_sql(call)
    group = select.args["group"]
    group.set("expressions", [node for node in group.expressions if not _is_window(node)])
    if not any(group.args.get(name) for name in ("expressions", "cube", "rollup", "grouping_sets", "all")):
        select.set("group", None)
    select.set("expressions", [_selected(node, meant) for node in select.expressions])
    for clause in ("having", "order"):
        if select.args.get(clause) is not None:
            select.set(clause, _over_edges(select.args[clause], meant))


def _slides(call: exp.Anonymous, text: str) -> exp.Expr:
    """The window of `window(ts, length, slide, start)`."""
    if not 2 <= len(call.expressions) <= 4:
        raise error_at(call, "window takes a time, a length, and perhaps a slide and a start", text, _EXAMPLE)
    timed_by, *lengths = call.expressions
    range_us, *others = [_length_us(node, text) for node in lengths]
    slide_us, start_us = (others[0] if others else range_us), (others[1] if len(others) > 1 else 0)
    if range_us <= 0 or not 0 < slide_us <= range_us:
        raise error_at(call, "a window has a length, and its slide is positive and no longer", text, _EXAMPLE)
    return window_by_starts(range_us, slide_us, start_us, timed_by, *(span_of(call) or (0, 0)))


def _sessions(select: exp.Select, call: exp.Anonymous, text: str) -> exp.Expr:
    """The window of `session_window(ts, gap)`: Spark has sessions of its own for each of the other keys."""
    example = "GROUP BY session_window(ts, '5 minutes'), k"
    if len(call.expressions) != 2:
        raise error_at(call, "session_window takes a time and a gap", text, example)
    gap_us = _length_us(call.expressions[1], text)
    if gap_us <= 0:
        raise error_at(call, "a session has a gap, which is positive", text, example)
    aliases = {node.alias.lower(): node.this for node in select.selects if isinstance(node, exp.Alias)}
    keys = [node for node in select.args["group"].expressions if not _is_window(node)]
    meant = [aliases.get(node.name.lower(), node) if isinstance(node, exp.Column) else node for node in keys]
    return session_window(gap_us, [node.copy() for node in meant], call.expressions[0], *(span_of(call) or (0, 0)))


def _filtered_first(select: exp.Select, source: exp.Table) -> exp.Expr:
    """What FROM names, after WHERE: in Spark, a row that WHERE leaves out belongs to no session."""
    where = select.args.get("where")
    if where is None:
        return source
    select.set("where", None)
    alias = source.args.get("alias") or exp.TableAlias(this=source.this.copy())
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=source.copy()), where=where)
    outer = placed_as(exp.Subquery(this=inner, alias=alias.copy()), source)
    select.args["from_"].set("this", outer)
    return outer


def _selected(node: exp.Expr, meant: str) -> exp.Expr:
    """An item of the select list; `window.start` has the name that it has in Spark."""
    changed = _over_edges(node, meant)
    if changed is node or isinstance(changed, exp.Alias):
        return changed
    named = {"window_start": "start", "window_end": "end"}.get(changed.name if isinstance(changed, exp.Column) else "")
    return placed_as(exp.alias_(changed, named or meant.split("(")[0].lower(), quoted=True), node)


def _over_edges(node: exp.Expr, meant: str) -> exp.Expr:
    def changed(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table.lower() in _NAMES and part.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.name.lower()]), part)
        if isinstance(part, exp.Dot) and _is_window(part.this) and part.expression.name.lower() in _EDGES:
            return placed_as(exp.column(_EDGES[part.expression.name.lower()]), part)
        struct = isinstance(part, exp.Column) and not part.table and part.name.lower() in _NAMES
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
