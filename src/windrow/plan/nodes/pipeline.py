"""What runs: frozen plans that travel to the workers. Equal plans are equal values."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.aggregates import ROWS, Aggregate, Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.emission import SNAPSHOT, changed_schema
from windrow.plan.nodes.result_columns import emitted_schema, leading_columns
from windrow.plan.nodes.spaces import Key, RowSpace, Space, hashed
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.timing import Timing
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows, row_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow


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
    `choose` is what was asked for by name, of this query alone.
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
    choose: Wanted = NOTHING

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What it needs of every pane: the number of rows, and what its aggregates are drawn from."""
        if self.clusters is not None:
            return (ROWS.partial, self.clusters)
        return tuple(dict.fromkeys((ROWS.partial, *(aggregate.partial for aggregate in self.aggregates))))

    @property
    def need(self) -> str:
        """A name for what it asks of its space; equal for queries that differ only in what they make of answers."""
        return hashed(self.window, self.partials)

    @property
    def joins_levels(self) -> bool:
        """Whether an answer is made of those of several levels."""
        if not isinstance(self.window, NestedWindow | NestedRows):
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
        return hashed(self.stream, self.where, self.keys, self.window, self.aggregates, self.clusters)

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


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """All that runs over one scan of one stream. Every query is answered by one of `spaces`.

    A shard keeps at most `memory_bytes` of what it can read again in memory. Events further than `ahead_us` ahead of
    the instant at which their batch began are rejected; None is no limit. `wanted` is what was asked for by name.
    """

    stream: str
    lateness_us: int
    queries: tuple[QueryPlan, ...]
    spaces: tuple[Space | RowSpace, ...]
    keeps_rejected: bool = False
    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    timing: Timing = Timing.EVENT
    memory_bytes: int = DEFAULT_BYTES
    ahead_us: int | None = None
    wanted: Wanted = NOTHING

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
