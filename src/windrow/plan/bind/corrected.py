"""CORRECT FOR: which queries can be answered again for late events, and why others cannot."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import Query, emit_of, error_at
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow

_WAY_OUT = "SELECT k, SUM(x) AS total FROM s [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY k, or leave out CORRECT FOR"
_EMITTED = "EMIT is not for them: whole answers are sent, and what late events correct in them"
_LEAVE_EMIT = "leave EMIT out: results have op, with - for what was told and + for what holds instead"
_LEAVE_EVERY = "leave EMIT EVERY out: an answer comes at the end, and is corrected from then on"
_UNORDERED = "leave ORDER BY and LIMIT out, and let the reader choose: rows have the end of their window"
_AS_GROUPS = (
    "GROUP BY k instead of DISTINCT k, an aggregate of the rows, or a RANGE with SLIDE; or leave out CORRECT FOR"
)


def correcting_in(tree: exp.Expr, catalog: Catalog) -> Stream | None:
    """The first stream in a query whose windows are answered again for late events."""
    found = (catalog.streams.get(table.name) for table in tree.find_all(exp.Table))
    return next((stream for stream in found if stream is not None and stream.correct_us), None)


def refuse_over_changes(query: Query, catalog: Catalog) -> None:
    """Refuse rows that come and go over a stream with CORRECT FOR: each has been sent on when a late one comes."""
    stream = correcting_in(query.tree, catalog)
    if stream is not None:
        if query.tree.args.get("emit") is not None:
            raise _refused(query, stream, _EMITTED, _LEAVE_EMIT)
        what = "joins, set operators, DISTINCT, OVER, rows of windows and windows without SLIDE are not"
        why = "what a late event would change in them has been worked into the state of what follows"
        raise _refused(query, stream, f"{what}: {why}", _AS_GROUPS)


def refuse_uncorrected(query: Query, bound: QueryPlan, catalog: Catalog) -> None:
    """Refuse what cannot be answered again, or would be told in other rows than windows have."""
    stream = correcting_in(query.tree, catalog)
    assert stream is not None
    refused = _reason(query, bound)
    if refused is not None:
        raise _refused(query, stream, *refused)


def _reason(query: Query, bound: QueryPlan) -> tuple[str, str] | None:
    """Why a query cannot be corrected, and what can."""
    window = bound.window
    if isinstance(window, PredicateWindow):
        return "windows from condition to condition are not: a late row would open or close other ones", _WAY_OUT
    if isinstance(window, CountWindow) and not isinstance(window, SessionWindow):
        return "windows of rows are not: a late row would change the number of each row after it", _WAY_OUT
    if emit_of(query.tree) is not None:
        return _EMITTED, _LEAVE_EMIT
    if window.every_us is not None and isinstance(window, SessionWindow):
        return "EMIT EVERY of sessions is not: one that had ended may be open again", _LEAVE_EVERY
    if bound.clusters is not None:
        return "clusterings are not: the numbers of clusters go on from answer to answer", _WAY_OUT
    if bound.items:
        return "the rows of windows are not: aggregates of them are", _WAY_OUT
    if bound.rankings:
        return "numbers of rows are not: a late event changes those of other rows", _WAY_OUT
    if bound.order or bound.limit is not None:
        return "an order, or a limit, is one of a whole answer, and a correction sends parts of it", _UNORDERED
    if isinstance(window, NestedWindow) and (window.aging or any(_asks_levels(one) for one in bound.aggregates)):
        return "AGING, RECURRING and levels that are compared are not: a level is corrected by itself", _WAY_OUT
    return None


def _asks_levels(aggregate: Aggregate) -> bool:
    return aggregate.answer == "RECURRING" or aggregate.of_level is not None


def _refused(query: Query, stream: Stream, reason: str, way_out: str) -> QueryError:
    place = next(table for table in query.tree.find_all(exp.Table) if table.name == stream.name)
    message = (
        f"{stream.name!r} has CORRECT FOR, and only sessions and windows over time with a slide are corrected; {reason}"
    )
    return error_at(place, message, query.text, way_out)
