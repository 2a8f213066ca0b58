"""Views: queries with a name, read as WITH by those that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from windrow.compile.spell_names import declared_as
from windrow.language import Query
from windrow.plan.catalog import Catalog


def inline_views(query: Query, catalog: Catalog) -> Query:
    """The query with a WITH for each view that it reads, by itself or through another, as the views were made.

    >>> from windrow.language import expression_sql, parse_query
    >>> from windrow.expressions.local_engine import LocalEngine
    >>> catalog = Catalog(LocalEngine(), views={"up": parse_query("SELECT k FROM s WHERE x > 0")})
    >>> query = parse_query("SELECT COUNT(*) AS n FROM up [RANGE 1 HOUR SLIDE 1 HOUR]")
    >>> expression_sql(inline_views(query, catalog).tree)
    'WITH up AS (SELECT k FROM s WHERE x > 0) SELECT COUNT(*) AS n FROM up [RANGE 1 HOUR SLIDE 1 HOUR]'
    """
    views = catalog.views
    if not views:
        return query
    needed: set[str] = set()
    for name in _read(query.tree, views):
        _need(name, views, needed)
    if not needed:
        return query
    tree = query.tree.copy()
    made = [
        exp.CTE(this=_tree(view, query.text), alias=exp.TableAlias(this=exp.to_identifier(name, quoted=False)))
        for name, view in views.items()
        if name in needed
    ]
    inner = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    own = inner.args.get("with_")
    inner.set("with_", exp.With(expressions=[*made, *([] if own is None else own.expressions)]))
    return replace(query, tree=tree)


def _need(name: str, views: Mapping[str, Query], needed: set[str]) -> None:
    if name not in needed:
        needed.add(name)
        for other in _read(views[name].tree, views):
            if other != name:
                _need(other, views, needed)


def _read(tree: exp.Expr, views: Mapping[str, Query]) -> list[str]:
    """The views that a query names; a name of its own WITH hides one."""
    own = {common.alias.lower() for common in tree.find_all(exp.CTE)}
    read = [table.name for table in tree.find_all(exp.Table) if table.name.lower() not in own]
    return [view for name in read if (view := declared_as(name, views)) is not None]


def _tree(view: Query, text: str) -> exp.Expr:
    """The view's query; what was written elsewhere has no place in `text` that an error could underline."""
    tree = view.tree.copy()
    if view.text != text:
        for node in tree.walk():
            node.meta.pop("span", None)
    return tree
