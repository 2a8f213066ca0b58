"""One query over changes: the streams that it reads, its plan, what is sent of it, and at which instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.plan.change_names import asked_text, change_answer_text
from windrow.plan.name_parts import short
from windrow.plan.nodes.changes import TIME, Apply, Node, Project, Scan, Select
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.joins import TableJoin
from windrow.plan.nodes.result_columns import window_columns
from windrow.plan.nodes.run_names import run_name
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.stage import AnyQuery


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """One query over changes: as it was bound, and, with W-Expire in its place, as it runs.

    Without a slide every change is sent at its own instant, or, with `every_us`, all that is left of those since the
    last multiple of it. `range_us` is that of the longest window that has a beginning, and `unbounded` says that one
    has none.
    """

    name: str
    streams: tuple[str, ...]
    root: Node
    emit: str
    slide_us: int | None = None
    offset_us: int = 0
    range_us: int = 0
    unbounded: bool = False
    about_us: None = None
    stages: int = 1
    """In how many stages it runs, with rows regrouped between them."""
    run_stages: int = 1
    """How many stages there are where it runs: see `compile/join_runs.py`."""
    choose: Wanted = NOTHING

    made_of: tuple[tuple[str, AnyQuery], ...] = ()
    """Which of its streams are made of the answers of other queries."""

    every_us: int | None = None
    """How far apart the instants are at which what has changed is sent, where it is not at once."""

    hidden: int = 0
    """How many columns at the end say when rows are told: a condition, and the keys that it is of."""

    within: TimeWindow | CountWindow | None = None
    """The window that all its streams have answers of: its columns are the first ones, and lead every result."""

    @property
    def below(self) -> tuple[tuple[str, AnyQuery], ...]:
        """Its streams that are made of the answers of other queries, each with its query."""
        return self.made_of

    @property
    def joined_tables(self) -> frozenset[str]:
        """The tables that it joins itself."""
        return frozenset(_tables(self.root))

    @property
    def order(self) -> tuple[()]:
        """Its rows come and go, and have no order."""
        return ()

    @property
    def compares_rows(self) -> bool:
        return False

    @property
    def limit(self) -> None:
        """Nor is there a first one."""
        return None

    @property
    def rewinds(self) -> bool:
        """Whether it can be answered again where the clock of its streams goes back: its rows have come and gone."""
        return False

    @property
    def rounded_us(self) -> int | None:
        """A slide is taken as it was asked for."""
        return None

    @property
    def ends_with_row(self) -> bool:
        """Whether a window ends with its last row, rather than before an instant."""
        return isinstance(self.within, CountWindow)

    @property
    def told_at(self) -> str:
        """The column with the instant at which a row is told."""
        if self.emit != SNAPSHOT:
            return "time"
        return "window_end" if self.within is None or self.within.every_us is None else "as_of"

    @property
    def tells_once(self) -> bool:
        """Whether each row is of one instant: windows of rows that slide in time may be told again as they are."""
        slides = isinstance(self.within, CountWindow) and self.within.slide_us is not None
        return self.within is not None and not slides

    @property
    def finishing(self) -> tuple[str, ...]:
        """The expressions that make rows for readers of what slide emits: its own operators have done all."""
        return ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The streams that come from outside, which it reads, or of which those that it reads are made."""
        made = {name: query.sources for name, query in self.made_of}
        return tuple(sorted({source for name in self.streams for source in made.get(name, (name,))}))

    @property
    def run(self) -> str:
        """Under which name it runs: with others over the same streams, in as many stages as the longest needs."""
        return run_name(self.sources, max(self.stages, self.run_stages))

    @property
    def asked(self) -> str:
        """A name for what it asks: by its plan, not by its own name."""
        return short(asked_text(self))

    @property
    def answer_name(self) -> str:
        """A name for its answer where a sink holds it; another query of the same name has another."""
        return short(change_answer_text(self))

    @property
    def leading(self) -> tuple[str, ...]:
        return leading_names(self.emit) if self.within is None else window_columns(self.within)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of the select list."""
        first = 0 if self.within is None else len(self.leading)
        return self.root.names[first : len(self.root.names) - self.hidden]

    @property
    def emitted(self) -> pa.Schema:
        """The columns of its results."""
        first = [pa.field("window_start", TIME), pa.field("window_end", TIME, nullable=False)]
        if self.emit != SNAPSHOT:
            first = [pa.field("op", pa.string(), nullable=False), pa.field("time", TIME, nullable=False)]
        shown = self.root.columns[: len(self.root.columns) - self.hidden]
        if self.within is not None:
            first = [pa.field(column.name, column.type, column.name == "window_start") for column in shown]
            first, shown = first[: len(self.leading)], shown[len(self.leading) :]
        return pa.schema([*first, *((column.name, column.type) for column in shown)])


def _tables(plan: Node) -> set[str]:
    own: set[str] = set()
    if isinstance(plan, TableJoin):
        own = {plan.table.partition(":")[2]} if plan.made is None else set(plan.made.tables)
    return own.union(*(_tables(child) for child in plan.children))


def leading_names(emit: str) -> tuple[str, ...]:
    """The columns that lead every result."""
    return ("window_start", "window_end") if emit == SNAPSHOT else ("op", "time")


def is_told_in_order(plan: Node) -> bool:
    """Whether rows only come, as a function gives them one after the other: none is taken back, and none is netted.

    So do the copies of the events of a stream that is distributed.
    """
    if isinstance(plan, Apply) or (isinstance(plan, Scan) and plan.by is not None and plan.range_us is None):
        return True
    return isinstance(plan, Select | Project | TableJoin) and is_told_in_order(plan.child)
