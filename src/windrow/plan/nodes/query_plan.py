"""One query as it runs: frozen, so that equal plans are equal values, and plain, so that it travels to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.plan.name_parts import short
from windrow.plan.nodes.aggregates import ROWS, Aggregate, Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.emission import CORRECTED, SNAPSHOT, changed_items, changed_schema, corrected_schema
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.ordering import Ordering, Ranking, with_places
from windrow.plan.nodes.over_calls import OverCall
from windrow.plan.nodes.result_columns import emitted_schema, item_schema, leading_columns, tells_fates
from windrow.plan.nodes.run_names import run_name
from windrow.plan.nodes.seen_partial import rows_of
from windrow.plan.nodes.spaces import Key
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.state_names import answer_text, compared_text, need_text
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.stage import AnyQuery


DUE = "#due"
"""The column with the instant at which a window of rows is told that slides in time, where somebody asks for it."""

UNNAMED = ""
"""The name of a query that was bound: whoever runs it gives it one."""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result: an expression over the columns that `slide` emits."""

    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class LookUp:
    """What tables add to the answers of a query, whose groups are joined with them by `rows`: `look_0`, ..."""

    rows: JoinedRows
    columns: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One query: the rows it counts, by what and over which window, and what is made of the answers.

    slide emits `window_start`, `window_end`, for windows that count rows `window_row` (and, if they slide in time, the
    instant `due`), for those from condition to condition `window_number`, for those that answer early `final` and
    `due`, for nested ones `level`, then `key_0`, ..., then `agg_0`, ...; `outputs`, `having` and `order` are
    expressions over these. `about_us` is the slide that was asked for, where it may have been rounded. With `clusters`
    there is a row for each cluster of a group, and `aggregates` are drawn from it, or from what is attached to it; the
    clusters are those that it `asked` for, where the summary is another's, which serves it.
    `rows` are the tables that the stream is joined with before anything is counted; with `by_engine`, some expression
    over joined rows can be evaluated by Spark only. With `look_up`, answers are joined with tables instead. A
    stream may be `made_of` the answers of another query; both run in so many `stages`.
    `choose` is what was asked for by name, of this query alone. With `items` the answer of a window is its rows: they
    are collected, and emitted one by one as `item_0`, ... With `rankings` the rows of a window have their numbers, and
    what else OVER draws from the rows beside them, once all shards have told theirs, as `place_0`, ..., and those that
    `qualify` are kept.
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
    asked: ClusterPartial | None = None
    emit: str = SNAPSHOT
    rows: JoinedRows | None = None
    by_engine: bool = False
    look_up: LookUp | None = None
    made_of: AnyQuery | None = None
    stages: int = 1
    choose: Wanted = NOTHING
    items: tuple[Key, ...] = ()
    rankings: tuple[Ranking | OverCall, ...] = ()
    qualify: str | None = None
    run_stages: int = 1
    """How many stages there are where it runs: see `compile/join_runs.py`."""

    @property
    def below(self) -> tuple[tuple[str, AnyQuery], ...]:
        """Its streams that are made of the answers of other queries, each with its query."""
        return () if self.made_of is None else ((self.stream, self.made_of),)

    @property
    def joined_tables(self) -> frozenset[str]:
        """The tables that it joins itself."""
        return frozenset() if self.rows is None else frozenset(self.rows.tables)

    @property
    def rewinds(self) -> bool:
        """Whether it can be answered again where the clock of its stream goes back."""
        return self.made_of is None and self.emit != CORRECTED

    @property
    def is_compared(self) -> bool:
        """Whether its answers are compared from window to window."""
        return self.emit not in (SNAPSHOT, CORRECTED)

    @property
    def rounded_us(self) -> int | tuple[int, ...] | None:
        """The slide that was chosen, where it need not be what was asked for; of levels, that of each."""
        if self.about_us is None:
            return None
        if isinstance(self.window, NestedWindow) and self.window.levels is not None:
            return tuple(level.slide_us for level in self.window.levels.windows)
        return self.window.slide_us

    @property
    def ends_with_row(self) -> bool:
        """Whether a window ends with its last row, rather than before an instant."""
        return isinstance(self.window, CountWindow)

    @property
    def told_at(self) -> str:
        """The column with the instant at which a window is answered."""
        if self.window.every_us is not None:
            return "as_of"
        return DUE if any(output.name == DUE for output in self.outputs) else "window_end"

    @property
    def finishing(self) -> tuple[str, ...]:
        """The expressions that make rows for readers of what slide emits."""
        texts = [*(output.sql for output in self.outputs), *(term.sql for term in self.order), self.having]
        texts += [*(text for ranking in self.rankings for text in ranking.texts), self.qualify]
        return tuple(text for text in texts if text is not None)

    @property
    def compares_rows(self) -> bool:
        """Whether the rows of a window are put in order, so that those of all shards have to be there."""
        return bool(self.order or self.rankings)

    @property
    def sources(self) -> tuple[str, ...]:
        """The streams that come from outside, of which its own is one or is made."""
        return (self.stream,) if self.made_of is None else self.made_of.sources

    @property
    def run(self) -> str:
        """Under which name it runs: with others over the same streams, in as many stages as the longest needs."""
        return run_name(self.sources, max(self.stages, self.run_stages))

    @property
    def partials(self) -> tuple[Partial, ...]:
        """What it needs of every pane: the number of rows, and what its aggregates are drawn from."""
        if self.clusters is not None:
            return (ROWS.partial, self.clusters)
        return tuple(dict.fromkeys((rows_of(self.aggregates), *(aggregate.partial for aggregate in self.aggregates))))

    @property
    def need(self) -> str:
        """A name for what it asks of its space; equal for queries that differ only in what they make of answers."""
        return short(need_text(self))

    @property
    def joins_levels(self) -> bool:
        """Whether an answer is made of those of several levels."""
        if not isinstance(self.window, NestedWindow | NestedRows):
            return False
        looking = (aggregate.answer == "RECURRING" or aggregate.of_level is not None for aggregate in self.aggregates)
        return bool(self.window.aging) or any(looking)

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
        if self.items and self.emit == SNAPSHOT:
            return item_schema(self.answered, self.items)
        if self.emit == SNAPSHOT and self.look_up is not None:
            found = [pa.field(f"look_{i}", key.type) for i, key in enumerate(self.look_up.columns)]
            return pa.schema([*self.answered, *found])
        if self.emit == SNAPSHOT:
            return self.answered
        return changed_items(self.changed, [item.type for item in self.items]) if self.items else self.changed

    @property
    def numbered(self) -> pa.Schema:
        """The columns that the select list may read: those that slide emits, and the numbers of rankings."""
        return with_places(self.emitted, (ranking.type for ranking in self.rankings))

    @property
    def changed(self) -> pa.Schema:
        """The columns of what differs from one answer to the next, or from what was told of the same window."""
        if self.emit == CORRECTED:
            return corrected_schema(self.answered, len(self.keys), self.aggregates)
        leveled = "level" in self.leading
        fates = self.clusters is not None and tells_fates(self.window)
        return changed_schema([key.type for key in self.keys], self.aggregates, fates, leveled)

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
        return short(compared_text(self))

    @property
    def answer_name(self) -> str:
        """A name for its answer where a sink holds it; another query of the same name has another."""
        return short(answer_text(self))

    @property
    def told_apart_by(self) -> tuple[str, ...]:
        """The emitted columns by which one window is told from another."""
        level = ("level",) if isinstance(self.window, NestedWindow | NestedRows) else ()
        if not isinstance(self.window, CountWindow):
            return (*level, "window_end" if self.window.every_us is None else "due")
        early = () if self.window.every_us is None else ("due", "final")
        keys = (f"key_{i}" for i, key in enumerate(self.keys) if key.sql in self.window.partition)
        if isinstance(self.window, SessionWindow):
            return ("window_end", *early, *keys)
        if isinstance(self.window, PredicateWindow):
            return ("window_number", *early, *keys)
        last = "window_row" if self.window.slide_us is None else "due"  # the same rows may be answered again
        return (*level, last, *early, *keys)
