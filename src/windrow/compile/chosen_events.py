"""What stands in FROM and only chooses among the events of one stream, and computes columns of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlglot import exp

from windrow.compile.time_of_rows import time_of_rows
from windrow.language.nodes import STREAM_WINDOW
from windrow.plan.catalog import Catalog

_MORE = ("joins", "group", "having", "qualify", "distinct", "order", "limit", "cluster", "query_window", "with_")


class ChosenEvents(NamedTuple):
    """Rows that are events of a stream: their columns, and what the time of an event is called among them."""

    columns: list[str]
    time: str


def chosen_events(source: exp.Expr, around: exp.Expr, catalog: Catalog) -> ChosenEvents | None:
    """The events that a stream, a branch of it, or a sub-query has; None of what is more, or has a window.

    `around` is the query with its WITH.
    """
    clause = around.args.get("with_")
    named = {} if clause is None else {common.alias: common for common in clause.expressions}
    columns = _columns(source, named, catalog)
    if columns is None:
        return None
    if isinstance(source, exp.Table) and source.name not in named:
        return ChosenEvents(columns, catalog.streams[source.name].time or "")
    return ChosenEvents(columns, time_of_rows(source, around, catalog) or "")


def _columns(source: exp.Expr, named: Mapping[str, exp.CTE], catalog: Catalog) -> list[str] | None:
    if not isinstance(source, exp.Table | exp.Subquery) or source.args.get(STREAM_WINDOW) is not None:
        return None
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return None
    if isinstance(source, exp.Subquery):
        return _selected(source.this, named, catalog)
    if source.name in named:
        common = named[source.name]
        others = {name: other for name, other in named.items() if name != source.name}
        return None if common.args["alias"].columns else _selected(common.this, others, catalog)
    return list(catalog.streams[source.name].schema.names) if source.name in catalog.streams else None


def _selected(tree: exp.Expr, named: Mapping[str, exp.CTE], catalog: Catalog) -> list[str] | None:
    """The names of a select list over events."""
    if not isinstance(tree, exp.Select) or any(map(tree.args.get, _MORE)) or tree.args.get("from_") is None:
        return None
    where = tree.args.get("where")
    parts = [*tree.selects, *([] if where is None else [where])]
    if any(part.find(exp.AggFunc, exp.Window, exp.Query) is not None for part in parts):
        return None
    below = _columns(tree.args["from_"].this, named, catalog)
    if below is None:
        return None
    return [name for node in tree.selects for name in (below if node.is_star else [node.alias_or_name])]
