"""Requests joined with an index: each is answered once, in the batch in which both streams have passed it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, duration_sql, error_at, identifier_sql, parse_expression, parse_query
from windrow.language.nodes import EMIT, STREAM_WINDOW, emit_of
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog, Stream

INSERTS = "INSERTS"


def join_indexes(query: Query, catalog: Catalog) -> Query:
    """The query with the stream of an index in its place, where it joins one with a stream of requests.

    `FROM requests AS r JOIN speeds AS p ON p.seg = r.seg` reads `FROM requests [RANGE 1 MICROSECOND] AS r JOIN
    positions [RANGE 300000001 MICROSECONDS] AS p ON p.seg = r.seg AND p.ts < r.ts`: a request is there for an instant,
    in which it meets the events of [t - range, t) and no others. That is known when both clocks have passed it.
    """
    used = [table for table in query.tree.find_all(exp.Table) if table.name in catalog.indexes]
    if not used:
        return query
    tree = query.tree.copy()
    index, request = _sources(tree, query, catalog)
    bound = catalog.indexes[index.name]
    stream = catalog.streams.get(bound.stream)
    if stream is None:
        what = f"a join with an index over {bound.stream!r}, which is a branch or a view,"
        raise not_yet(index, what, query.text, "an index over the stream that it reads")
    asking = catalog.streams[request.name]
    condition = f"{_time(index, stream, query)} < {_time(request, asking, query)}"
    window = f"[RANGE {duration_sql(bound.facts.range_us + 1)}]"
    meeting = _written_at(parse_expression(condition), index)
    index.replace(_windowed(index, bound.source, window))
    request.replace(_windowed(request, identifier_sql(request.name), "[RANGE 1 MICROSECOND]"))
    _meet(tree, meeting, request.alias_or_name, query)
    if emit_of(tree) not in (None, INSERTS, "FINAL"):
        raise error_at(tree, "a request is answered once: nothing of it changes", query.text, "leave EMIT out")
    tree.set(EMIT, parse_query(f"SELECT 1 FROM x [RANGE 1 SECOND] EMIT {INSERTS}").tree.args[EMIT])
    return replace(query, tree=tree)


def _sources(tree: exp.Expr, query: Query, catalog: Catalog) -> tuple[exp.Table, exp.Table]:
    """The index of a query, and the stream of requests."""
    tables = list(tree.find_all(exp.Table))
    indexes = [table for table in tables if table.name in catalog.indexes]
    index = indexes[0]
    if index.args.get(STREAM_WINDOW) is not None:
        raise error_at(index, "an index has its window already", query.text, "leave the window out")
    requests = [table for table in tables if table.name in catalog.streams and table.name not in catalog.indexes]
    if not isinstance(tree, exp.Select) or len(tables) != 2 or len(requests) != 1:
        way_out = f"FROM requests AS r JOIN {index.name} AS p ON p.key = r.key; or ask it from outside: job.ask(...)"
        raise error_at(index, "an index is joined with one stream of requests, and nothing else", query.text, way_out)
    if requests[0].args.get(STREAM_WINDOW) is not None:
        message = "a request is there for an instant, and has no window"
        raise error_at(requests[0], message, query.text, f"FROM {requests[0].name}, without one")
    return index, requests[0]


def _time(table: exp.Table, stream: Stream, query: Query) -> str:
    """The time of a stream's events, as a column of what FROM calls it."""
    if stream.time is None or stream.made_of is not None or stream.time not in stream.schema.names:
        what = f"a join with an index where {stream.name!r} is not timed by a column"
        raise not_yet(table, what, query.text, "TIMESTAMP BY a column")
    return f"{identifier_sql(table.alias_or_name)}.{identifier_sql(stream.time)}"


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
