"""Joins over changes: of two streams, of a stream with a table that does not change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from windrow.plan.nodes.changes import Column, Node, Scan

MOST_ROWS = 100_000
"""Rows on the smaller side of a join without an equality: each row of the other side is compared with all of them."""


@dataclass(frozen=True, slots=True)
class Between:
    """A condition on the instants of a pair: `low_us` <= left - right <= `high_us`; None is no bound.

    A row that comes when no instant of the other side can meet its own any more is of no use: `left_waits_us` is how
    long after its instant a left row can still find a partner, `right_waits_us` the same of a right row.
    """

    left: str
    right: str
    low_us: int | None
    high_us: int | None
    left_waits_us: int | None = None
    right_waits_us: int | None = None


JoinKind = Literal["inner", "left", "right", "full", "semi", "anti"]
"""Which rows come without a partner, with NULLs: none, those of one side, of both. Of `semi` and `anti` only the left
rows come: those that have a partner, or that have none."""


@dataclass(frozen=True, slots=True)
class Join(Node):
    """Pairs of rows with equal values in the columns of `on`, for which `residual` and `between` hold as well.

    NULL equals nothing, but in the places of `on` that are `null_safe` it equals NULL. Without `on` every row meets
    every other. With `final`, a row without a partner comes when none can come any more, and is never taken back.
    Names must differ on both sides.
    """

    left: Node
    right: Node
    on: tuple[tuple[str, str], ...]
    kind: JoinKind = "inner"
    residual: str | None = None
    null_safe: tuple[int, ...] = ()
    between: Between | None = None
    final: bool = False

    def __post_init__(self) -> None:
        clash = set(self.left.names) & set(self.right.names)
        if clash:
            raise ValueError(f"both sides of a join have {sorted(clash)}: project them to other names first")

    @property
    def pair_names(self) -> tuple[str, ...]:
        """The names of the columns of a pair, over which `residual` is."""
        return self.left.names + self.right.names

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + (() if self.kind in ("semi", "anti") else self.right.columns)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A query over tables alone, as a plan whose scans are of tables: its answer is a table."""

    plan: Node

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it reads, in order of their names."""
        return tuple(sorted({leaf.stream for leaf in _scans(self.plan)}))


def _scans(plan: Node) -> list[Scan]:
    if isinstance(plan, TableJoin) and plan.made is not None:
        return [*_scans(plan.child), *_scans(plan.made.plan)]
    return [plan] if isinstance(plan, Scan) else [scan for child in plan.children for scan in _scans(child)]


@dataclass(frozen=True, slots=True)
class TableJoin(Node):
    """Rows joined with those of a table that does not change; otherwise as `Join`."""

    child: Node
    table: str
    read: tuple[Column, ...]
    on: tuple[tuple[str, str], ...]
    kind: Literal["inner", "left", "semi", "anti"] = "inner"
    residual: str | None = None
    null_safe: tuple[int, ...] = ()
    made: TableQuery | None = None

    def __post_init__(self) -> None:
        clash = set(self.child.names) & {column.name for column in self.read}
        if clash:
            raise ValueError(f"both sides of a join have {sorted(clash)}: project them to other names first")

    @property
    def pair_names(self) -> tuple[str, ...]:
        """The names of the columns of a pair, over which `residual` is."""
        return self.child.names + tuple(column.name for column in self.read)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.child.columns + (() if self.kind in ("semi", "anti") else self.read)
