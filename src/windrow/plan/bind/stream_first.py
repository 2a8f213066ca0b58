"""A join that begins with a table, written so that it begins with a stream."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.plan.bind.names import both, placed_as
from windrow.plan.bind.refuse import not_yet


def _is_more(join: exp.Join) -> bool:
    """Whether a join is no inner one by ON or WHERE."""
    return bool(join.side or join.method or join.args.get("using")) or join.kind.upper() not in ("", "INNER", "CROSS")


def stream_first(tree: exp.Select, is_table: Callable[[exp.Expr], bool], text: str) -> exp.Select:
    """The same inner joins with the first stream in front; conditions of ON become conditions of WHERE.

    >>> from windrow.language import expression_sql, parse_query
    >>> query = parse_query("SELECT n FROM f JOIN s ON f.item = s.item WHERE n > 1 WINDOW 1 MINUTE")
    >>> print(expression_sql(stream_first(query.tree, lambda source: source.name == "f", "")))
    SELECT n FROM s, f WHERE (n > 1) AND (f.item = s.item) WINDOW 1 MINUTE
    """
    joins: list[exp.Join] = tree.args.get("joins") or []
    sources = [tree.args["from_"].this, *(join.this for join in joins)]
    streams = [source for source in sources if not is_table(source)]
    if sources[0] in streams or not streams:
        return tree
    if any(map(_is_more, joins)):
        way_out = "put the stream first: s LEFT JOIN t; or read the table as a stream: t [RANGE UNBOUNDED] LEFT JOIN s"
        raise not_yet(sources[0], "a query that begins with a table", text, way_out)
    for star in tree.selects:
        if isinstance(star, exp.Star):
            raise not_yet(star, "* where a table comes first", text, "name the columns, or write a stream first")
    where = tree.args.get("where")
    condition = None if where is None else where.this
    for join in joins:
        if join.args.get("on") is not None:
            condition = both(condition, join.args["on"])
    turned = tree.copy()
    others = [source for source in sources if source is not streams[0]]
    turned.set("from_", exp.From(this=streams[0].copy()))
    turned.set("joins", [placed_as(exp.Join(this=source.copy()), source) for source in others])
    if condition is not None:
        turned.set("where", exp.Where(this=condition.copy()))
    return turned
