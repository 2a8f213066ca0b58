"""Streams, tables, views and indexes by the names that they were declared with, in whatever case a query has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from windrow.language import Query
from windrow.plan.bind.names import placed_as, unknown_name
from windrow.plan.catalog import Catalog


def spell_names(query: Query, catalog: Catalog) -> Query:
    """The query with names as they were declared: in SQL, `FROM Ticks` and `FROM ticks` are the same.

    >>> from windrow.expressions.local_engine import LocalEngine
    >>> from windrow.language import expression_sql, parse_query
    >>> import pyarrow as pa
    >>> catalog = Catalog(LocalEngine(), tables={"Prices": pa.schema([])})
    >>> expression_sql(spell_names(parse_query("SELECT 1 FROM s JOIN PRICES ON PRICES.k = s.k"), catalog).tree)
    'SELECT 1 FROM s JOIN Prices ON PRICES.k = s.k'
    """
    known = {*catalog.streams, *catalog.tables, *catalog.views, *catalog.indexes}
    if all(table.name in known for table in query.tree.find_all(exp.Table)):
        return query
    tree = query.tree.copy()
    own = {common.alias.lower() for common in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        meant = declared_as(table.name, known)
        if meant is not None and meant != table.name and table.name.lower() not in own:
            table.set("this", placed_as(exp.to_identifier(meant, quoted=table.this.args.get("quoted")), table.this))
    return replace(query, tree=tree)


def refuse_unknown(query: Query, catalog: Catalog) -> None:
    """Raise for a name in FROM that is none of what was declared, nor of the query's own WITH."""
    known = [*catalog.streams, *catalog.tables, *catalog.views, *catalog.indexes]
    own = [common.alias for common in query.tree.find_all(exp.CTE)]
    spelt = {name.lower() for name in (*known, *own)}
    for table in query.tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and table.name.lower() not in spelt:
            raise unknown_name("stream", table.name, [*known, *own], table.this, query.text)


def declared_as(name: str, known: Iterable[str]) -> str | None:
    """The name of which `name` differs at most in the case of its letters; itself, if that is one, else the only one.

    >>> declared_as("ticks", ["Ticks", "trips"]), declared_as("ticks", ["Ticks", "TICKS"])
    ('Ticks', None)
    """
    alike = [one for one in known if one.lower() == name.lower()]
    return name if name in alike else alike[0] if len(alike) == 1 else None
