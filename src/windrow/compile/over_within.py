"""OVER in a sub-query whose rows a query around it chooses: one query, whose QUALIFY is what WHERE was around it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.compile.derive_streams import drop_unused
from windrow.compile.over_frames import frames_in
from windrow.language import Query, window_of
from windrow.language.nodes import EMIT, QUERY_WINDOW
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import is_call
from windrow.plan.bind.names import both, placed_as
from windrow.plan.catalog import Catalog

_MORE = ("joins", "group", "having", "qualify", "distinct", "order", "limit", "cluster", "distribute", QUERY_WINDOW)
"""Clauses of a query that does more than to choose rows and to compute columns of them."""


def over_within(query: Query, catalog: Catalog) -> Query:
    """The query as one SELECT, where one only chooses of the rows that another makes with OVER in order of time.

    >>> from windrow.language import expression_sql, parse_query
    >>> text = "SELECT up FROM (SELECT x, x - LAG(x) OVER (ORDER BY ts) AS up FROM s) AS q WHERE up > x"
    >>> print(expression_sql(over_within(parse_query(text), Catalog({}, {})).tree))
    SELECT x - LAG(x) OVER (ORDER BY ts) AS `up` FROM s QUALIFY (x - LAG(x) OVER (ORDER BY ts)) > (x)
    """
    tree = query.tree
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None or any(map(tree.args.get, _MORE)):
        return query
    source = tree.args["from_"].this
    inner = _inner(tree, source)
    if inner is None or not any(frames_in(node) for node in inner.selects):
        return query
    where = tree.args.get("where")
    parts = [node for node in (*tree.selects, where) if node is not None]
    scope = Scope(catalog, query.text)
    if any(isinstance(node, exp.Window | exp.Query) or is_call(node, scope) for part in parts for node in part.walk()):
        return query
    made, own = inner.copy(), _named(inner)
    name = source.alias_or_name.lower()
    made.set("expressions", [one for node in tree.selects for one in _outputs(node, inner, own, name)])
    if where is not None:
        chosen, qualify = _meant(where.this, own, name), inner.args.get("qualify")
        made.set("qualify", exp.Qualify(this=chosen if qualify is None else both(qualify.this, chosen)))
    made.set(EMIT, tree.args.get(EMIT))
    if inner.args.get("with_") is None:
        made.set("with_", tree.args.get("with_"))
        drop_unused(made)
    return replace(query, tree=made)


def _inner(tree: exp.Select, source: exp.Expr) -> exp.Select | None:
    """The SELECT that stands in FROM, or that WITH names for it alone; none if it has a window over it."""
    clause = tree.args.get("with_")
    named = [] if clause is None else clause.expressions
    found: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else None
    for common in named if isinstance(source, exp.Table) else ():
        if common.alias.lower() == source.name.lower() and not common.args["alias"].columns:
            found = common.this
    if found is None or (named and found.args.get("with_") is not None):
        return None
    alias = source.args.get("alias")
    if not isinstance(found, exp.Select) or window_of(source) is not None or (alias is not None and alias.columns):
        return None
    return found


def _named(inner: exp.Select) -> dict[str, exp.Expr]:
    """What the names of the rows stand for."""
    return {node.alias_or_name.lower(): node.unalias() for node in inner.selects if not node.is_star}


def _outputs(node: exp.Expr, inner: exp.Select, own: dict[str, exp.Expr], source: str) -> list[exp.Expr]:
    if node.is_star:
        return [one.copy() for one in inner.selects]
    name = node.alias_or_name or node.sql()
    made = _meant(node.unalias(), own, source)
    return [placed_as(exp.alias_(made.unnest() if isinstance(made, exp.Paren) else made, name, quoted=True), node)]


def _meant(node: exp.Expr, own: dict[str, exp.Expr], source: str) -> exp.Expr:
    """An expression over the rows as one over the events below."""

    def below(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.table.lower() not in ("", source):
            return part
        known = own.get(part.name.lower())
        return placed_as(exp.column(part.this.copy()) if known is None else exp.paren(known.copy()), part)

    made: exp.Expr = node.copy().transform(below)
    return made
