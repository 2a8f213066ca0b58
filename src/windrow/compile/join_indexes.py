"""Requests joined with an index: each is answered once, in the batch in which both streams have passed it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, duration_sql, error_at, identifier_sql, parse_expression, parse_query
from windrow.language.nodes import EMIT, STREAM_WINDOW, emit_of
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog

INSERTS = "INSERTS"


def join_indexes(query: Query, catalog: Catalog) -> Query:
    """The query with the stream of an index in its place, where it joins one with a stream of requests.

    `FROM requests AS r JOIN speeds AS p ON p.seg = r.seg` reads `FROM requests [RANGE 1 MICROSECOND] AS r JOIN
    positions [RANGE 300000001 MICROSECONDS] AS p ON p.seg = r.seg AND p.ts < r.ts`: a request is there for an instant,
    in which it meets the events of [t - range, t) and no others. That is known when both clocks have passed it. Either
    stream may be a branch or a view: these are put in place after this.
    """
    for table in query.tree.find_all(exp.Table):
        if table.name in catalog.views and _indexes_in(catalog.views[table.name].tree, catalog):
            message = f"the view {table.name!r} joins an index, which only the query that is answered can"
            raise error_at(table, message, query.text, f"write the query of {table.name} in its place")
    if not _indexes_in(query.tree, catalog):
        return query
    tree = query.tree.copy()
    index, request = _sources(tree, query, catalog)
    bound = catalog.indexes[index.name]
    condition = f"{_time(index, bound.stream, query, catalog)} < {_time(request, request.name, query, catalog)}"
    window = f"[RANGE {duration_sql(bound.facts.range_us + 1)}]"
    meeting = _written_at(parse_expression(condition), index)
    index.replace(_windowed(index, bound.source, window))
    request.replace(_windowed(request, identifier_sql(request.name), "[RANGE 1 MICROSECOND]"))
    _meet(tree, meeting, request.alias_or_name, query)
    if emit_of(tree) not in (None, INSERTS, "FINAL"):
        raise error_at(tree, "a request is answered once: nothing of it changes", query.text, "leave EMIT out")
    tree.set(EMIT, parse_query(f"SELECT 1 FROM x [RANGE 1 SECOND] EMIT {INSERTS}").tree.args[EMIT])
    return replace(query, tree=tree)


def _indexes_in(tree: exp.Expr, catalog: Catalog) -> list[exp.Table]:
    return [table for table in tree.find_all(exp.Table) if table.name in catalog.indexes]


def _sources(tree: exp.Expr, query: Query, catalog: Catalog) -> tuple[exp.Table, exp.Table]:
    """The index of a query, and the stream of requests."""
    tables = list(tree.find_all(exp.Table))
    index = _indexes_in(tree, catalog)[0]
    if index.args.get(STREAM_WINDOW) is not None:
        raise error_at(index, "an index has its window already", query.text, "leave the window out")
    known = (catalog.streams.keys() | catalog.views.keys()) - catalog.indexes.keys()
    requests = [table for table in tables if table.name in known]
    if not isinstance(tree, exp.Select) or len(tables) != 2 or len(requests) != 1:
        way_out = f"FROM requests AS r JOIN {index.name} AS p ON p.key = r.key; or ask it from outside: job.ask(...)"
        raise error_at(index, "an index is joined with one stream of requests, and nothing else", query.text, way_out)
    if requests[0].args.get(STREAM_WINDOW) is not None:
        message = "a request is there for an instant, and has no window"
        raise error_at(requests[0], message, query.text, f"FROM {requests[0].name}, without one")
    return index, requests[0]


def _time(table: exp.Table, name: str, query: Query, catalog: Catalog) -> str:
    """The time of the events of a stream, a branch or a view, as a column of what FROM calls it."""
    column = _column_of_time(name, catalog)
    if column is None and name in catalog.views:
        message = f"a join with an index over {name!r} compares times, and {name!r} leaves out that of its events"
        raise error_at(table, message, query.text, f"have the column of TIMESTAMP BY in the select list of {name}")
    if column is None:
        what = f"a join with an index where {name!r} is not timed by a column"
        raise not_yet(table, what, query.text, "TIMESTAMP BY a column")
    return f"{identifier_sql(table.alias_or_name)}.{identifier_sql(column)}"


def _column_of_time(name: str, catalog: Catalog) -> str | None:
    """What a stream, a branch or a view calls the time of its events, if it has that column."""
    if name in catalog.streams:
        stream = catalog.streams[name]
        return stream.time if stream.made_of is None and stream.time in stream.schema.names else None
    view = catalog.views[name].tree
    read = view.find(exp.From)
    inner = None if read is None else read.this
    if not isinstance(view, exp.Select) or not isinstance(inner, exp.Table) or view.args.get("joins"):
        return None
    if inner.name not in catalog.streams and inner.name not in catalog.views:
        return None
    column = _column_of_time(inner.name, catalog)
    for shown in view.expressions:
        told = shown.this if isinstance(shown, exp.Alias) else shown
        if shown.is_star:
            return column
        if isinstance(told, exp.Column) and told.name == column:
            return str(shown.alias_or_name)
    return None


def _windowed(table: exp.Table, source: str, window: str) -> exp.Expr:
    """What is written as `source`, with a window, by the name that FROM gives to `table`."""
    named = f"{source} {window} AS {identifier_sql(table.alias_or_name)}"
    found: exp.Expr = parse_query(f"SELECT 1 FROM {named}").tree.args["from_"].this
    return _written_at(found.copy(), table)


def _written_at(node: exp.Expr, table: exp.Table) -> exp.Expr:
    """A node of a text that nobody has written, to be underlined where `table` is."""
    for part in node.walk():
        for place in ("span", "start", "end"):
            part.meta.pop(place, None)
    return placed_as(node, table)


def _meet(tree: exp.Expr, condition: exp.Expr, requests: str, query: Query) -> None:
    """Have the events of a pair be before its request: in ON, or in WHERE where there is none."""
    join = tree.args["joins"][0]
    left, kind = join.side.upper(), (join.kind or "").upper()
    kept = {"": None, "LEFT": tree.args["from_"].this, "RIGHT": join.this}.get(left, join)
    if kept is not None and kept.alias_or_name != requests:
        message = "what is left without a partner can be a request, and no event of an index"
        raise error_at(join.this, message, query.text, f"FROM {requests} LEFT JOIN the index")
    if join.args.get("using"):
        raise error_at(join, "say what is equal with ON", query.text, "ON p.key = r.key")
    on = join.args.get("on")
    if on is None and not left and kind in ("", "CROSS", "INNER"):
        where = tree.args.get("where")
        whole = condition if where is None else exp.and_(where.this, condition)
        tree.set("where", exp.Where(this=whole))
        return
    join.set("on", condition if on is None else exp.And(this=exp.Paren(this=on), expression=condition))
