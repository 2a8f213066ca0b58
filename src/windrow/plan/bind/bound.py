"""What binding makes of a query: names resolved, types known, keys and aggregates told apart."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import Ordering, Output, QueryPlan
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class Scope:
    """What a query is bound against, its text, for errors, and what is to be sent of its answers."""

    catalog: Catalog
    text: str
    emit: str = SNAPSHOT
    folds: bool = True
    """Whether some SELECT makes groups of its rows; else the rows of windows are asked for."""


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A windowed aggregation: keys and aggregates over a stream's rows, outputs over keys and aggregates.

    In `outputs`, `having` and `order` a key is the column `key_0`, ..., an aggregate `agg_0`, ... The columns of
    `stream` are those of its events and of the tables that these are joined with (`rows`). With `by_engine`, Spark has
    to evaluate some expression over both. With `items`, the answer is the rows of a window, each with these columns.
    """

    stream: Stream
    window: TimeWindow | CountWindow
    where: str | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: str | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    clusters: ClusterPartial | None = None
    emit: str = SNAPSHOT
    rows: JoinedRows | None = None
    by_engine: bool = False
    items: tuple[Key, ...] = ()

    def named(self, name: str) -> QueryPlan:
        """What it asks for under a name, before any rule has had a say."""
        return QueryPlan(
            name,
            self.stream.name,
            self.window,
            self.where,
            self.keys,
            self.aggregates,
            self.outputs,
            self.having,
            self.order,
            self.limit,
            clusters=self.clusters,
            emit=self.emit,
            made_of=self.stream.made_of,
            rows=self.rows,
            by_engine=self.by_engine,
            items=self.items,
        )


@dataclass(frozen=True, slots=True)
class BoundRows:
    """A stream, perhaps joined with tables, filtered and with computed columns, before any window has been folded."""

    stream: Stream
    columns: dict[str, exp.Expr]
    where: exp.Expr | None
    window: TimeWindow | CountWindow | None
    rows: JoinedRows | None = None


@dataclass(frozen=True, slots=True)
class BoundAnswers:
    """A windowed aggregation whose outputs are columns for the query around it."""

    query: BoundQuery
    columns: dict[str, exp.Expr]


Bound = BoundRows | BoundAnswers
