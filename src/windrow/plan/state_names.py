"""The names that state has in a checkpoint: declared here, word for word, and never how a class happens to print.

A name says what is held: which rows, by which keys, in which format. It says nothing of how the optimizer folds or
schedules it, since that does not change the bytes. A class may be renamed, and a field with a default added, without
a change here; whoever changes the bytes of something gives it the next number in `VERSIONS`, and so another name.

Texts are for people (`windrow clean` shows them); keys of the state store have a hash of them, see `short`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.plan.nodes.aggregates import Aggregate, FilledPartial, Partial, SizedPartial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.windows.calendar import Calendar
from windrow.plan.windows.early import EarlyWindow
from windrow.plan.windows.early_rows import EarlyRows
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.plan.windows.uneven import CalendarWindow, CumulateWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.joined_rows import JoinedRows, TableStep
    from windrow.plan.nodes.query_plan import QueryPlan
    from windrow.plan.nodes.spaces import Key, RowSpace, Space

PANES, TOTALS, ROWS, OPENED, SESSIONS = "panes", "totals", "rows", "opened windows", "sessions"
ANSWER = "last answer"

VERSIONS = {
    PANES: 1,
    TOTALS: 1,
    ROWS: 1,
    OPENED: 1,
    SESSIONS: 1,
    ANSWER: 1,
    "count": 1,
    "integer_sum": 1,
    "float_sum": 1,
    "decimal_sum": 1,
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

_TYPES = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
    "null": "void",
}


def short(text: str) -> str:
    """The name that stands for `text` where it is a key.

    >>> short("panes/1 of ticks")
    'c4ef453fca4c3381'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def type_text(type: pa.DataType) -> str:
    """A type as Spark's DDL has it, whoever prints it; whether a value may be NULL changes no name.

    >>> type_text(pa.list_(pa.struct([("a b", pa.int64()), ("t", pa.timestamp("us", tz="UTC"))])))
    'array<struct<`a b`: bigint, t: timestamp>>'
    """
    if pa.types.is_decimal(type):
        return f"decimal({type.precision},{type.scale})"
    if pa.types.is_timestamp(type):
        return "timestamp_ntz" if type.tz is None else "timestamp"
    if pa.types.is_duration(type):
        return "interval day to second"
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return f"array<{type_text(type.value_type)}>"
    if pa.types.is_struct(type):
        return f"struct<{', '.join(f'{quoted(field.name)}: {type_text(field.type)}' for field in type)}>"
    if pa.types.is_map(type):
        return f"map<{type_text(type.key_type)}, {type_text(type.item_type)}>"
    return _TYPES.get(str(type), str(type))


def quoted(name: str) -> str:
    """A name that people gave, such that nothing in it can be taken for a word of ours.

    >>> quoted("ticks"), quoted("ticks where x")
    ('ticks', '`ticks where x`')
    """
    return name if re.fullmatch(r"\w+", name, re.ASCII) else f"`{name.replace('`', '``')}`"


def span(us: int) -> str:
    """A length of time.

    >>> span(60_000_000), span(1_500)
    ('60 s', '1500 us')
    """
    return f"{us} us" if us % 1_000_000 else f"{us // 1_000_000} s"


def versioned(kind: str) -> str:
    return f"{kind}/{VERSIONS[kind]}"


def partial_text(partial: Partial) -> str:
    """What a pane keeps of one argument.

    >>> partial_text(Partial("float_sum", "price", pa.float64(), "volume > 0"))
    'float_sum/1(price double) where volume > 0'
    """
    of = "*" if partial.argument is None else partial.argument
    typed = of if partial.type is None else f"{of} {type_text(partial.type)}"
    text = versioned(partial.kind) + ("" if partial.user is None else f" {quoted(partial.user)}")
    if isinstance(partial, ClusterPartial):
        parameters = ", ".join(_literal(value) for value in partial.parameters)
        text += f" {partial.algorithm}({parameters}) of ({', '.join(partial.coordinates)})"
        text += "".join(f" with {partial_text(other)}" for other in partial.attached)
    else:
        text += f"({typed})"
    text += f" each {span(partial.step_us)}" if isinstance(partial, FilledPartial) else ""
    text += f" size {partial.size}" if isinstance(partial, SizedPartial) else ""
    text += " ignoring nulls" if partial.ignore_nulls else ""
    return text if partial.filter is None else f"{text} where {partial.filter}"


@lru_cache(maxsize=4096)
def partial_name(partial: Partial) -> str:
    """A short name for its columns in state."""
    return short(partial_text(partial))[:8]


def aggregate_text(aggregate: Aggregate) -> str:
    """An answer, and what it is drawn from."""
    level = "" if aggregate.of_level is None else f" of level {aggregate.of_level}"
    return f"{aggregate.answer} {type_text(aggregate.type)} from {partial_text(aggregate.partial)}{level}"


def window_text(window: TimeWindow | CountWindow) -> str:
    """A window by its kind and its numbers. Whether a slide was rounded does not matter, only to what.

    >>> window_text(TimeWindow(60_000_000, 5_000_000)), window_text(CountWindow(rows=100, slide_us=500))
    ('[range 60 s slide 5 s]', '[rows 100 slide 500 us]')
    """
    return f"[{_bounds(window)}]"


def _bounds(window: TimeWindow | CountWindow) -> str:
    match window:
        case EarlyWindow():
            return f"early {_bounds(window.closes)} every {span(window.slide_us)}"
        case EarlyRows():
            return f"early {_bounds(window.closes)}{_every(window.slide_us)}"
        case NestedWindow(levels=levels, aging=aging) if levels is not None:
            return _levels(levels.windows, aging) + _every(window.every_us)
        case CalendarWindow(ends=Calendar() as ends, starts=Calendar() as starts):
            reach = f"{starts.back_months} months {starts.back_days} days"
            slide = f"{ends.months} months {ends.days} days"
            return f"range {reach} slide {slide}{_offset(ends.offset_us)} in {ends.zone}{_every(window.every_us)}"
        case CumulateWindow():
            assert window.range_us is not None
            return f"cumulate {span(window.range_us)} slide {span(window.slide_us)}{_offset(window.offset_us)}"
        case TimeWindow():
            reach = "unbounded" if window.range_us is None else span(window.range_us)
            return f"range {reach} slide {span(window.slide_us)}{_offset(window.offset_us)}{_every(window.every_us)}"
        case PredicateWindow():
            conditions = f"from {window.opens} to {window.closes}{_every(window.every_us)}"
            return conditions + _counted(window)
        case SessionWindow():
            return f"session gap {span(window.gap_us)}{_every(window.every_us)}{_counted(window)}"
        case NestedRows():
            return _levels(window.levels, window.aging) + _every(window.every_us)
    reach = "unbounded" if window.rows is None else f"rows {window.rows}"
    reach = reach if window.range_us is None else f"range {span(window.range_us)}"
    slide = f"{window.slide_rows} rows" if window.slide_us is None else span(window.slide_us)
    unique = " unique" if window.unique else ""
    return f"{reach} slide {slide}{_offset(window.offset_us)}{_every(window.every_us)}{_counted(window)}{unique}"


def _levels(levels: Iterable[TimeWindow | CountWindow], aging: Iterable[float]) -> str:
    weights = ", ".join(_literal(weight) for weight in aging)
    return f"levels {' '.join(map(window_text, levels))}" + (f" aging {weights}" if weights else "")


def _offset(us: int) -> str:
    return f" offset {span(us)}" if us else ""


def _every(us: int | None) -> str:
    return "" if us is None else f" every {span(us)}"


def _counted(window: CountWindow) -> str:
    text = "" if window.counted is None else f" counting {window.counted}"
    return text + (f" partition by {', '.join(window.partition)}" if window.partition else "")


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
    """Rows of a stream that are numbered for one window, windows that rows open and close, or sessions."""
    kind = {PredicateWindow: OPENED, SessionWindow: SESSIONS}.get(type(space.window), ROWS)
    held = f"{window_text(space.window)} {counted_rows(space.stream, space.rows, space.where, space.keys)}"
    return f"{versioned(kind)} of {held} keeping {_all(space.partials)}"


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
    asked = "; ".join(aggregate_text(aggregate) for aggregate in query.aggregates)
    rows = counted_rows(query.stream, query.rows, query.where, query.keys)
    return f"{versioned(ANSWER)} of {window_text(query.window)} {rows}{clusters}: {asked}"


def answer_text(query: QueryPlan) -> str:
    """All that makes the answer of a query, by which a sink that holds it knows its own."""
    shown = ", ".join(f"{output.sql} as {quoted(output.name)}" for output in query.outputs)
    text = f"{quoted(query.name)}: {compared_text(query)}; {query.emit} {shown}"
    text += "" if query.having is None else f" having {query.having}"
    for term in query.order:
        text += f" order {term.sql} {'desc' if term.descending else 'asc'}"
        text += f" nulls {'first' if term.nulls_first else 'last'}"
    return text if query.limit is None else f"{text} limit {query.limit}"


def _all(partials: Iterable[Partial]) -> str:
    return "; ".join(map(partial_text, partials))


def _literal(value: Any) -> str:
    """A parameter as it would be written.

    >>> _literal(0.5), _literal(3), _literal("it's")
    ('0.5', '3', "'it''s'")
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(float(value)) if isinstance(value, float) else str(value)
