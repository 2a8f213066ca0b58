"""Answered windows, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, concat, take
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Aggregate, Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.cluster_rows import ClusterRows
from windrow.runtime.answers.places import Places

ANSWER_ROWS = 1 << 17
"""About so many rows of answers are made into results at once, however many are due."""


AskedClusters = tuple[Partial, ClusterPartial | None, int | None]
"""A summary, the clusters that are asked for where it serves others, and how often windows are answered early."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Row i: the group in slot `slots[i]`, in a window from `starts[i]` to `ends[i]`, with its partials.

    `count` windows are answered, each with all its groups. `starts` is None where windows have no beginning; `rows` are
    the numbers of the last rows of windows that count rows, or those of windows from condition to condition; `instants`
    say when those of them with a slide in time were due, and when windows that still fill were answered early.
    `partials` are those of the space, or only the `kept` ones; `window` tells which window of a space is answered, and
    `clusters` which clusters there are in the rows, for each clustering and each EVERY of those who ask. Where they are
    `among` others, from a row of these on, all are made into rows of results together. Those of many windows that count
    rows come as one, with their `parts`.
    """

    count: int
    starts: np.ndarray | None
    ends: np.ndarray
    slots: np.ndarray
    partials: tuple[Fields, ...]
    rows: np.ndarray | None = None
    instants: np.ndarray | None = None
    kept: tuple[Partial, ...] = ()
    window: TimeWindow | CountWindow | None = None
    clusters: Mapping[AskedClusters, ClusterRows] = field(default_factory=dict)
    among: tuple[ManyAnswers, int] | None = None
    parts: AnswerParts | None = None

    @property
    def until(self) -> np.ndarray:
        """The instant before which all is that each row holds: of windows that still fill, when they are answered; of
        those that count rows, just after the last row."""
        if self.rows is not None:
            return self.ends + 1
        return self.ends if self.instants is None else self.instants

    def part(self, chosen: np.ndarray) -> Answers:
        """Some of the rows of windows that count rows."""
        if len(chosen) == len(self.ends):
            return self
        assert self.rows is not None
        rows, partials = self.rows[chosen], tuple(take(fields, chosen) for fields in self.partials)
        count = 1 + int(np.count_nonzero(np.diff(rows))) if len(rows) else 0
        return replace(self.taken(chosen), count=count, rows=rows, partials=partials)

    def since(self, first_end: int) -> Answers:
        """The answers of windows that end at `first_end` or later."""
        chosen = np.flatnonzero(self.ends >= first_end)
        if len(chosen) == len(self.ends):
            return self
        clusters = {asked: rows.of(chosen, len(self.ends)) for asked, rows in self.clusters.items()}
        return replace(
            self.taken(chosen), partials=tuple(take(fields, chosen) for fields in self.partials), clusters=clusters
        )

    @property
    def early(self) -> bool:
        """Whether these are answers of windows that still fill."""
        if isinstance(self.window, PredicateWindow | SessionWindow):
            return self.instants is not None
        return self.window is not None and self.window.is_early

    @property
    def places(self) -> Places:
        """Where they stand among the answers of their key, or of the stream."""
        return Places.of(self.ends, self.rows, self.instants, by_row=isinstance(self.window, CountWindow))

    @property
    def turns(self) -> tuple[np.ndarray, np.ndarray]:
        """In which order answers of windows that count rows are due: by their last row, and with that when.

        A window that a row closes comes before the early answers that follow that row.
        """
        assert self.rows is not None
        return self.rows, np.full(len(self.rows), BEFORE_ALL) if self.instants is None else self.instants

    @property
    def told_apart(self) -> np.ndarray:
        """What tells windows apart: when they were due, the number of their last row, or when they end."""
        if self.instants is not None:
            return self.instants
        return self.ends if self.rows is None else self.rows

    def clusters_for(self, query: QueryPlan) -> ClusterRows | None:
        """The clusters that `query` asks for, if it does, with the numbers that it is told."""
        if query.clusters is None:
            return None
        return self.clusters[query.clusters, query.asked, query.window.every_us]

    def taken(self, rows: np.ndarray) -> Answers:
        """Some of the rows, without their partials, some of them perhaps several times."""
        return replace(
            self,
            starts=None if self.starts is None else self.starts[rows],
            ends=self.ends[rows],
            rows=None if self.rows is None else self.rows[rows],
            instants=None if self.instants is None else self.instants[rows],
            slots=self.slots[rows],
            partials=(),
            clusters={},
            among=None,
            parts=None,
        )


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """Whose answers stand one after the other: those of `windows[i]` from row `cuts[i]` to `cuts[i + 1]`."""

    windows: Sequence[CountWindow]
    cuts: Sequence[int]

    @property
    def rows(self) -> np.ndarray:
        """How many rows each window has."""
        return np.diff(self.cuts)


@dataclass(frozen=True, slots=True)
class ManyAnswers:
    """Answers of several windows of a space, and the rows that have been `made` of all of them, by the aggregates."""

    answers: Answers
    made: dict[tuple[Aggregate, ...], pa.RecordBatch | None] = field(default_factory=dict)

    def part(self, number: int) -> Answers:
        """The answers of one of the windows."""
        whole = self.answers
        assert whole.parts is not None and whole.starts is not None and whole.rows is not None
        first, stop = whole.parts.cuts[number : number + 2]
        rows = whole.rows[first:stop]
        return replace(
            whole,
            count=1 + int(np.count_nonzero(np.diff(rows))),
            starts=whole.starts[first:stop],
            ends=whole.ends[first:stop],
            slots=whole.slots[first:stop],
            rows=rows,
            partials=tuple({name: column[first:stop] for name, column in fields.items()} for fields in whole.partials),
            window=whole.parts.windows[number],
            among=(self, first),
            parts=None,
        )


Folded = tuple[np.ndarray, np.ndarray, dict[Partial, Fields]]
"""For each group of each of some windows the number of the window, and the slot; and the partials of all."""


def joined_answers(window: TimeWindow, partials: tuple[Partial, ...], answers: Sequence[Folded]) -> Answers:
    """The answers of several of the windows that `window` describes, as columns."""
    numbers = np.concatenate([numbers for numbers, _, _ in answers])
    ends = window.shown_ends(numbers)
    instants = window.ends_of(numbers) if window.is_early else None
    starts = None if window.range_us is None else window.shown_starts(numbers)
    slots = np.concatenate([slots for _, slots, _ in answers])
    first, *more = (part for _, _, part in answers)
    fields = tuple(
        concat([first[partial], *(part[partial] for part in more)]) if more else first[partial] for partial in partials
    )
    count = 1 + int(np.count_nonzero(np.diff(numbers)))
    return Answers(count, starts, ends, slots, fields, instants=instants, kept=partials, window=window)
