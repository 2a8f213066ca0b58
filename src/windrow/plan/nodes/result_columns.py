"""The columns of answers and of results, for each kind of window."""

from __future__ import annotations

import pyarrow as pa

from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.emission import CHANGE, CORRECTED, OTHER, SNAPSHOT
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow


def window_columns(window: TimeWindow | CountWindow) -> tuple[str, ...]:
    """The columns of every answer that say which window it is of.

    >>> window_columns(CountWindow(rows=4, slide_rows=3))
    ('window_start', 'window_end', 'window_row')
    """
    counts = isinstance(window, CountWindow) and not isinstance(window, PredicateWindow | SessionWindow)
    row = ("window_row",) if counts else ()
    level = ("level",) if isinstance(window, NestedWindow | NestedRows) else ()
    early = () if window.every_us is None else ("final", "as_of")
    return ("window_start", "window_end", *row, *level, *early)


def leading_columns(window: TimeWindow | CountWindow, emit: str, clustered: bool) -> tuple[str, ...]:
    """The columns that lead every result: which window it is of, or when it changed, and how.

    >>> leading_columns(TimeWindow(10, 5), "CHANGES", clustered=True)
    ('op', 'time', 'change', 'other')
    >>> leading_columns(TimeWindow(10, 5), "CORRECTED", clustered=False)
    ('op', 'window_start', 'window_end')
    """
    if emit in (SNAPSHOT, CORRECTED):
        return window_columns(window) if emit == SNAPSHOT else ("op", *window_columns(window))
    level = ("level",) if isinstance(window, NestedWindow | NestedRows) else ()
    return ("op", "time", CHANGE, OTHER) if clustered and tells_fates(window) else ("op", "time", *level)


def tells_fates(window: TimeWindow | CountWindow) -> bool:
    """Whether changes of clusters say what became of each.

    Windows that count rows may change with every one; levels and early answers are compared each with the one of its
    own before, which may not be the one that its clusters were followed from.
    """
    return not isinstance(window, CountWindow | NestedWindow) and window.every_us is None


def named_columns(window: TimeWindow | CountWindow, emit: str, clustered: bool) -> tuple[str, ...]:
    """Those of them that expressions may name: of what changes, both sides have them."""
    leading = leading_columns(window, emit, clustered)
    if emit in (SNAPSHOT, CORRECTED):
        return tuple(name for name in leading if name != "op")
    return tuple(name for name in leading if name == "level")


def emitted_schema(
    window: TimeWindow | CountWindow, keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]
) -> pa.Schema:
    """The columns that slide emits for this kind of window, these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
    due = pa.field("due", pa.int64(), nullable=False)
    if isinstance(window, PredicateWindow):
        columns.append(pa.field("window_number", pa.int64(), nullable=False))
    elif isinstance(window, CountWindow) and not isinstance(window, SessionWindow):
        columns.append(pa.field("window_row", pa.int64(), nullable=False))
    if isinstance(window, NestedWindow | NestedRows):
        columns.append(pa.field("level", pa.int32(), nullable=False))
    if window.every_us is not None:
        columns += [pa.field("final", pa.bool_(), nullable=False), due, pa.field("as_of", time, nullable=False)]
    elif isinstance(window, CountWindow) and window.slide_us is not None:
        columns.append(due)
    columns += [pa.field(f"key_{i}", key.type) for i, key in enumerate(keys)]
    columns += [pa.field(f"agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


def item_schema(answered: pa.Schema, items: tuple[Key, ...]) -> pa.Schema:
    """The columns where an answer is told row by row: in the place of the rows together, those of each."""
    own = [field for field in answered if not field.name.startswith("agg_")]
    return pa.schema([*own, *(pa.field(f"item_{i}", item.type) for i, item in enumerate(items))])
