"""A window over UNION ALL, or over a join with tables, as the same window over each stream: it holds the same."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.compile.time_of_rows import joins_table
from windrow.language import Query
from windrow.language.nodes import STREAM_WINDOW, Duration, StreamWindow, Unbounded
from windrow.plan.catalog import Catalog

_MORE = ("distinct", "group", "having", "qualify", "order", "limit", "query_window", "cluster", "with_")
_NOT_THERE = ("rows", "nested", "about", "zone", "cumulate", "emit_every")
"""Windows that only one stream has."""


def push_windows(query: Query, catalog: Catalog) -> Query:
    """The query with windows over time that stand behind UNION ALL of streams without windows behind each stream.

    So it is with one without a slide behind a stream that is joined with tables; with a slide it is folded from panes.

    >>> from windrow.language import parse_query, to_sql
    >>> text = "SELECT COUNT(*) AS n FROM (SELECT x FROM a UNION ALL SELECT x FROM b) AS u [RANGE 1 MINUTE SLIDE 1 SECOND]"
    >>> to_sql(push_windows(parse_query(text), None))
    'SELECT COUNT(*) AS n FROM (SELECT x FROM a [RANGE 1 MINUTE SLIDE 1 SECOND] UNION ALL SELECT x FROM b [RANGE 1 MINUTE SLIDE 1 SECOND]) AS u'
    """  # noqa: E501 (one query)
    if not any(True for _ in query.tree.find_all(exp.Union, exp.Join)):
        return query
    tree = query.tree.copy()
    for source in list(tree.find_all(exp.Table, exp.Subquery)):
        window = source.args.get(STREAM_WINDOW)
        if not isinstance(window, StreamWindow) or any(map(window.args.get, _NOT_THERE)):
            continue
        lengths = [*window.args["ranges"], *(window.args.get("slides") or [])]
        body = _body(source)
        if isinstance(body, exp.Select) and (window.args.get("slides") or not body.args.get("joins")):
            continue
        if body is None or not all(isinstance(length, Duration | Unbounded) for length in lengths):
            continue
        inner = body.copy()
        streams = _streams(inner, catalog)
        if streams is None:
            continue
        for stream in streams:
            stream.set(STREAM_WINDOW, window.copy())
        source.set(STREAM_WINDOW, None)
        if isinstance(source, exp.Subquery):
            source.set("this", inner)
        else:
            alias = source.args.get("alias") or exp.TableAlias(this=source.this.copy())
            source.replace(exp.Subquery(this=inner, alias=alias.copy()))
    return replace(query, tree=tree)


def _body(source: exp.Expr) -> exp.Expr | None:
    """The UNION or the SELECT that a sub-query is, or a name of WITH."""
    if isinstance(source, exp.Subquery):
        body = source.this.unnest()
        return body if isinstance(body, exp.Union | exp.Select) else None
    around = source.parent
    while around is not None:
        clause = around.args.get("with_")
        for common in [] if clause is None else clause.expressions:
            if common.alias.lower() == source.name.lower() and not common.args["alias"].args.get("columns"):
                return common.this if isinstance(common.this, exp.Union | exp.Select) else None
        around = around.parent
    return None


def _streams(body: exp.Expr, catalog: Catalog) -> list[exp.Expr] | None:
    """What each SELECT of UNION ALL reads; None where one does more than choose rows and columns of one stream."""
    body = body.unnest()
    if isinstance(body, exp.Union):
        if body.args.get("distinct") or any(map(body.args.get, _MORE)):
            return None
        sides = [_streams(side, catalog) for side in (body.this, body.expression)]
        return None if None in sides else [stream for side in sides for stream in side or []]
    if not isinstance(body, exp.Select) or any(map(body.args.get, _MORE)) or body.args.get("from_") is None:
        return None
    source, joins = body.args["from_"].this, body.args.get("joins") or []
    if not all(joins_table(join, catalog) for join in joins):
        return None
    parts = [*body.selects, *([body.args["where"]] if body.args.get("where") else [])]
    if any(part.find(exp.AggFunc, exp.Window, exp.Query) for part in parts):
        return None
    if isinstance(source, exp.Subquery):
        return _streams(source.this, catalog)
    windowed = not isinstance(source, exp.Table) or source.args.get(STREAM_WINDOW) is not None
    return None if windowed else [source]
