"""Clauses that the language has and this version does not run: refused where they stand, never dropped."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from windrow.errors import NotSupportedYet
from windrow.language import CalendarWindow, CumulateWindow, LevelsWindow, RowWindow, SessionWindow, error_at, span_of
from windrow.language import PredicateWindow as PredicateWindowText
from windrow.language import TimeWindow as WrittenWindow
from windrow.language.nodes import STREAM_WINDOW
from windrow.plan.bind.refuse_time_functions import refuse_spark_windows
from windrow.plan.nodes.query_plan import QueryPlan

_CLAUSES = {"joins": "JOIN", "distinct": "DISTINCT", "offset": "OFFSET"}
_BEFORE_OVER = ("where", "having", "group")
_SKIP = "QUALIFY ROW_NUMBER() OVER (ORDER BY x DESC) BETWEEN 11 AND 20"


_ELSEWHERE = ", in another query than one aggregation over one sliding window,"
_BESIDE = " beside another window"
"""Where operators over changes answer, which have fewer kinds of windows: of others, one for all that is read."""


def refuse_unsupported(tree: exp.Select, text: str) -> None:
    """Raise for the first clause of `tree` that cannot be run."""
    for clause, name in _CLAUSES.items():
        found = tree.args.get(clause)
        if found and clause == "offset":  # joins with tables, and DISTINCT, can be
            hint = _SKIP if clause == "offset" else None
            raise not_yet(found[0] if isinstance(found, list) else found, name, text, hint, tree=tree)
    for part in [*tree.selects, *(tree.args.get(clause) for clause in (*_BEFORE_OVER, "order", "qualify"))]:
        if part is not None:
            refuse_spark_windows(part, text)
            for node in part.find_all(exp.Query):
                raise not_yet(node, "a sub-query outside FROM", text)
    _refuse_over_in([tree.args.get(clause) for clause in _BEFORE_OVER], text)


def _refuse_over_in(conditions: Iterable[exp.Expr | None], text: str) -> None:
    for part in filter(None, conditions):
        for node in part.find_all(exp.Window):
            message = "OVER is computed after WHERE, GROUP BY and HAVING"
            raise error_at(node, message, text, "QUALIFY ROW_NUMBER() OVER (...) <= 3, or WHERE around a sub-query")


def refuse_around(tree: exp.Subquery, text: str) -> None:
    """Raise for what stands behind a query in brackets, and would have to be done to all of its answer."""
    for clause, name in {"order": "ORDER BY", "limit": "LIMIT", "offset": "OFFSET"}.items():
        if tree.args.get(clause):
            hint = f"put {name} inside of the brackets"
            raise not_yet(tree.args[clause], f"{name} behind a query in brackets", text, hint, tree=tree)


def not_yet(
    node: exp.Expr, what: str, text: str, hint: str | None = None, *, tree: exp.Expr | None = None
) -> NotSupportedYet:
    """The error for `what`, underlining `node`, or `tree` where the node has no place of its own."""
    start, end = span_of(node) or (span_of(tree) if tree is not None else None) or (None, None)
    return NotSupportedYet(f"{what} is not supported yet", text=text, at=start, end=end, hint=hint)


def window_over_changes(written: object, table: exp.Expr, text: str) -> NotSupportedYet:
    """The error for a window that only one aggregation can be asked of, or that all of a query has to have."""
    place = table.args.get("stream_window") or table
    match written:
        case LevelsWindow():
            kind = "a nested window"
        case PredicateWindowText():
            kind = "a window from condition to condition"
        case CalendarWindow():
            kind = "a window by the calendar"
        case CumulateWindow():
            kind = "CUMULATE"
        case WrittenWindow():
            kind = "a window that answers early"
        case SessionWindow():
            kind = "a session window"
        case _:
            kind = "a window that counts rows"
    if isinstance(written, RowWindow) and written.slide_rows is None:
        return not_yet(place, f"{kind}{_ELSEWHERE}", text, "add SLIDE 1, or [RANGE 10 MINUTES SLIDE 1 MINUTE]")
    if isinstance(written, LevelsWindow) and written.aging:
        return not_yet(place, f"{kind} with AGING{_ELSEWHERE}", text, "leave AGING out")
    hint = "the same window behind each stream, or [RANGE 10 MINUTES SLIDE 1 MINUTE] behind each"
    if not isinstance(written, PredicateWindowText | WrittenWindow):
        hint = f"{hint}, or a window over its answers: FROM (SELECT ...) AS answers [RANGE 1 HOUR SLIDE 1 HOUR]"
    return not_yet(place, f"{kind}{_BESIDE}", text, hint)


def window_over_sub_query(table: exp.Expr, text: str) -> NotSupportedYet:
    """The error of a window behind a sub-query whose rows it cannot be over."""
    inner = table.this.unnest() if isinstance(table, exp.Subquery) else None
    if inner is None or any(node.args.get(STREAM_WINDOW) is not None for node in inner.walk()):
        way_out = "a stream of its answers, which others read: CREATE STREAM name AS SELECT ..."
        return not_yet(table, "a window over a windowed sub-query", text, way_out)
    way_out = "[RANGE 1 SECOND SLIDE 1 SECOND] behind each stream within it, whose rows then happen as that second ends"
    return not_yet(table, "a window over a join or a set operator of streams without windows", text, way_out)


def refuse_changes(tree: exp.Expr, query: QueryPlan, text: str) -> None:
    """Raise where the changes of a query cannot be told."""
    emit = tree.args.get("emit") or tree
    if query.rankings:
        message = (
            "DISTINCT of aggregates and OVER are of the rows of a whole answer, and EMIT CHANGES sends parts of it"
        )
        raise error_at(emit, message, text, "leave EMIT out, and give the window a SLIDE, as [ROWS 100 SLIDE 1]")
    if query.order or query.limit is not None:
        message = "an order, or a limit, is one of a whole answer, and EMIT CHANGES sends parts of it"
        way_out = "leave ORDER BY and LIMIT out, or EMIT SNAPSHOT"
        if tree.args.get("emit") is None:
            message = "an order, or a limit, is one of a whole answer, and without SLIDE each row's changes are sent"
            way_out = "add SLIDE 1 to the window: [ROWS 100 SLIDE 1]"
        raise error_at(tree.args.get("order") or emit, message, text, way_out)


def refuse_clauses_over_changes(tree: exp.Expr, text: str) -> None:
    """Raise for the first clause that has no meaning for rows that come and go, or none yet."""
    if tree.args.get("order") and not tree.args.get("limit"):
        message = "rows that come and go have no order: ORDER BY says which are the first ones, and needs LIMIT"
        raise error_at(tree.args["order"], message, text, "ORDER BY ... LIMIT 10, or leave ORDER BY out")
    for clause, name in _CLAUSES.items():
        found = tree.args.get(clause)
        if found and clause not in ("joins", "distinct"):
            hint = _SKIP if clause == "offset" else None
            raise not_yet(found[0] if isinstance(found, list) else found, name, text, hint, tree=tree)
    if not isinstance(tree, exp.Select):
        return
    conditions = [tree.args.get(clause) for clause in ("where", "group", "having")]
    conditions += [join.args.get("on") for join in tree.args.get("joins") or []]
    for part in filter(None, [*tree.selects, *conditions]):
        refuse_spark_windows(part, text)
    _refuse_over_in(conditions, text)


def refuse_sub_queries(tree: exp.Select, text: str) -> None:
    """Raise for the first sub-query that has become no join: those of FROM, WHERE, HAVING and the select list have."""
    for part in filter(None, [tree.args.get("group"), tree.args.get("order")]):
        for node in part.find_all(exp.Query):
            clause = "GROUP BY" if part is tree.args.get("group") else "ORDER BY"
            hint = "let it be a column of a sub-query in FROM: FROM (SELECT k, (SELECT ...) AS asked FROM s) AS q"
            raise not_yet(node, f"a sub-query in {clause}", text, hint)
