"""Which engine answers a query: windows folded from panes, or operators over changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from windrow.language import TimeWindow, Window, emit_of, query_window_of, window_of
from windrow.language.nodes import EMIT, StreamFunction
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.is_table import is_table
from windrow.plan.bind.over_calls import RANKINGS, name_of


def is_over_changes(tree: exp.Expr, scope: Scope) -> bool:
    """Whether a query is answered by operators over changes.

    Panes answer one aggregation over one stream, perhaps joined with tables, through a window that slides, and what is
    chosen of its answers. All else needs rows that come and go: joins of streams, set operators, DISTINCT, windows
    without a slide, the rows of a window over time, an aggregate over the answers of another, a join with them, and
    rows that are told apart by their window, and functions that remember; and so does what EMIT may ask beside which
    changes are sent.
    """
    tables = [scope.catalog.streams.get(table.name) for table in tree.find_all(exp.Table)]
    if any(stream is not None and stream.tells_window for stream in tables):
        return True
    asked = tree.args.get(EMIT)
    if asked is not None and any(asked.args.get(name) for name in ("empty", "every")):
        return True
    if asked is not None and asked.args.get("when") and not _all_folded(tree):
        return True
    emit = emit_of(tree)
    first = tree.args.get("order") and tree.args.get("limit") and not _all_folded(tree)
    if emit is not None and emit not in ("SNAPSHOT", "FINAL") and first:
        return True
    folded = _all_folded(tree)
    for node in tree.walk():
        if isinstance(node, exp.SetOperation | StreamFunction) or query_window_of(node) is not None:
            return True
        if isinstance(node, exp.Select) and (_asks_others(node) or (not folded and _numbers_rows(node))):
            return True
        if isinstance(node, exp.Distribute):  # copies of events are rows
            return True
    joining = [select for select in tree.find_all(exp.Select) if select.args.get("joins")]
    windows = [window for table in tree.find_all(exp.Table, exp.Subquery) if (window := window_of(table))]
    if not windows or any(isinstance(window, TimeWindow) and window.slide_us is None for window in windows):
        return bool(windows) or bool(joining) or _tells_rows(tree, scope)
    chain = _chain(tree, {}, scope)
    folding = [number for number, select in enumerate(chain) if aggregates(select, scope)]
    if chain and not folding and all(_is_folded(window, tree) for window in windows):
        joined = [select for select in chain[:-1] if select.args.get("joins")]
        if not joined and (not joining or (joining == [chain[-1]] and _draws_more(chain[-1]))):
            return False
    if len(folding) != 1:
        return bool(chain) or bool(joining)
    below = chain[folding[0] :]
    within = window_of(chain[-1].args["from_"].this) is not None
    if folded and within and any(_numbers_rows(select) or select.args.get("limit") for select in below[1:]):
        return True  # which rows of a window are counted shows when all of them are there
    if any(all(select is not one for one in below) for select in joining):
        return True
    sliding = all(isinstance(window, TimeWindow) and window.emit_every_us is None for window in windows)
    return sliding and _reads_edges(below, scope)


def _tells_rows(tree: exp.Expr, scope: Scope) -> bool:
    """Whether a query chooses rows of a stream and computes columns of them: each is told as it comes, by no window."""
    return not any(aggregates(select, scope) for select in tree.find_all(exp.Select))


def _all_folded(tree: exp.Expr) -> bool:
    """Whether a query has only windows that operators over changes do not have."""
    windows = [window for table in tree.find_all(exp.Table, exp.Subquery) if (window := window_of(table))]
    return bool(windows) and all(_is_folded(window, tree) for window in windows)


def _is_folded(window: Window, tree: exp.Expr) -> bool:
    """Whether windows are folded also where their rows are asked for.

    So it is where operators over changes do not have them, and where OVER draws more than numbers from the rows beside
    a row, which takes the whole answer.
    """
    if not isinstance(window, TimeWindow) or window.emit_every_us is not None:
        return True
    return window.slide_us is not None and _draws_more(tree)


def _draws_more(tree: exp.Expr) -> bool:
    return any(name_of(over.this) not in RANKINGS for over in tree.find_all(exp.Window))


def aggregates(select: exp.Select, scope: Scope) -> bool:
    """Whether a SELECT makes groups of its rows."""
    clauses = any(select.args.get(clause) for clause in ("group", "having", "cluster"))
    return clauses or any(calls_in(node, scope) for node in select.selects)


def _asks_others(select: exp.Select) -> bool:
    """Whether a SELECT has a sub-query outside FROM, or a join that only rows that come and go can answer."""
    if any(join.side in ("RIGHT", "FULL") or join.kind in ("SEMI", "ANTI") for join in select.args.get("joins") or []):
        return True
    parts = [*select.selects, *(select.args.get(clause) for clause in ("where", "having"))]
    parts += [join.args.get("on") for join in select.args.get("joins") or []]
    return any(next(part.find_all(exp.Query), None) is not None for part in parts if part is not None)


def _numbers_rows(select: exp.Select) -> bool:
    """Whether a SELECT tells rows of an answer from the others of it: windows that are folded do so when they end."""
    parts = [*select.selects, select.args.get("qualify")]
    return bool(select.args.get("distinct")) or any(part.find(exp.Window) for part in parts if part is not None)


def _chain(tree: exp.Expr, named: Mapping[str, exp.Expr], scope: Scope) -> list[exp.Select]:
    """The SELECTs from this one down to the stream, past the tables that are joined with it.

    None where one of them is no query, which binding says, or a join of others than one stream and tables.
    """
    select = tree.unnest()
    if not isinstance(select, exp.Select) or select.args.get("from_") is None:
        return []
    if select.args.get("with_"):
        named = {**named, **{common.alias.lower(): common.this for common in select.args["with_"].expressions}}
    sources = [select.args["from_"].this, *(join.this for join in select.args.get("joins") or [])]
    others_than_tables = [source for source in sources if not is_table(source, named, scope)]
    table = others_than_tables[0] if len(others_than_tables) == 1 else sources[0]
    if len(sources) > 1 and len(others_than_tables) != 1:
        return []
    below = table.this if isinstance(table, exp.Subquery) else named.get(table.name.lower())
    if below is None:
        return [select]
    others = {name: query for name, query in named.items() if query is not below}
    lower = _chain(below, others, scope)
    return [select, *lower] if lower else []


def _reads_edges(chain: Sequence[exp.Select], scope: Scope) -> bool:
    """Whether `window_start` or `window_end` is read before rows are grouped, in the first of `chain` or below it."""
    named_below = [table.name for table in chain[-1].find_all(exp.Table)]
    schemas = [scope.catalog.streams[name].schema for name in named_below if name in scope.catalog.streams]
    schemas += [scope.catalog.tables[name] for name in named_below if name in scope.catalog.tables]
    own = {name.lower() for schema in schemas for name in schema.names}
    own |= {node.alias.lower() for select in chain for node in select.selects}
    first, *rest = chain
    parts = [call for node in (*first.selects, first.args.get("having")) if node for call in calls_in(node, scope)]
    parts += [where for select in chain if (where := select.args.get("where"))]
    parts += [on for select in chain for join in select.args.get("joins") or [] if (on := join.args.get("on"))]
    group = first.args.get("group")
    parts += [node for node in (group.expressions if group else ()) if not isinstance(node, exp.Column)]
    parts += [node for select in rest for node in select.selects]
    named = {column.name.lower() for part in parts for column in part.find_all(exp.Column)}
    return bool((named - own) & set(EDGES))
