"""What a query may name: streams, tables, clusterings, and the aggregates and functions that users have registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from sqlglot import exp

from windrow.plan.ahead import ahead_limit
from windrow.plan.idle_clock import USUAL_CLOCK, IdleClock
from windrow.plan.timing import Timing

if TYPE_CHECKING:
    from windrow.language import Query
    from windrow.plan.nodes.changes import Column
    from windrow.plan.nodes.stage import AnyQuery
    from windrow.plan.window_index import BoundIndex

REJECTED_ROWS = "#rejected"
"""As what rejected events travel among the rows of queries, so that no query may be called so."""


class Clusterings(Protocol):
    """Whoever knows the clusterings, asked beforehand whether one can run."""

    @property
    def user(self) -> Mapping[str, type]:
        """The users' own, by name."""
        ...

    def described(
        self, name: str, parameters: tuple[Any, ...], named: Mapping[str, Any], dimensions: int, attached: bool
    ) -> Described:
        """What there is to know of clustering `name`, with other aggregates of its clusters if `attached`.

        Raises ClusteringError if there is none of that name, or it cannot run.
        """


@dataclass(frozen=True, slots=True)
class Described:
    """A clustering: its name as it is kept, its parameters by place, and what summaries can do (see ClusterPartial)."""

    name: str
    parameters: tuple[Any, ...]
    differential: bool
    movable: bool
    user: str | None
    sharing: tuple[Any, float] | None = None


class Engine(Protocol):
    """Whoever evaluates row expressions, asked beforehand what comes out."""

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        """The type of an expression over columns of `schema`; raises QueryError if it has none."""


@dataclass(frozen=True, slots=True)
class Unique:
    """Events are left out if another with the same `by`, texts of expressions, is less than `within_us` before them."""

    by: tuple[str, ...]
    within_us: int


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream's columns, how its events are timed (None: by arrival), how late they may be, what moves its clock.

    `ahead_us` is how far ahead of their batch events may be, if something was said of it. The events of a stream may be
    the answers of a query, which is then `made_of` it. With `unique`, queries see it without duplicates. For
    `correct_us` after its end a window is answered again when an event comes that it lacks. While its delay is above
    `shed_us`, only a share of its rows is taken.
    """

    name: str
    schema: pa.Schema
    time: str | None
    lateness_us: int = 0
    idle_clock: bool = False
    ahead_us: int | None = None
    made_of: AnyQuery | None = None
    unique: Unique | None = None
    correct_us: int = 0
    shed_us: int | None = None
    clock: IdleClock = USUAL_CLOCK
    tells_window: tuple[str, ...] = ()
    """The columns that say which window an answer is of, where queries are answered within each window."""

    def limit_ahead(self, live: bool) -> int | None:
        """How far ahead of their batch events may be in a job that is `live`, or not; None is no limit."""
        timed = self.time is not None and self.made_of is None
        return ahead_limit(self.ahead_us, live=live) if timed else None

    @property
    def unstarred(self) -> tuple[str, ...]:
        """Columns that may be named, though `*` does not stand for them."""
        return tuple(name for name in self.tells_window if name in ("window_row", "level", "final", "as_of"))

    @property
    def timing(self) -> Timing:
        """What moves its clock on."""
        return Timing.ARRIVAL if self.time is None else Timing.IDLE if self.idle_clock else Timing.EVENT


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """A user's aggregate: its class and the type that its `finish` returns."""

    implementation: type
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A user's function that remembers: its class, the columns that it returns, and whether it `rejects` events."""

    implementation: type
    returns: tuple[Column, ...]
    rejects: bool = False


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that is known to the queries of a session."""

    engine: Engine
    streams: Mapping[str, Stream] = field(default_factory=dict)
    tables: Mapping[str, pa.Schema] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
    clusterings: Clusterings | None = None
    above: Engine | None = None
    """Evaluates expressions above joins, groups and set operators, where the engine itself does not."""
    views: Mapping[str, Query] = field(default_factory=dict)
    """Queries that others read as if they stood in their WITH."""
    indexes: Mapping[str, BoundIndex] = field(default_factory=dict)
    """Window indexes, which requests may be joined with."""
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    """Functions that remember, by name."""

    def with_stream(self, stream: Stream) -> Catalog:
        """The same, and one more stream."""
        return replace(self, streams={**self.streams, stream.name: stream})

    @property
    def code(self) -> dict[str, type]:
        """The code of users' aggregates, functions and clusterings, by name."""
        clusterings = {} if self.clusterings is None else dict(self.clusterings.user)
        aggregates = {name: registered.implementation for name, registered in self.aggregates.items()}
        functions = {name: registered.implementation for name, registered in self.functions.items()}
        return aggregates | functions | clusterings
