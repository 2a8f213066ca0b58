"""What is kept of a stream: panes, or rows, for all queries that count the same rows by the same keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.plan.name_parts import short
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.kept import PARTIALS, kept_as, other_way
from windrow.plan.state_names import counted_rows, joined_text, row_place_text, row_space_text, space_text
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import row_parts, shares_panes
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.query_plan import QueryPlan


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
    what any of them asks for. The rows are the stream's own, or those of a join of it with tables (`rows`). Panes keep
    rows or partials (`keeps`), and of what is `kept_otherwise` the other of both, since a query has asked for it. With
    `coarsens`, panes that finer windows have left are merged into granules of the wider ones.
    """

    stream: str
    where: str | None
    keys: tuple[Key, ...]
    folds: tuple[Fold, ...]
    keeps: str = PARTIALS
    rows: JoinedRows | None = None
    kept_otherwise: tuple[Partial, ...] = ()
    coarsens: bool = False

    @property
    def name(self) -> str:
        """The name that its state has in a checkpoint: by what it holds, never by the queries that ask for it.

        Windows without bound never let go of a group, so they have a space of their own.
        """
        return short(self.held)

    @property
    def held(self) -> str:
        """What its state holds, in words."""
        return space_text(self)

    @property
    def grouping(self) -> str:
        """Which rows it counts by what, in words."""
        return counted_rows(self.stream, self.rows, self.where, self.keys)

    @property
    def place(self) -> str:
        """What says which shard it is in, where its groups are not spread over all."""
        return self.name

    @property
    def unbounded(self) -> bool:
        return self.folds[0].window.grows

    @property
    def is_final(self) -> bool:
        """Whether what the clock has passed is taken in for good: a window without bound only grows.

        When the clock goes back, such a space stays where it is until the clock is there again.
        """
        return self.unbounded

    @property
    def spread_by(self) -> tuple[int, ...]:
        """Which of the keys tell an entry's shard."""
        return tuple(range(len(self.keys)))

    @property
    def counts(self) -> None:
        """It counts no rows: a window of its own is for those that do."""
        return None

    @property
    def ways(self) -> tuple[str, ...]:
        """How each partial of each window is maintained."""
        return tuple(way for fold in self.folds for way in fold.maintenance)

    def answers(self, query: QueryPlan) -> bool:
        """Whether a query is answered from its panes."""
        counted = (self.rows, self.where, self.keys) == (query.rows, query.where, query.keys)
        return counted and isinstance(query.window, TimeWindow) and bool(self.parts_of(query.window))

    def parts_of(self, window: TimeWindow) -> tuple[TimeWindow, ...]:
        """Those of the windows that `window` is made of which are folded here: levels may be in two spaces."""
        return tuple(part for part in parts_of(window) if part.grows == self.unbounded)

    @property
    def windows(self) -> tuple[TimeWindow, ...]:
        return tuple(fold.window for fold in self.folds)

    @property
    def cuts(self) -> Cuts:
        """Where its panes are cut, while they are new."""
        return Cuts.of(self.windows)

    @property
    def by_age(self) -> Cuts | CoarserWithAge:
        """How many panes a stretch of time has by the time that windows are folded from it."""
        return CoarserWithAge(self.windows) if self.coarsens else self.cuts

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What a pane keeps, the number of rows first."""
        return tuple(dict.fromkeys(self.kept(partial) for partial in self.asked))

    @property
    def asked(self) -> tuple[Partial, ...]:
        """The partials that windows are folded from, each once."""
        return tuple(dict.fromkeys(partial for fold in self.folds for partial in fold.partials))

    def kept(self, partial: Partial) -> Partial:
        """What panes keep for `partial`."""
        return kept_as(partial, other_way(self.keeps) if partial in self.kept_otherwise else self.keeps)

    def not_kept(self, partial: Partial) -> Partial:
        """What panes would keep for `partial` if they kept rows for partials, or partials for rows."""
        return kept_as(partial, self.keeps if partial in self.kept_otherwise else other_way(self.keeps))


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
    rows: JoinedRows | None = None

    @property
    def name(self) -> str:
        """The name that its state has in a checkpoint."""
        return short(self.held)

    @property
    def held(self) -> str:
        """What its state holds, in words."""
        return row_space_text(self)

    @property
    def place(self) -> str:
        """What says which shard it is in, where its groups are not spread over all: levels of a query are together."""
        return short(row_place_text(self))

    @property
    def is_final(self) -> bool:
        """Whether what the clock has passed is taken in for good: rows keep their numbers."""
        return True

    @property
    def counts(self) -> CountWindow:
        """The window that counts its rows."""
        return self.window

    @property
    def ways(self) -> tuple[str, ...]:
        """How each partial is maintained."""
        return self.maintenance

    def answers(self, query: QueryPlan) -> bool:
        """Whether a query is answered from its rows; those that share panes are not."""
        if isinstance(query.window, CountWindow) and shares_panes(query.window) and query.clusters is None:
            return False
        asked = (query.rows, query.where, query.keys, query.partials)
        alike = (self.rows, self.where, self.keys, self.partials) == asked
        return alike and isinstance(query.window, CountWindow) and self.window in row_parts(query.window)

    @property
    def order(self) -> str:
        """The name of the payload with the times of all rows that are counted."""
        of = "" if self.rows is None else f" of {short(joined_text(self.rows))}"
        return f"order of {self.window.counted or 'all'}{of}"

    @property
    def partition(self) -> tuple[int, ...]:
        """Which of the keys the rows are partitioned by."""
        return tuple(i for i, key in enumerate(self.keys) if key.sql in self.window.partition)

    @property
    def spread_by(self) -> tuple[int, ...]:
        """Which of the keys tell a row's shard. A window that rows open and close holds all groups in one."""
        return self.partition if self.is_alone else tuple(range(len(self.keys)))

    @property
    def holds_points(self) -> bool:
        """Whether points of clusterings are held as rows, to be summarised pane by pane."""
        return not isinstance(self.window, PredicateWindow | SessionWindow)

    @property
    def is_alone(self) -> bool:
        """Whether a shard gets all rows that it numbers; else it is sent the times of the others too."""
        return bool(self.partition) or isinstance(self.window, PredicateWindow | SessionWindow)


AnySpace = Space | RowSpace
