"""Whether all that a query reads is within one window whose answers can be joined, compared and grouped again."""

from __future__ import annotations

from sqlglot import exp

from windrow.compile.groupings_of_keys import has_groupings_of_keys
from windrow.compile.joined_answers import is_joined_answers
from windrow.language import (
    CalendarWindow,
    CumulateWindow,
    LevelsWindow,
    PredicateWindow,
    Query,
    RowRangeTimeSlideWindow,
    RowWindow,
    SessionWindow,
    TimeRangeRowSlideWindow,
    TimeWindow,
    Window,
    emit_of,
    error_at,
    expression_sql,
    query_window_of,
    window_of,
)
from windrow.language.nodes import CLUSTER, EMIT, STREAM_WINDOW, StreamFunction
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.over_changes import aggregates, is_over_changes
from windrow.plan.bind.refuse import not_yet


def has_one_window(tree: exp.Expr, scope: Scope, *, of_rows: bool = False) -> bool:
    """Whether all windows of a query are one, which is answered from panes, and it asks for more than panes answer.

    `of_rows` is a query whose answers are wanted as rows that come, whatever it asks for.
    """
    leaves = leaves_of(tree)
    windows = [window for leaf in leaves if (window := window_of(leaf)) is not None]
    if not windows or any(not _is_answered(window) or window != windows[0] for window in windows):
        return False
    if tree.find(StreamFunction, exp.Distribute) or any(query_window_of(node) for node in tree.find_all(exp.Query)):
        return False
    over = of_streams(tree)  # what stands in a window is its own affair
    by_key = any(has_groupings_of_keys(select, scope) for select in over.find_all(exp.Select))
    if not by_key and not of_rows and not is_over_changes(over, scope):
        return False
    no_events = isinstance(windows[0], PredicateWindow | RowRangeTimeSlideWindow)  # none that others can be joined with
    return no_events or not any(_joins_in_time(node, scope) for node in tree.find_all(exp.Select))


def _is_answered(window: Window) -> bool:
    """Whether the answers of a window are events whose instants tell which window they are of."""
    match window:
        case TimeWindow():
            return window.emit_every_us is not None
        case RowWindow():
            return window.slide_rows is not None
        case RowRangeTimeSlideWindow():
            return window.emit_every_us is None
        case TimeRangeRowSlideWindow():
            return not window.unique
        case LevelsWindow():
            return not window.aging
    return isinstance(window, CalendarWindow | CumulateWindow | SessionWindow | PredicateWindow)


def leaves_of(tree: exp.Expr) -> list[exp.Expr]:
    """What has a window over it, and stands in no other that has."""
    walked = tree.walk(prune=lambda node: node.args.get(STREAM_WINDOW) is not None)
    return [node for node in walked if node.args.get(STREAM_WINDOW) is not None]


def _joins_in_time(select: exp.Select, scope: Scope) -> bool:
    """Whether a SELECT joins answers that end at different instants, as its conditions say, or answers with tables."""
    sources = sources_of(select)
    if any(window_of(source) is not None for source in sources):
        return False
    conditions = [select.args.get("where"), *(join.args.get("on") for join in select.args.get("joins") or [])]
    named = {column.name.lower() for part in conditions if part for column in part.find_all(exp.Column)}
    named |= {name.name.lower() for join in select.args.get("joins") or [] for name in join.args.get("using") or []}
    one = sum(not isinstance(source, exp.Table) or source.name not in scope.catalog.tables for source in sources) == 1
    alone = one and not aggregates(select, scope) and not _asks_windows(select)
    in_time = bool(named & set(EDGES)) or alone
    return in_time and any(is_joined_answers(source, scope) for source in sources)


def _asks_windows(select: exp.Select) -> bool:
    """Whether a sub-query beside FROM reads a window, which is that of the answers that it is asked of."""
    joins = select.args.get("joins") or []
    parts = [*select.selects, select.args.get("where"), *(join.args.get("on") for join in joins)]
    return any(part is not None and leaves_of(part) for part in parts)


def sources_of(select: exp.Select) -> list[exp.Expr]:
    first = select.args.get("from_")
    return [*([first.this] if first is not None else []), *(join.this for join in select.args.get("joins") or [])]


def of_streams(tree: exp.Expr) -> exp.Expr:
    """The query without EMIT, and with a name for each sub-query that has a window over it: its answers are events."""
    made = tree.copy()
    made.set(EMIT, None)
    for leaf in [leaf for leaf in leaves_of(made) if isinstance(leaf, exp.Subquery)]:
        table = exp.Table(this=exp.to_identifier("#answers"), alias=leaf.args.get("alias"))
        table.set(STREAM_WINDOW, leaf.args[STREAM_WINDOW])
        leaf.replace(table)
    return made


def refuse_other_answers(query: Query) -> None:
    """Refuse what has no meaning in one window: windows of other streams, and what differs from window to window."""
    _refuse_clauses(query)
    _refuse_several_lines(query)


def _refuse_several_lines(query: Query) -> None:
    """Refuse sessions and windows of rows of several streams: those of one end apart from those of the other."""
    first, *others = leaves_of(query.tree)
    window = window_of(first)
    levels = window.levels if isinstance(window, LevelsWindow) else (window,)
    if all(isinstance(level, CalendarWindow | CumulateWindow | TimeWindow) for level in levels):
        return
    for leaf in others:
        if _bare(leaf) != _bare(first):
            kind = "sessions" if isinstance(window, SessionWindow) else "windows of rows"
            message = f"{kind} of two streams end apart, so that no window of the one is that of the other"
            near = "b.window_end BETWEEN a.window_end - INTERVAL 5 MINUTES AND a.window_end"
            hint = f"a join of their answers: FROM (SELECT ...) AS a JOIN (SELECT ...) AS b ON a.k = b.k AND {near}"
            raise error_at(leaf, message, query.text, hint)


def _bare(leaf: exp.Expr) -> str:
    made = leaf.copy()
    made.set("alias", None)
    return expression_sql(made)


def _refuse_clauses(query: Query) -> None:
    """Refuse what says how answers differ from window to window: those of an instant have none before them."""
    emit = query.tree.args.get(EMIT)
    if emit is not None and emit_of(query.tree) not in ("SNAPSHOT", "FINAL"):
        what = "EMIT CHANGES, WHEN or LAST of a join, a set operator or a sub-query in this kind of window"
        raise not_yet(emit, what, query.text, "leave EMIT out: each window is then told as it ends", tree=query.tree)
    for select in query.tree.find_all(exp.Select):
        if select.args.get(CLUSTER) is not None and (
            len(sources_of(select)) > 1 or window_of(sources_of(select)[0]) is None
        ):
            what = "CLUSTER BY beside a join, a set operator or a sub-query in this kind of window"
            raise not_yet(select.args[CLUSTER], what, query.text, "[RANGE 10 MINUTES SLIDE 1 MINUTE]", tree=select)
