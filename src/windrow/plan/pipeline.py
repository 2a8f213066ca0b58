"""What runs: frozen plans that travel to the workers. Equal plans are equal values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.aggregates import ROWS, Aggregate, Partial
from windrow.plan.clusters import ClusterPartial
from windrow.plan.cuts import Cuts
from windrow.plan.emission import CHANGE, OTHER, SNAPSHOT, changed_schema
from windrow.plan.kept import PARTIALS, kept_as
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.parts import NestedWindow
from windrow.plan.predicate_window import PredicateWindow
from windrow.plan.row_levels import NestedRows, row_parts
from windrow.plan.row_window import CountWindow
from windrow.plan.timing import Timing
from windrow.plan.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping expression, as canonical text, with its type."""

    sql: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Fold:
    """One window over the panes of a space: what is folded over it, and, for each partial, how."""

    window: TimeWindow
    partials: tuple[Partial, ...]
    maintenance: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Panes of one stream: who is counted (`where`), by what (`keys`), and the windows that are folded from them.

    All queries over the same rows and groups share a space: panes are cut at the edges of all its windows and keep
    what any of them asks for.
    """

    stream: str
    where: str | None
    keys: tuple[Key, ...]
    folds: tuple[Fold, ...]
    keeps: str = PARTIALS

    @property
    def name(self) -> str:
        """The name that its state has in a checkpoint: by what it holds, never by the queries that ask for it.

        Windows without bound never let go of a group, so they have a space of their own.
        """
        return _hashed(self.stream, self.where, self.keys, self.unbounded)

    @property
    def unbounded(self) -> bool:
        return self.folds[0].window.range_us is None

    @property
    def windows(self) -> tuple[TimeWindow, ...]:
        return tuple(fold.window for fold in self.folds)

    @property
    def cuts(self) -> Cuts:
        """Where its panes are cut."""
        return Cuts.of(self.windows)

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What a pane keeps, the number of rows first."""
        asked = (partial for fold in self.folds for partial in fold.partials)
        return tuple(dict.fromkeys(kept_as(partial, self.keeps) for partial in asked))


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
        return _hashed(self.stream, self.window, self.where, self.keys, self.partials, self.maintenance)

    @property
    def order(self) -> str:
        """The name of the payload with the times of all rows that are counted."""
        return f"order of {self.window.counted or 'all'}"

    @property
    def partition(self) -> tuple[int, ...]:
        """Which of the keys the rows are partitioned by."""
        return tuple(i for i, key in enumerate(self.keys) if key.sql in self.window.partition)

    @property
    def spread_by(self) -> tuple[int, ...]:
        """Which of the keys tell a row's shard. A window that rows open and close holds all groups in one."""
        by_conditions = isinstance(self.window, PredicateWindow)
        return self.partition if by_conditions or self.partition else tuple(range(len(self.keys)))

    @property
    def is_alone(self) -> bool:
        """Whether a shard gets all rows that it numbers; else it is sent the times of the others too."""
        return bool(self.partition) or isinstance(self.window, PredicateWindow)


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
    """One query: the rows it counts, by what and over which window, and what is made of the answers.

    slide emits `window_start`, `window_end`, for windows that count rows `window_row` (and, if they slide in time, the
    instant `due`), for those from condition to condition `window_number`, for those that answer early `final` and
    `due`, for nested ones `level`, then `key_0`, ..., then `agg_0`, ...; `outputs`, `having` and `order` are
    expressions over these. `about_us` is the slide that was asked for, where it may have been rounded. With `clusters`
    there is a row for each cluster of a group, and `aggregates` are drawn from it, or from what is attached to it.
    """

    name: str
    stream: str
    window: TimeWindow | CountWindow
    where: str | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    about_us: int | None = None
    clusters: ClusterPartial | None = None
    emit: str = SNAPSHOT

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What it needs of every pane: the number of rows, and what its aggregates are drawn from."""
        if self.clusters is not None:
            return (ROWS.partial, self.clusters)
        return tuple(dict.fromkeys((ROWS.partial, *(aggregate.partial for aggregate in self.aggregates))))

    @property
    def need(self) -> str:
        """A name for what it asks of its space; equal for queries that differ only in what they make of answers."""
        return _hashed(self.window, self.partials)

    @property
    def joins_levels(self) -> bool:
        """Whether an answer is made of those of several levels."""
        if not isinstance(self.window, NestedWindow):
            return False
        return bool(self.window.aging) or any(aggregate.answer == "RECURRING" for aggregate in self.aggregates)

    def need_of(self, part: TimeWindow) -> str:
        """The same for one of the windows that its own is made of."""
        return f"{self.need}-{part.label}" if isinstance(self.window, NestedWindow) else self.need

    @property
    def answered(self) -> pa.Schema:
        """The columns of an answered window."""
        return emitted_schema(self.window, self.keys, self.aggregates)

    @property
    def emitted(self) -> pa.Schema:
        """The columns that slide emits for this query."""
        if self.emit == SNAPSHOT:
            return self.answered
        return changed_schema([key.type for key in self.keys], self.aggregates, self.clusters is not None)

    @property
    def leading(self) -> tuple[str, ...]:
        """The columns that lead every result."""
        return leading_columns(self.window, self.emit, self.clusters is not None)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of the select list."""
        return tuple(output.name for output in self.outputs)

    @property
    def compared(self) -> str:
        """A name for what is compared from window to window; equal for queries of equal answers."""
        return _hashed(self.stream, self.where, self.keys, self.window, self.aggregates, self.clusters)

    @property
    def told_apart_by(self) -> tuple[str, ...]:
        """The emitted columns by which one window is told from another."""
        if not isinstance(self.window, CountWindow):
            if isinstance(self.window, NestedWindow):
                return ("level", "window_end")
            return ("window_end",) if self.window.every_us is None else ("due",)
        keys = (f"key_{i}" for i, key in enumerate(self.keys) if key.sql in self.window.partition)
        if isinstance(self.window, PredicateWindow):
            early = () if self.window.every_us is None else ("due", "final")
            return ("window_number", *early, *keys)
        level = ("level",) if isinstance(self.window, NestedRows) else ()
        last = "window_row" if self.window.slide_us is None else "due"  # the same rows may be answered again
        return (*level, last, *keys)


def window_columns(window: TimeWindow | CountWindow) -> tuple[str, ...]:
    """The columns of every answer that say which window it is of.

    >>> window_columns(CountWindow(rows=4, slide_rows=3))
    ('window_start', 'window_end', 'window_row')
    """
    if isinstance(window, CountWindow) and not isinstance(window, PredicateWindow):
        level = ("level",) if isinstance(window, NestedRows) else ()
        return ("window_start", "window_end", "window_row", *level)
    if isinstance(window, NestedWindow):
        return ("window_start", "window_end", "level")
    return ("window_start", "window_end") if window.every_us is None else ("window_start", "window_end", "final")


def leading_columns(window: TimeWindow | CountWindow, emit: str, clustered: bool) -> tuple[str, ...]:
    """The columns that lead every result: which window it is of, or when it changed, and how.

    >>> leading_columns(TimeWindow(10, 5), "CHANGES", clustered=True)
    ('op', 'time', 'change', 'other')
    """
    if emit == SNAPSHOT:
        return window_columns(window)
    return ("op", "time", CHANGE, OTHER) if clustered else ("op", "time")


def emitted_schema(
    window: TimeWindow | CountWindow, keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]
) -> pa.Schema:
    """The columns that slide emits for this kind of window, these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
    early = [pa.field("final", pa.bool_(), nullable=False), pa.field("due", pa.int64(), nullable=False)]
    level = pa.field("level", pa.int32(), nullable=False)
    if isinstance(window, PredicateWindow):
        columns.append(pa.field("window_number", pa.int64(), nullable=False))
        columns += [] if window.every_us is None else early
    elif isinstance(window, CountWindow):
        columns.append(pa.field("window_row", pa.int64(), nullable=False))
        columns += [level] if isinstance(window, NestedRows) else []
        if window.slide_us is not None:
            columns.append(pa.field("due", pa.int64(), nullable=False))
    elif isinstance(window, NestedWindow):
        columns.append(level)
    elif window.every_us is not None:
        columns += early
    columns += [pa.field(f"key_{i}", key.type) for i, key in enumerate(keys)]
    columns += [pa.field(f"agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """All that runs over one scan of one stream. Every query is answered by one of `spaces`.

    A shard keeps at most `memory_bytes` of what it can read again in memory.
    """

    stream: str
    lateness_us: int
    queries: tuple[QueryPlan, ...]
    spaces: tuple[Space | RowSpace, ...]
    keeps_rejected: bool = False
    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    timing: Timing = Timing.EVENT
    memory_bytes: int = DEFAULT_BYTES

    def queries_of(self, space: Space | RowSpace) -> tuple[QueryPlan, ...]:
        """The queries that `space` answers."""
        if isinstance(space, RowSpace):
            asked = (space.where, space.keys, space.partials)
            alike = (q for q in self.queries if (q.where, q.keys, q.partials) == asked)
            windows = ((q, q.window) for q in alike)
            return tuple(q for q, w in windows if isinstance(w, CountWindow) and space.window in row_parts(w))
        held = (space.where, space.keys, space.unbounded)
        timed = (q for q in self.queries if isinstance(q.window, TimeWindow))
        return tuple(q for q in timed if (q.where, q.keys, q.window.range_us is None) == held)

    @property
    def shared(self) -> tuple[Space, ...]:
        """The spaces of windows over time."""
        return tuple(space for space in self.spaces if isinstance(space, Space))

    @property
    def numbered(self) -> tuple[RowSpace, ...]:
        """The spaces of windows that count rows."""
        return tuple(space for space in self.spaces if isinstance(space, RowSpace))

    @property
    def cuts(self) -> Cuts:
        """The edges of all windows of all queries; where rows are counted, any time is one."""
        each_time = [TimeWindow(range_us=1, slide_us=1)] if self.numbered else []
        return Cuts.of([*each_time, *(window.closes for space in self.shared for window in space.windows)])

    @property
    def expressions(self) -> tuple[str, ...]:
        """Every row expression that some query needs, each once: the engine evaluates them as columns."""
        needed: dict[str, None] = {}
        for space in self.spaces:
            texts = [space.where, *(key.sql for key in space.keys)]
            if isinstance(space, RowSpace):
                texts.append(space.window.counted)
                if isinstance(space.window, PredicateWindow):
                    texts += [space.window.opens, space.window.closes]
            texts += [text for partial in space.partials for text in partial.texts]
            needed.update((text, None) for text in texts if text is not None)
        return tuple(needed)


def _hashed(*held: object) -> str:
    return hashlib.sha256(repr(held).encode()).hexdigest()[:16]
