"""Which engine answers a query: windows folded from panes, or operators over changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from windrow.language import TimeWindow, query_window_of, window_of
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.edges import EDGES


def is_over_changes(tree: exp.Expr, scope: Scope) -> bool:
    """Whether a query is answered by operators over changes.

    Panes answer one aggregation over one stream through a window that slides, and what is chosen of its answers. All
    else needs rows that come and go: joins, set operators, DISTINCT, windows without a slide, the rows of a window
    themselves, an aggregate over the answers of another, and rows that are told apart by their window.
    """
    for node in tree.walk():
        if isinstance(node, exp.SetOperation) or query_window_of(node) is not None:
            return True
        if isinstance(node, exp.Select) and (node.args.get("joins") or node.args.get("distinct")):
            return True
    windows = [window for table in tree.find_all(exp.Table) if (window := window_of(table)) is not None]
    if not windows or any(isinstance(window, TimeWindow) and window.slide_us is None for window in windows):
        return bool(windows)
    chain = _chain(tree, {})
    folding = [number for number, select in enumerate(chain) if aggregates(select, scope)]
    if len(folding) != 1:
        return bool(chain)
    sliding = all(isinstance(window, TimeWindow) and window.emit_every_us is None for window in windows)
    return sliding and _reads_edges(chain[folding[0] :], scope)


def aggregates(select: exp.Select, scope: Scope) -> bool:
    """Whether a SELECT makes groups of its rows."""
    clauses = any(select.args.get(clause) for clause in ("group", "having", "cluster"))
    return clauses or any(calls_in(node, scope) for node in select.selects)


def _chain(tree: exp.Expr, named: Mapping[str, exp.Expr]) -> list[exp.Select]:
    """The SELECTs from this one down to the stream; none where one of them is no query, which binding says."""
    select = tree.unnest()
    if not isinstance(select, exp.Select) or select.args.get("from_") is None:
        return []
    if select.args.get("with_"):
        named = {**named, **{common.alias.lower(): common.this for common in select.args["with_"].expressions}}
    table = select.args["from_"].this
    below = table.this if isinstance(table, exp.Subquery) else named.get(table.name.lower())
    if below is None:
        return [select]
    others = {name: query for name, query in named.items() if query is not below}
    lower = _chain(below, others)
    return [select, *lower] if lower else []


def _reads_edges(chain: Sequence[exp.Select], scope: Scope) -> bool:
    """Whether `window_start` or `window_end` is read before rows are grouped, in the first of `chain` or below it."""
    streams = (scope.catalog.streams.get(table.name) for table in chain[-1].find_all(exp.Table))
    own = {name.lower() for stream in streams if stream is not None for name in stream.schema.names}
    own |= {node.alias.lower() for select in chain for node in select.selects}
    first, *rest = chain
    parts = [call for node in (*first.selects, first.args.get("having")) if node for call in calls_in(node, scope)]
    parts += [where for select in chain if (where := select.args.get("where"))]
    group = first.args.get("group")
    parts += [node for node in (group.expressions if group else ()) if not isinstance(node, exp.Column)]
    parts += [node for select in rest for node in select.selects]
    named = {column.name.lower() for part in parts for column in part.find_all(exp.Column)}
    return bool((named - own) & set(EDGES))
