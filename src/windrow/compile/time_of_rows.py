"""What rows call the time of their events: those of a stream, or what a view, a branch or a sub-query makes of it."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.plan.catalog import Catalog


def time_of_rows(source: exp.Expr, around: exp.Expr, catalog: Catalog) -> str | None:
    """The column with the time of what stands in FROM, if it has that; `around` is the query with its WITH."""
    return _of_source(source, _names(around), catalog)


def time_of_name(name: str, catalog: Catalog) -> str | None:
    """The same of a stream or a view."""
    return _of_name(name, {}, catalog)


def joins_table(join: exp.Join, catalog: Catalog) -> bool:
    """Whether a join adds columns of a table to the events before it."""
    name = join.this.name if isinstance(join.this, exp.Table) else ""
    kinds = (join.side or "").upper() in ("", "LEFT") and (join.kind or "").upper() in ("", "INNER", "CROSS", "OUTER")
    return kinds and name in catalog.tables and name not in catalog.streams and name not in catalog.views


def _of_source(source: exp.Expr, known: Mapping[str, exp.Expr], catalog: Catalog) -> str | None:
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return None
    if isinstance(source, exp.Subquery):
        return _of_query(source.this, known, catalog)
    return _of_name(source.name, known, catalog)


def _of_name(name: str, known: Mapping[str, exp.Expr], catalog: Catalog) -> str | None:
    if name in known:
        return _of_query(known[name], {other: tree for other, tree in known.items() if other != name}, catalog)
    if name in catalog.streams:
        stream = catalog.streams[name]
        return stream.time if stream.made_of is None and stream.time in stream.schema.names else None
    if name in catalog.views:
        tree = catalog.views[name].tree
        return _of_query(tree, _names(tree), catalog)
    return None


def _of_query(tree: exp.Expr, known: Mapping[str, exp.Expr], catalog: Catalog) -> str | None:
    """What a select list calls the time of its only stream."""
    read = tree.args.get("from_")
    if not isinstance(tree, exp.Select) or read is None or tree.args.get("group"):
        return None
    if not all(joins_table(join, catalog) for join in tree.args.get("joins") or []):
        return None
    if not isinstance(read.this, exp.Table | exp.Subquery):
        return None
    column = _of_source(read.this, known, catalog)
    if column is None:
        return None
    for shown in tree.expressions:
        told = shown.this if isinstance(shown, exp.Alias) else shown
        if shown.is_star:
            return column
        own = isinstance(told, exp.Column) and told.table.lower() in ("", read.this.alias_or_name.lower())
        if own and told.name.lower() == column.lower():
            return str(shown.alias_or_name)
    return None


def _names(tree: exp.Expr) -> dict[str, exp.Expr]:
    """The queries of WITH, by name."""
    clause = tree.args.get("with_")
    return {} if clause is None else {named.alias: named.this for named in clause.expressions}
