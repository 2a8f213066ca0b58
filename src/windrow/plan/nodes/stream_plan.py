"""All that a stage does with one stream: which queries, answered by which spaces, over which expressions of events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.plan.idle_clock import USUAL_CLOCK, IdleClock
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.name_parts import short
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.changes import Scan
from windrow.plan.nodes.groupings import plain_keys
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.shed import Shed
from windrow.plan.nodes.spaces import AnySpace, Key, RowSpace, Space
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.state_names import compared_text, followed_text
from windrow.plan.timing import Timing
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class SpreadScan:
    """A scan of a pipeline over changes: its number in the stage, and the columns that its rows are spread by."""

    number: int
    scan: Scan
    columns: tuple[str, ...]
    shards: int | None = None
    """How many shards DISTRIBUTE BY may name, where that is not how many there are: replay runs all in one."""


def followed_name(space: RowSpace, query: QueryPlan) -> str:
    """The name of what is held of the clusters of a space of rows."""
    return f"clusters-{short(followed_text(space, query))}"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """All that a stage does with the events of one stream: they move its clock, and are folded into `spaces`.

    Every query is answered by one of `spaces`; `scans` are read by pipelines over changes. A shard keeps at most
    `memory_bytes` of what it can read again in memory. Events further than `ahead_us` ahead of the instant at which
    their batch began are rejected; None is no limit. `wanted` is what was asked for by name. For `correct_us` after its
    end a window is answered again when an event comes that it lacks. Where rows may be left out, `shed` says which.
    """

    stream: str
    lateness_us: int
    queries: tuple[QueryPlan, ...]
    spaces: tuple[AnySpace, ...]
    keeps_rejected: bool = False
    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    timing: Timing = Timing.EVENT
    memory_bytes: int = DEFAULT_BYTES
    ahead_us: int | None = None
    static: tuple[tuple[str, pa.Table], ...] = field(default=(), compare=False, repr=False)
    """The tables that are joined, as they were read at the start."""
    scans: tuple[SpreadScan, ...] = ()
    wanted: Wanted = NOTHING
    correct_us: int = 0
    shed: Shed | None = None
    clock: IdleClock = USUAL_CLOCK

    @property
    def held(self) -> dict[str, str]:
        """What its state holds, in words, by the name of each part of it."""
        compared = {f"changes-{q.compared}": compared_text(q) for q in self.queries if q.is_compared}
        return {space.name: space.held for space in self.spaces} | compared | self.followed(self.spaces)

    def followed(self, spaces: Iterable[AnySpace]) -> dict[str, str]:
        """What is held, in words by name, of the clusters of spaces of rows, to follow them from window to window."""
        clustering = [query for query in self.queries if query.clusters is not None]
        return {
            followed_name(space, query): followed_text(space, query)
            for space in spaces
            if isinstance(space, RowSpace)
            for query in clustering
            if space.answers(query)
        }

    def queries_of(self, space: AnySpace) -> tuple[QueryPlan, ...]:
        """The queries that `space` answers."""
        return tuple(query for query in self.queries if space.answers(query))

    @property
    def time_spaces(self) -> tuple[Space, ...]:
        """The spaces of windows over time."""
        return tuple(space for space in self.spaces if isinstance(space, Space))

    @property
    def row_spaces(self) -> tuple[RowSpace, ...]:
        """The spaces of windows that count rows."""
        return tuple(space for space in self.spaces if isinstance(space, RowSpace))

    @property
    def deciding(self) -> RowSpace | None:
        """The sessions in whose shards it is decided which events are late: for all others the time of one says it.

        Of several, those that take whatever the others do, if there are any: of the longest gap and the fewest keys.
        """
        windows = (space for space in self.row_spaces if space.rows is None)
        sessions = [space for space in windows if isinstance(space.window, SessionWindow)]
        return min(sessions, key=lambda space: (-_gap(space), len(space.partition), space.name), default=None)

    @property
    def decided_by(self) -> Cuts | None:
        """Where events of such sessions are told apart, since others take some of them; None where there are none."""
        if self.deciding is None or (len(self.spaces) == 1 and not self.scans):
            return None
        if self.scans or len(self.row_spaces) > 1:
            return Cuts.of([TimeWindow(range_us=1, slide_us=1)])
        return Cuts.of([window.closes for space in self.time_spaces for window in space.windows])

    @property
    def cuts(self) -> Cuts:
        """The edges of all windows of all queries; where rows are counted, or nothing is folded, any time is one."""
        each_time = [TimeWindow(range_us=1, slide_us=1)] if self.row_spaces or not self.spaces else []
        return Cuts.of([*each_time, *(window.closes for space in self.time_spaces for window in space.windows)])

    @property
    def counted_cuts(self) -> Cuts:
        """Where events must be told apart to count who is late: for a pipeline over changes, any time is an edge."""
        return Cuts.of([TimeWindow(range_us=1, slide_us=1)]) if self.scans else self.cuts

    @property
    def joined(self) -> tuple[JoinedRows, ...]:
        """The joins with tables whose rows some space counts, each once."""
        return tuple(dict.fromkeys(space.rows for space in self.spaces if space.rows is not None))

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are joined, with rows or with answers."""
        looked_up = (query.look_up.rows for query in self.queries if query.look_up is not None)
        return tuple(sorted({table for rows in (*self.joined, *looked_up) for table in rows.tables}))

    @property
    def joins_first(self) -> bool:
        """Whether rows are joined before the engine evaluates expressions, since some are for it alone."""
        return any(query.by_engine for query in self.queries)

    @property
    def expressions(self) -> tuple[str, ...]:
        """Every row expression that some query needs of the events, each once: the engine evaluates them as columns."""
        needed = dict.fromkeys(self.texts_of(None) if self.shed is None else (*self.texts_of(None), self.shed.by))
        for rows in self.joined:
            texts = self.texts_of(rows)
            needed.update(dict.fromkeys(texts if self.joins_first else rows.read_of_events(texts)))
        return tuple(needed)

    def texts_of(self, rows: JoinedRows | None) -> tuple[str, ...]:
        """Every row expression that some space needs of `rows`, the stream's own if they are None."""
        needed: dict[str, None] = {}
        for space in self.spaces:
            if space.rows == rows:
                needed.update((text, None) for text in texts_of(space))
        for spread in self.scans if rows is None else ():
            texts = (*spread.scan.texts, spread.scan.where)
            needed.update((text, None) for text in texts if text is not None)
        return tuple(needed)


def _gap(space: RowSpace) -> int:
    assert isinstance(space.window, SessionWindow)
    return space.window.gap_us


def texts_of(space: AnySpace) -> list[str]:
    """The row expressions that a space needs."""
    return texts_in(space.where, space.keys, space.counts, space.partials)


def texts_in(
    where: str | None, keys: Sequence[Key], window: TimeWindow | CountWindow | None, partials: Iterable[Partial]
) -> list[str]:
    """The row expressions that are needed to count these rows so."""
    texts = [where, *(key.sql for key in plain_keys(keys))]
    if isinstance(window, CountWindow):
        texts.append(window.counted)
        if isinstance(window, PredicateWindow):
            texts += [window.opens, window.closes]
    texts += [text for partial in partials for text in partial.texts]
    return [text for text in texts if text is not None]
