"""Windows in others' words: Spark's `GROUP BY window(ts, '10 minutes')`, Flink's `GROUP BY TUMBLE(ts, ...)`.

They must be over a stream's own time.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import Query, as_written, error_at, expression_sql, parse_duration, span_of
from windrow.language.nodes import OTHERS_WINDOW, SessionStreamWindow
from windrow.language.parsing.table_functions import TIMED_BY, session_window, window_by_starts
from windrow.plan.bind.ksql_words import read_within, window_of_clause
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.others_edges import is_window, last_instant, over_edges, selected
from windrow.plan.bind.time_of_source import check_time, is_windowed
from windrow.plan.catalog import Catalog

_EXAMPLE = "GROUP BY window(ts, '10 minutes', '1 minute')"
_EDGES = ("window_start", "window_end")
_HOP = "GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)"


def read_others_windows(query: Query, catalog: Catalog) -> Query:
    """The same query with windows as ours are, behind the names of streams."""
    tree = query.tree.copy()
    for select in tree.find_all(exp.Select):
        read_within(select, catalog, query.text)
        place, window = select.args.get(OTHERS_WINDOW), window_of_clause(select, query.text)
        if window is not None and place is not None:
            _move_clause(select, window, place, catalog, query.text)
        calls = _window_calls(select)
        if calls:
            _move(select, calls, catalog, query.text)
    for source in tree.find_all(exp.Table, exp.Subquery):
        window = source.args.get("stream_window")
        if window is not None and TIMED_BY in window.meta:
            check_time(source, window.meta[TIMED_BY], catalog, query.text)
            _name_window_time(source)
            if is_windowed(source):
                _drop_edges(source)
    return replace(query, tree=tree)


def _name_window_time(source: exp.Expr) -> None:
    """Flink's `window_time`, the last millisecond of a window; to group by it is to group by the window."""
    select = source.parent_select
    if select is None or source.find_ancestor(exp.From, exp.Join) is None:
        return
    group = select.args.get("group")
    if group is not None:
        group.set("expressions", [key for key in group.expressions if key.name.lower() != "window_time"])
        if not any(group.args.values()):
            select.set("group", None)
    for item in list(select.selects):
        for column in list(item.find_all(exp.Column)):
            if column.name.lower() == "window_time":
                meant = placed_as(last_instant(), column)
                column.replace(exp.alias_(meant, "window_time") if column is item else meant)


def _drop_edges(source: exp.Expr) -> None:
    """Over answers, `window_start` names the window of the query, as in Flink, and not that of the answers.

    It leads every result, and to group by it is to group by the window.
    """
    select = source.parent_select
    if select is None or len(select.selects) < 2:
        return
    kept = [item for item in select.selects if not (isinstance(item, exp.Column) and item.name.lower() in _EDGES)]
    if kept:
        select.set("expressions", kept)
    group = select.args.get("group")
    if group is not None:
        group.set("expressions", [key for key in group.expressions if key.name.lower() not in _EDGES])
        if not any(group.args.values()):
            select.set("group", None)


def _move_clause(select: exp.Select, window: exp.Expr, place: exp.Expr, catalog: Catalog, text: str) -> None:
    """The window of `WINDOW TUMBLING (...)` goes behind the stream; sessions are of what WHERE lets through."""
    source, in_sessions = _read_by(select, catalog), isinstance(window, SessionStreamWindow)
    if source is None or source.args.get("stream_window") is not None or (in_sessions and select.args.get("joins")):
        message = "WINDOW is read where FROM names one stream, without a window of its own"
        raise error_at(place, message, text, "[RANGE 10 MINUTES SLIDE 1 MINUTE] behind the name of each stream")
    (_filtered_first(select, source) if in_sessions else source).set("stream_window", window)


def _window_calls(select: exp.Select) -> list[exp.Anonymous]:
    """The windows of GROUP BY, by themselves, by their alias or by their place; else that of Spark's select list.

    Without GROUP BY, Spark has each row once for every window that holds it: the rows of the window.
    """
    group, shown = select.args.get("group"), [item for item in select.selects if is_window(item.unalias())]
    if group is None:
        calls = [node for item in select.selects for node in item.find_all(exp.Anonymous)]
        return [call for call in calls if call.name.lower() == "window" and call.parent_select is select]
    keys = []
    for key in group.expressions:
        place = key.name if isinstance(key, exp.Literal) and not key.is_string else ""
        named = key.name.lower() if isinstance(key, exp.Column) and not key.table else None
        meant = [item for item in shown if item.alias.lower() == named or str(select.selects.index(item) + 1) == place]
        keys.append(placed_as(meant[0].unalias().copy(), key) if meant else key)
    group.set("expressions", keys)
    return [node for node in keys if isinstance(node, exp.Anonymous) and is_window(node)]


def _move(select: exp.Select, calls: list[exp.Anonymous], catalog: Catalog, text: str) -> None:
    """The window of GROUP BY goes behind the stream, and `window.start` becomes `window_start`."""
    call, source = calls[0], _read_by(select, catalog)
    if len({expression_sql(each) for each in calls}) > 1:
        raise error_at(calls[1], "a query has one window", text, _EXAMPLE)
    in_sessions = call.name.lower() in ("session_window", "session")
    if source is None or source.args.get("stream_window") is not None or (in_sessions and select.args.get("joins")):
        hint = "[RANGE 10 MINUTES SLIDE 1 MINUTE] behind the name of each stream"
        message = f"{call.name.lower()}(...) is read where FROM names one stream, without a window of its own"
        raise error_at(call, message, text, hint)
    if in_sessions:
        _filtered_first(select, source).set("stream_window", _sessions(select, call, text))
    else:
        source.set("stream_window", _slides(call, text))
    group = select.args.get("group") or exp.Group()
    group.set("expressions", [node for node in group.expressions if not is_window(node)])
    if not any(group.args.get(name) for name in ("expressions", "cube", "rollup", "grouping_sets", "all")):
        select.set("group", None)
    select.set("expressions", [selected(node, call, text) for node in select.expressions])
    for clause in ("having", "order", "qualify"):
        if select.args.get(clause) is not None:
            select.set(clause, over_edges(select.args[clause], call, text))


def _read_by(select: exp.Select, catalog: Catalog) -> exp.Table | exp.Subquery | None:
    """The only one in FROM that is no table: joined with tables, events have the windows that they have without."""
    clause = select.args.get("from_")
    sources = [] if clause is None else [clause.this, *(join.this for join in select.args.get("joins") or [])]
    read = [one for one in sources if not isinstance(one, exp.Table) or one.name not in catalog.tables]
    return read[0] if len(read) == 1 and isinstance(read[0], exp.Table | exp.Subquery) else None


def _slides(call: exp.Anonymous, text: str) -> exp.Expr:
    """The window of `window(ts, length, slide, start)`, TUMBLE(ts, length, start), or HOP(ts, slide, length, start)."""
    name, count = call.name.lower(), len(call.expressions)
    least, most, takes, example = {
        "tumble": (2, 3, "a time, a length, and perhaps a start", "GROUP BY TUMBLE(ts, INTERVAL '10' MINUTE)"),
        "hop": (3, 4, "a time, a slide, a length, and perhaps a start", _HOP),
    }.get(name, (2, 4, "a time, a length, and perhaps a slide and a start", _EXAMPLE))
    if not least <= count <= most:
        raise error_at(call, f"{name} takes {takes}", text, example)
    timed_by, *lengths = call.expressions
    range_us, *others = [_length_us(node, text, name) for node in lengths]
    if name == "hop":
        range_us, others = others[0], [range_us, *others[1:]]
    elif name == "tumble":
        others = [range_us, *others]
    slide_us, start_us = (others[0] if others else range_us), (others[1] if len(others) > 1 else 0)
    if range_us <= 0 or not 0 < slide_us <= range_us:
        raise error_at(call, "a window has a length, and its slide is positive and no longer", text, example)
    return window_by_starts(range_us, slide_us, start_us, timed_by, *(span_of(call) or (0, 0)))


def _sessions(select: exp.Select, call: exp.Anonymous, text: str) -> exp.Expr:
    """The window of `session_window(ts, gap)`, or of SESSION: each of the other keys has sessions of its own."""
    name = call.name.lower()
    example = "GROUP BY session_window(ts, '5 minutes'), k"
    if len(call.expressions) != 2:
        raise error_at(call, f"{name} takes a time and a gap", text, example)
    gap_us = _length_us(call.expressions[1], text, name)
    if gap_us <= 0:
        raise error_at(call, "a session has a gap, which is positive", text, example)
    aliases = {node.alias.lower(): node.this for node in select.selects if isinstance(node, exp.Alias)}
    keys = [node for node in select.args["group"].expressions if not is_window(node)]
    meant = [aliases.get(node.name.lower(), node) if isinstance(node, exp.Column) else node for node in keys]
    return session_window(gap_us, [node.copy() for node in meant], call.expressions[0], *(span_of(call) or (0, 0)))


def _filtered_first(select: exp.Select, source: exp.Table | exp.Subquery) -> exp.Expr:
    """What FROM names, after WHERE: in Spark, a row that WHERE leaves out belongs to no session."""
    where = select.args.get("where")
    if where is None:
        return source
    select.set("where", None)
    alias = source.args.get("alias") or exp.TableAlias(this=exp.to_identifier(source.name or "q", quoted=True))
    inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=source.copy()), where=where)
    outer = placed_as(exp.Subquery(this=inner, alias=alias.copy()), source)
    select.args["from_"].set("this", outer)
    return outer


def _length_us(node: exp.Expr, text: str, name: str) -> int:
    if name in ("window", "session_window") and isinstance(node, exp.Literal) and not node.is_string:
        return int(node.name) if node.name.isdigit() else 0  # a number alone is in microseconds in Spark
    written = node.name if isinstance(node, exp.Literal) and node.is_string else as_written(node, text)
    if isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal):
        written = f"{node.this.name} {node.text('unit')}"
    try:
        return parse_duration(written or expression_sql(node))
    except QueryError as error:
        raise error_at(node, error.message, text, error.hint or _EXAMPLE) from None
