"""What runs: frozen plans that travel to the workers. Equal plans are equal values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.aggregates import Aggregate, Partial
from windrow.plan.timing import Timing
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

    slide emits `window_start`, `window_end`, then `key_0`, ..., then `agg_0`, ...; `outputs`, `having` and `order`
    are expressions over these.
    """

    name: str
    space: Space
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None

    @property
    def emitted(self) -> pa.Schema:
        """The columns that slide emits for this query."""
        return emitted_schema(self.space.keys, self.aggregates)


def emitted_schema(keys: tuple[Key, ...], aggregates: tuple[Aggregate, ...]) -> pa.Schema:
    """The columns that slide emits for these keys and aggregates."""
    time = pa.timestamp("us", tz="UTC")
    columns = [pa.field("window_start", time), pa.field("window_end", time, nullable=False)]
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
    timing: Timing = Timing.EVENT

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces of all queries, each once."""
        return tuple(dict.fromkeys(query.space for query in self.queries))

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
