"""What binding makes of a query: names resolved, types known, keys and aggregates told apart."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import QueryPlan
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
class BoundRows:
    """A stream, perhaps joined with tables, filtered and with computed columns, before any window has been folded."""

    stream: Stream
    columns: dict[str, exp.Expr]
    where: exp.Expr | None
    window: TimeWindow | CountWindow | None
    rows: JoinedRows | None = None
    chosen: exp.Expr | None = None
    """What WHERE asks of whole windows: `window_end > ...`."""


@dataclass(frozen=True, slots=True)
class BoundAnswers:
    """A windowed aggregation of the rows of `stream`, whose outputs are columns for the query around it."""

    query: QueryPlan
    columns: dict[str, exp.Expr]
    stream: Stream


Bound = BoundRows | BoundAnswers
