"""What runs: frozen plans that travel to the workers. Equal plans are equal values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.aggregates import ROWS, Aggregate, Partial
from windrow.plan.cuts import Cuts
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
        return tuple(dict.fromkeys(partial for fold in self.folds for partial in fold.partials))


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

    slide emits `window_start`, `window_end`, then `key_0`, ..., then `agg_0`, ...; `outputs`, `having` and `order`
    are expressions over these. `about_us` is the slide that was asked for, where it may have been rounded.
    """

    name: str
    stream: str
    window: TimeWindow
    where: str | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    about_us: int | None = None

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What it needs of every pane: the number of rows, and what its aggregates are drawn from."""
        return tuple(dict.fromkeys((ROWS.partial, *(aggregate.partial for aggregate in self.aggregates))))

    @property
    def need(self) -> str:
        """A name for what it asks of its space; equal for queries that differ only in what they make of answers."""
        return _hashed(self.window, self.partials)

    @property
    def emitted(self) -> pa.Schema:
        """The columns that slide emits for this query."""
        return emitted_schema(self.keys, self.aggregates)


def emitted_schema(keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]) -> pa.Schema:
    """The columns that slide emits for these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
    columns += [pa.field(f"key_{i}", key.type) for i, key in enumerate(keys)]
    columns += [pa.field(f"agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """All that runs over one scan of one stream. Every query is answered by one of `spaces`."""

    stream: str
    lateness_us: int
    queries: tuple[QueryPlan, ...]
    spaces: tuple[Space, ...]
    keeps_rejected: bool = False
    user_aggregates: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    timing: Timing = Timing.EVENT

    def queries_of(self, space: Space) -> tuple[QueryPlan, ...]:
        """The queries that `space` answers."""
        held = (space.where, space.keys, space.unbounded)
        return tuple(q for q in self.queries if (q.where, q.keys, q.window.range_us is None) == held)

    @property
    def cuts(self) -> Cuts:
        """The edges of all windows of all queries."""
        return Cuts.of(window for space in self.spaces for window in space.windows)

    @property
    def expressions(self) -> tuple[str, ...]:
        """Every row expression that some query needs, each once: the engine evaluates them as columns."""
        needed: dict[str, None] = {}
        for space in self.spaces:
            texts = [space.where, *(key.sql for key in space.keys)]
            for partial in space.partials:
                texts += [partial.argument, partial.filter]
            needed.update((text, None) for text in texts if text is not None)
        return tuple(needed)


def _hashed(*held: object) -> str:
    return hashlib.sha256(repr(held).encode()).hexdigest()[:16]
