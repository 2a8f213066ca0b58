"""Events that no window takes: shipped as they came, since only a shard knows the clock and who is late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.json_write import rows_to_json
from windrow.operators.given_rows import RefusedEvents
from windrow.plan.instants import EARLIEST_US, LATEST_US
from windrow.runtime.late import Answered, late_events

TIME, RAW, UNREADABLE, ARRIVED = "time", "raw", "unreadable", "arrived"
"""Columns of what slicers read: when an event happened, the event as it came, whether it could not be read, and when
its batch arrived."""

LATE, UNPLACED, UNSENT, REFUSED = "late", "no point", "no shard", "function failed"
CAUSES = {"untimed": "no time", "unreadable": UNREADABLE, "impossible": "impossible time", "ahead": "ahead"}
"""Why an event cannot be used whatever the clock, by what counts it."""

SEAM = "seam"
"""Counts events that another source of the stream gives: they are not rejected, only left to it."""

Bounds = tuple[int, int]
"""The first instant that a source gives the events of, and the first that it does not any more."""


class Usable:
    """Which events of a batch can be used (`timed`), and of the others why not: each has one cause.

    >>> times = pa.array([5, None, LATEST_US + 1, 90], pa.int64())
    >>> batch = pa.record_batch({TIME: times, ARRIVED: pa.array([20] * 4)})
    >>> Usable(batch, ahead_us=60).counts
    {'untimed': 1, 'impossible': 1, 'ahead': 1}
    >>> Usable(batch, None, bounds=(6, 90)).counts
    {'untimed': 1, 'impossible': 1, 'seam': 2}
    """

    def __init__(self, batch: pa.RecordBatch, ahead_us: int | None, bounds: Bounds | None = None) -> None:
        times = pc.cast(batch.column(TIME), pa.int64())
        self.timed = np.ones(len(times), bool)
        self._known = known = pc.fill_null(times, 0).to_numpy()
        self._causes: dict[str, np.ndarray] = {}
        if UNREADABLE in batch.schema.names:
            self._leave_out("unreadable", pc.fill_null(batch.column(UNREADABLE), False))
        if times.null_count:
            self._leave_out("untimed", times.is_null())
        if len(known) and (known.min() < EARLIEST_US or known.max() > LATEST_US):
            self._leave_out("impossible", (known < EARLIEST_US) | (known > LATEST_US))
        if bounds is not None:
            self._leave_out(SEAM, (known < bounds[0]) | (known >= bounds[1]))
        if ahead_us is not None:
            self._leave_out("ahead", known > batch.column(ARRIVED).to_numpy() + ahead_us)

    @property
    def times(self) -> np.ndarray:
        """The times, and for events that cannot be used that of another: they lie in a pane that there is anyway."""
        known = self._known
        filled: np.ndarray = known if self.timed.all() else np.where(self.timed, known, known[np.argmax(self.timed)])
        return filled

    @property
    def counts(self) -> Mapping[str, int]:
        """How many events there are of each cause."""
        return {name: int(found.sum()) for name, found in self._causes.items()}

    def causes(self) -> np.ndarray:
        """Why each event may be rejected: one that can be used, only because it is late."""
        causes = np.full(len(self.timed), LATE, object)
        for name, found in self._causes.items():
            causes[found] = CAUSES.get(name, name)
        return causes

    def _leave_out(self, name: str, bad: np.ndarray | pa.Array) -> None:
        if isinstance(bad, pa.Array):
            bad = bad.to_numpy(zero_copy_only=False)
        self._causes[name] = bad & self.timed
        self.timed = self.timed & ~bad


def raw_rows(
    batch: pa.RecordBatch, usable: Usable, unusable: Mapping[str, np.ndarray], timely: np.ndarray
) -> pa.RecordBatch:
    """All events of `batch` with the cause for which each may be rejected: a usable one if it is late or `unusable`.

    Of the usable ones only those of which the time says whether they are late, which are `timely`.
    An impossible time is left out: who reads the rejected events may have nothing that holds it.
    """
    causes = usable.causes()
    for cause, found in unusable.items():
        causes[found] = cause
    times = pc.if_else(pa.array(causes == CAUSES["impossible"]), None, batch.column(TIME))
    columns = {"cause": pa.array(causes, pa.string()), "time": times, "row": batch.column(RAW)}
    return pa.record_batch(columns).filter(pa.array((causes != SEAM) & ((causes != LATE) | timely)))


def rejected_of(rows: pa.RecordBatch, stream: str, answered: Sequence[Answered]) -> pa.RecordBatch:
    """Those of `rows` that are rejected: of those that can be used the late ones, where so much was `answered`."""
    bad = pc.not_equal(rows.column("cause"), LATE).to_numpy(zero_copy_only=False)
    times = pc.fill_null(pc.cast(rows.column("time"), pa.int64()), 0).to_numpy()
    late, _ = late_events(times, answered)
    found = rows.filter(pa.array(bad | late))
    return found.append_column("stream", pa.array([stream] * found.num_rows, pa.string()))


def refused_rows(refused: RefusedEvents, stream: str) -> pa.RecordBatch:
    """Rejected events that a function has failed with: why, and the columns that it was told, as JSON."""
    columns = {"cause": pa.array([f"{REFUSED}: {cause}" for cause in refused.causes], pa.string())}
    columns |= {"time": pa.array(refused.times), "row": rows_to_json(refused.told)}
    return pa.record_batch(columns | {"stream": pa.array([stream] * len(refused.causes), pa.string())})


def late_rows(rows: pa.RecordBatch, stream: str) -> pa.RecordBatch:
    """Rejected events of which it is known that they are late: their times, and the events as they came."""
    columns = {"cause": pa.array([LATE] * rows.num_rows, pa.string()), "time": rows.column(TIME)}
    columns |= {"row": rows.column(RAW), "stream": pa.array([stream] * rows.num_rows, pa.string())}
    return pa.record_batch(columns)
