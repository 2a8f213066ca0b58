"""What runs: frozen plans that travel to the workers. Equal plans are equal values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.aggregates import Aggregate, Partial
from windrow.plan.row_window import CountWindow
from windrow.plan.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping expression, as canonical text, with its type."""

    sql: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Space:
    """Panes of one stream: who is counted (`where`), by what (`keys`), cut how (`window`), keeping what (`partials`).

    `maintenance` names, for each partial, how its panes are folded into windows.
    """

    stream: str
    window: TimeWindow
    where: str | None
    keys: tuple[Key, ...]
    partials: tuple[Partial, ...]
    maintenance: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name that its state has in a checkpoint: by what it holds, never by the query that asked for it."""
        held = repr((self.stream, self.window, self.where, self.keys, self.partials, self.maintenance))
        return hashlib.sha256(held.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RowSpace:
    """Rows of one stream, numbered in order of time, for windows that count them; otherwise as `Space`.

    `keys` hold all that the rows are partitioned by.
    """

    stream: str
    window: CountWindow
    where: str | None
    keys: tuple[Key, ...]
    partials: tuple[Partial, ...]
    maintenance: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name that its state has in a checkpoint."""
        held = repr((self.stream, self.window, self.where, self.keys, self.partials, self.maintenance))
        return hashlib.sha256(held.encode()).hexdigest()[:16]

    @property
    def order(self) -> str:
        """The name of the payload with the times of all rows that are counted."""
        return f"order of {self.window.counted or 'all'}"

    @property
    def partition(self) -> tuple[int, ...]:
        """Which of the keys the rows are partitioned by."""
        return tuple(i for i, key in enumerate(self.keys) if key.sql in self.window.partition)


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result: an expression over the columns that `slide` emits."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Ordering:
    """One term of ORDER BY, over the columns of the result."""

    sql: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One query: which space answers it, and what is made of the answers.

    slide emits `window_start`, `window_end`, for windows that count rows `window_row` (and, if they slide in time, the
    instant `due`), then `key_0`, ..., then `agg_0`, ...; `outputs`, `having` and `order` are expressions over these.
    """

    name: str
    space: Space | RowSpace
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None

    @property
    def emitted(self) -> pa.Schema:
        """The columns that slide emits for this query."""
        return emitted_schema(self.space.window, self.space.keys, self.aggregates)

    @property
    def window_columns(self) -> tuple[str, ...]:
        """The columns that lead every result."""
        return window_columns(self.space.window)

    @property
    def told_apart_by(self) -> tuple[str, ...]:
        """The emitted columns by which one window is told from another."""
        if not isinstance(self.space, RowSpace):
            return ("window_end",)
        last = "window_row" if self.space.window.slide_us is None else "due"  # the same rows may be answered again
        return (last, *(f"key_{i}" for i in self.space.partition))


def window_columns(window: TimeWindow | CountWindow) -> tuple[str, ...]:
    """The columns of every answer that say which window it is of.

    >>> window_columns(CountWindow(rows=4, slide_rows=3))
    ('window_start', 'window_end', 'window_row')
    """
    rows = ("window_row",) if isinstance(window, CountWindow) else ()
    return ("window_start", "window_end", *rows)


def emitted_schema(
    window: TimeWindow | CountWindow, keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]
) -> pa.Schema:
    """The columns that slide emits for this kind of window, these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
    if isinstance(window, CountWindow):
        columns.append(pa.field("window_row", pa.int64(), nullable=False))
        if window.slide_us is not None:
            columns.append(pa.field("due", pa.int64(), nullable=False))
    columns += [pa.field(f"key_{i}", key.type) for i, key in enumerate(keys)]
    columns += [pa.field(f"agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """All that runs over one scan of one stream."""

    stream: str
    lateness_us: int
    queries: tuple[QueryPlan, ...]
    keeps_rejected: bool = False
    user_aggregates: tuple[tuple[str, type], ...] = field(default=(), compare=False)

    @property
    def spaces(self) -> tuple[Space | RowSpace, ...]:
        """The spaces of all queries, each once."""
        return tuple(dict.fromkeys(query.space for query in self.queries))

    @property
    def expressions(self) -> tuple[str, ...]:
        """Every row expression that some query needs, each once: the engine evaluates them as columns."""
        needed: dict[str, None] = {}
        for space in self.spaces:
            texts = [space.where, *(key.sql for key in space.keys)]
            if isinstance(space, RowSpace):
                texts.append(space.window.counted)
            for partial in space.partials:
                texts += [partial.argument, partial.filter]
            needed.update((text, None) for text in texts if text is not None)
        return tuple(needed)
