"""Requests joined with indexes: each is answered once, in the batch in which all streams have passed it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.compile.time_of_rows import time_of_name, time_of_rows
from windrow.language import Query, duration_sql, error_at, identifier_sql, parse_expression, parse_query
from windrow.language.nodes import EMIT, STREAM_WINDOW, emit_of
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.refuse import not_yet
from windrow.plan.catalog import Catalog

INSERTS = "INSERTS"
_CONDITIONS = (exp.Exists, exp.In)


def join_indexes(query: Query, catalog: Catalog) -> Query:
    """The query with the streams of indexes in their places, where it joins some with a stream of requests.

    `FROM requests AS r JOIN speeds AS p ON p.seg = r.seg` reads `FROM requests [RANGE 1 MICROSECOND] AS r JOIN
    positions [RANGE 300000001 MICROSECONDS] AS p ON p.seg = r.seg AND p.ts < r.ts`: a request is there for an instant,
    in which it meets the events of [t - range, t) and no others. That is known when all clocks have passed it. Streams
    may be branches or views: these are put in place after this.
    """
    for table in query.tree.find_all(exp.Table):
        if table.name in catalog.views and _indexes_in(catalog.views[table.name].tree, catalog):
            message = f"the view {table.name!r} joins an index, which only the query that is answered can"
            raise error_at(table, message, query.text, f"write the query of {table.name} in its place")
    if not _indexes_in(query.tree, catalog):
        return query
    tree = query.tree.copy()
    if emit_of(tree) not in (None, INSERTS, "FINAL"):
        raise error_at(
            tree.args[EMIT], "a request is answered once: nothing of it changes", query.text, "leave EMIT out"
        )
    window = parse_query("SELECT 1 FROM x [RANGE 1 MICROSECOND]").tree.args["from_"].this.args[STREAM_WINDOW]
    joined = [(index, *_requests_of(index, query, catalog)) for index in _indexes_in(tree, catalog)]
    for index, request, select in joined:
        bound = catalog.indexes[index.name]
        theirs = _time(index, bound.stream, time_of_name(bound.stream, catalog), query, catalog)
        called = request.name or request.alias_or_name
        own = _time(request, called, time_of_rows(request, tree, catalog), query, catalog)
        _meet(index, request, select, _written_at(parse_expression(f"{theirs} < {own}"), index), query)
        request.set(STREAM_WINDOW, _written_at(window.copy(), request))
        index.replace(_windowed(index, bound.source, f"[RANGE {duration_sql(bound.facts.range_us + 1)}]"))
    tree.set(EMIT, parse_query(f"SELECT 1 FROM x [RANGE 1 SECOND] EMIT {INSERTS}").tree.args[EMIT])
    return replace(query, tree=tree)


def _indexes_in(tree: exp.Expr, catalog: Catalog) -> list[exp.Table]:
    return [table for table in tree.find_all(exp.Table) if table.name in catalog.indexes]


def _requests_of(index: exp.Table, query: Query, catalog: Catalog) -> tuple[exp.Expr, exp.Select]:
    """The requests that an index is joined with, and the SELECT whose FROM has the index.

    An index that a query of IN or EXISTS reads is asked by the requests of the query around it.
    """
    if index.args.get(STREAM_WINDOW) is not None:
        raise error_at(index, "an index has its window already", query.text, "leave the window out")
    select = index.parent_select
    assert isinstance(select, exp.Select)
    requests = _others(select, catalog)
    way_out = f"FROM requests AS r JOIN {index.name} AS p ON p.key = r.key"
    if not requests and not _is_read(select):
        around = select.parent_select
        if not isinstance(around, exp.Select) or not isinstance(_asking(select), _CONDITIONS):
            message = "an index is joined with requests, and gives no value by itself"
            raise error_at(index, message, query.text, way_out.replace("JOIN", "LEFT JOIN") + ", and GROUP BY")
        requests = _others(around, catalog)
    if len(requests) != 1:
        message = "an index is joined with one stream of requests, and besides with other indexes and tables"
        raise error_at(index, message, query.text, f"{way_out}; or ask it from outside: job.ask(...)")
    if requests[0].args.get(STREAM_WINDOW) is not None:
        message = "a request is there for an instant, and has no window"
        raise error_at(requests[0], message, query.text, f"FROM {requests[0].alias_or_name}, without one")
    return requests[0], select


def _others(select: exp.Select, catalog: Catalog) -> list[exp.Expr]:
    """What stands in FROM beside indexes and tables."""
    found = [source for source in _sources(select) if isinstance(source, exp.Table | exp.Subquery)]
    own = catalog.streams.keys() | catalog.views.keys()
    static = catalog.tables.keys() - own | catalog.indexes.keys()
    return [source for source in found if isinstance(source, exp.Subquery) or source.name not in static]


def _sources(select: exp.Select) -> list[exp.Expr]:
    read = select.args.get("from_")
    return ([] if read is None else [read.this]) + [join.this for join in select.args.get("joins") or ()]


def _is_read(select: exp.Select) -> bool:
    """Whether a SELECT is the whole query, a part of UNION, or stands in FROM or WITH."""
    above = _asking(select)
    return above is None or isinstance(above, exp.SetOperation | exp.From | exp.Join | exp.CTE)


def _asking(select: exp.Select) -> exp.Expr | None:
    """What a SELECT stands in, but for parentheses."""
    above: exp.Expr | None = select.parent
    while isinstance(above, exp.Subquery | exp.Paren):
        above = above.parent
    return above


def _time(source: exp.Expr, name: str, column: str | None, query: Query, catalog: Catalog) -> str:
    """The time of the events of what FROM names, as a column of it."""
    if column is None and (name not in catalog.streams or isinstance(source, exp.Subquery)):
        message = f"a join with an index over {name!r} compares times, and {name!r} leaves out that of its events"
        raise error_at(source, message, query.text, f"have the column of TIMESTAMP BY in the select list of {name}")
    if column is None and catalog.streams[name].made_of is not None:
        what = f"a join with an index where {name!r} is made of the answers of a query"
        raise not_yet(source, what, query.text, "ask an index of answers from outside: job.ask(...)")
    if column is None:
        what = f"a join with an index where {name!r} is not timed by a column"
        raise not_yet(source, what, query.text, "TIMESTAMP BY a column")
    return f"{identifier_sql(source.alias_or_name)}.{identifier_sql(column)}"


def _windowed(table: exp.Table, source: str, window: str) -> exp.Expr:
    """What is written as `source`, with a window, by the name that FROM gives to `table`."""
    named = f"{source} {window} AS {identifier_sql(table.alias_or_name)}"
    found: exp.Expr = parse_query(f"SELECT 1 FROM {named}").tree.args["from_"].this
    return _written_at(found.copy(), table)


def _written_at(node: exp.Expr, table: exp.Expr) -> exp.Expr:
    """A node of a text that nobody has written, to be underlined where `table` is."""
    for part in node.walk():
        for place in ("span", "start", "end"):
            part.meta.pop(place, None)
    return placed_as(node, table)


def _meet(index: exp.Table, request: exp.Expr, select: exp.Select, condition: exp.Expr, query: Query) -> None:
    """Have the events of a pair be before its request: in ON, or in WHERE where there is none."""
    sources = _sources(select)
    own = next(place for place, source in enumerate(sources) if source is index)
    asked = next((place for place, source in enumerate(sources) if source is request), -1)
    last = max(own, asked)
    join = select.args["joins"][last - 1] if asked >= 0 else None
    if join is not None and not _goes_with_requests(select, own, asked):
        message = "what is left without a partner can be a request, and no event of an index"
        raise error_at(join.this, message, query.text, f"FROM {request.alias_or_name} LEFT JOIN the index")
    on = None if join is None else join.args.get("on")
    if join is None or (on is None and not join.side and (join.kind or "").upper() in ("", "CROSS", "INNER")):
        where = select.args.get("where")
        whole = condition if where is None else exp.And(this=exp.Paren(this=where.this), expression=condition)
        select.set("where", exp.Where(this=whole))
        return
    join.set("on", condition if on is None else exp.And(this=exp.Paren(this=on), expression=condition))


def _goes_with_requests(select: exp.Select, own: int, asked: int) -> bool:
    """Whether every row of a FROM has its request, and one without an event of the index is there at most once."""
    joins = select.args["joins"]
    side, kind = (joins[max(own, asked) - 1].args.get(name) or "" for name in ("side", "kind"))
    side, kind = side.upper(), kind.upper()
    if asked > own:
        before = "" if own == 0 else (joins[own - 1].side or joins[own - 1].kind or "").upper()
        return side in ("", "RIGHT") and kind not in ("SEMI", "ANTI") and before in ("", "INNER", "CROSS")
    later = [(join.side or "").upper() for join in joins[own:]]
    return side in ("", "LEFT") and "RIGHT" not in later and "FULL" not in later
