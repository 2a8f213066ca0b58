"""The names that state has in a checkpoint: declared here, word for word, and never how a class happens to print.

A name says what is held: which rows, by which keys, in which format. It says nothing of how the optimizer folds or
schedules it, since that does not change the bytes. A class may be renamed, and a field with a default added, without
a change here; whoever changes the bytes of something gives it the next number in `VERSIONS`, and so another name.

Texts are for people (`windrow clean` shows them); keys of the state store have a hash of them (`name_parts.short`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from windrow.plan.name_parts import literal, quoted, short, span, type_text
from windrow.plan.nodes.aggregates import Aggregate, FilledPartial, Partial, SizedPartial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.seen_partial import SeenPartial
from windrow.plan.window_names import window_text
from windrow.plan.windows.early_rows import closing
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.session_window import SessionWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.joined_rows import JoinedRows, TableStep
    from windrow.plan.nodes.query_plan import QueryPlan
    from windrow.plan.nodes.row_panes import NumberedPanes
    from windrow.plan.nodes.spaces import Key, RowSpace, Space

PANES, TOTALS, ROWS, OPENED, SESSIONS = "panes", "totals", "rows", "opened windows", "sessions"
ROW_PANES = "row panes"
POINTS = "points"
ANSWER = "last answer"

VERSIONS = {
    PANES: 1,
    TOTALS: 1,
    ROWS: 1,
    ROW_PANES: 1,
    POINTS: 1,
    OPENED: 1,
    SESSIONS: 1,
    ANSWER: 1,
    "count": 1,
    "seen": 1,
    "integer_sum": 1,
    "float_sum": 1,
    "decimal_sum": 1,
    "scaled_count": 1,
    "scaled_integer_sum": 1,
    "scaled_float_sum": 1,
    "scaled_decimal_sum": 1,
    "moments": 1,
    "pair_moments": 1,
    "filled_moments": 1,
    "high_moments": 1,
    "decayed": 1,
    "truth": 1,
    "bit_and": 1,
    "bit_or": 1,
    "bit_xor": 1,
    "min": 1,
    "max": 1,
    "min_by": 1,
    "max_by": 1,
    "top": 1,
    "frequent": 1,
    "histogram": 1,
    "first": 1,
    "last": 1,
    "values": 1,
    "counted": 1,
    "collect": 1,
    "collect_nulls": 1,
    "distinct_sketch": 1,
    "digest": 1,
    "user": 1,
    "user_rows": 1,
    "clustering": 1,
    "cluster": 1,
    "hull": 1,
}
"""The format of each kind of space and partial. A change of bytes is the next number, and so another name."""


def versioned(kind: str) -> str:
    return f"{kind}/{VERSIONS[kind]}"


def partial_text(partial: Partial) -> str:
    """What a pane keeps of one argument.

    >>> import pyarrow as pa
    >>> partial_text(Partial("float_sum", "price", pa.float64(), "volume > 0"))
    'float_sum/1(price double) where volume > 0'
    """
    of = "*" if partial.argument is None else partial.argument
    typed = of if partial.type is None else f"{of} {type_text(partial.type)}"
    text = versioned(partial.kind) + ("" if partial.user is None else f" {quoted(partial.user)}")
    if isinstance(partial, ClusterPartial):
        parameters = ", ".join(literal(value) for value in partial.parameters)
        text += f" {partial.algorithm}({parameters}) of ({', '.join(partial.coordinates)})"
        text += "".join(f" with {partial_text(other)}" for other in partial.attached)
    else:
        text += f"({typed})"
    text += f" each {span(partial.step_us)}" if isinstance(partial, FilledPartial) else ""
    text += f" size {partial.size}" if isinstance(partial, SizedPartial) else ""
    text += f" in {_levels(partial)}" if isinstance(partial, SeenPartial) else ""
    text += " ignoring nulls" if partial.ignore_nulls else ""
    return text if partial.filter is None else f"{text} where {partial.filter}"


def _levels(partial: SeenPartial) -> str:
    return " and ".join(window_text(window) for window in partial.levels)


@lru_cache(maxsize=4096)
def partial_name(partial: Partial) -> str:
    """A short name for its columns in state."""
    return short(partial_text(partial))[:8]


def aggregate_text(aggregate: Aggregate) -> str:
    """An answer, and what it is drawn from."""
    level = "" if aggregate.of_level is None else f" of level {aggregate.of_level}"
    return f"{aggregate.answer} {type_text(aggregate.type)} from {partial_text(aggregate.partial)}{level}"


def joined_text(rows: JoinedRows | None) -> str:
    """What a stream's rows are joined with before they are counted; nothing, if they are its own."""
    return "" if rows is None else "".join(f" {_step_text(step)}" for step in rows.steps)


def _step_text(step: TableStep) -> str:
    pairs = [f"{pair.left} = {pair.right} {type_text(pair.type)}" for pair in step.on]
    return f"{step.kind} join {quoted(step.table)} as {quoted(step.name)} on {' and '.join([*pairs, *step.residual])}"


def counted_rows(stream: str, rows: JoinedRows | None, where: str | None, keys: Iterable[Key]) -> str:
    """Which rows, by what."""
    by = ", ".join(f"{key.sql} {type_text(key.type)}" for key in keys)
    text = quoted(stream) + joined_text(rows) + ("" if where is None else f" where {where}")
    return f"{text} by {by}" if by else text


def space_text(space: Space) -> str:
    """Panes of a stream, or totals of windows without bound, which never let go of a group."""
    kind = TOTALS if space.unbounded else PANES
    return f"{versioned(kind)} of {counted_rows(space.stream, space.rows, space.where, space.keys)}"


def row_space_text(space: RowSpace) -> str:
    """Rows of a stream that are numbered for one window, points among them, windows that rows open and close, or
    sessions."""
    kind = {PredicateWindow: OPENED, SessionWindow: SESSIONS}.get(type(space.window), ROWS)
    if space.holds_points and any(isinstance(partial, ClusterPartial) for partial in space.partials):
        kind = POINTS
    held = f"{window_text(space.window)} {counted_rows(space.stream, space.rows, space.where, space.keys)}"
    return f"{versioned(kind)} of {held} keeping {_all(space.partials)}"


def row_panes_text(space: NumberedPanes) -> str:
    """Panes of numbered rows, for all windows that count them."""
    counted = "" if space.counted is None else f" counting {space.counted}"
    return f"{versioned(ROW_PANES)} of {counted_rows(space.stream, space.rows, space.where, space.keys)}{counted}"


def row_place_text(space: RowSpace) -> str:
    """What says which shard a space of rows is in: levels of one query, which differ in their windows, are together."""
    counted = "" if space.window.counted is None else f" counting {space.window.counted}"
    rows = counted_rows(space.stream, space.rows, space.where, space.keys)
    return f"place of {rows}{counted} keeping {_all(space.partials)}"


def need_text(query: QueryPlan) -> str:
    """What a query asks of its space."""
    return f"{window_text(query.window)} of {_all(query.partials)}"


def compared_text(query: QueryPlan) -> str:
    """What is compared from window to window, where only changes are told."""
    clusters = "" if query.clusters is None else f" of {partial_text(query.clusters)}"
    clusters += "" if query.asked is None else f" as {query.asked.method}"
    asked = "; ".join(aggregate_text(aggregate) for aggregate in query.aggregates)
    rows = counted_rows(query.stream, query.rows, query.where, query.keys)
    return f"{versioned(ANSWER)} of {window_text(query.window)} {rows}{clusters}: {asked}"


def followed_text(space: RowSpace, query: QueryPlan) -> str:
    """The clusters of the last windows of a space of rows, by which those of the next ones get their numbers.

    Early answers, which have a space of their own, go by the same clusters as the windows that close.
    """
    assert query.clusters is not None
    if space.holds_points and query.window.every_us is not None:
        space = replace(space, window=replace(closing(space.window), every_us=query.window.every_us))
    asked = "" if query.asked is None else f" as {query.asked.method}"
    return f"last clusters of {partial_text(query.clusters)}{asked} in {row_space_text(space)}"


def answer_text(query: QueryPlan) -> str:
    """All that makes the answer of a query, by which a sink that holds it knows its own."""
    shown = ", ".join(f"{output.sql} as {quoted(output.name)}" for output in query.outputs)
    text = f"{quoted(query.name)}: {compared_text(query)}; {query.emit} {shown}"
    text += "" if query.having is None else f" having {query.having}"
    for term in query.order:
        text += f" order {term.sql} {'desc' if term.descending else 'asc'}"
        text += f" nulls {'first' if term.nulls_first else 'last'}"
    text += "".join(f" {ranking.text}" for ranking in query.rankings)
    text += "" if query.qualify is None else f" qualify {query.qualify}"
    return text if query.limit is None else f"{text} limit {query.limit}"


def _all(partials: Iterable[Partial]) -> str:
    return "; ".join(map(partial_text, partials))
