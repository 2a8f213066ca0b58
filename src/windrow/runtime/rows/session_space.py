"""One space of session windows: rows that follow each other closely; what closes a gap merges two sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.clustering import kernel_of
from windrow.plan.instants import BEFORE_ALL, LATEST_US
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.late import Decided
from windrow.runtime.rows.keyed_space import KeyedSpace
from windrow.runtime.rows.open_sessions import OpenSessions, Pieces, joined
from windrow.runtime.rows.passed import Passed
from windrow.runtime.rows.pending_rows import TIME
from windrow.runtime.rows.retold_sessions import retold
from windrow.runtime.rows.session_numbers import numbered_sessions
from windrow.runtime.share import Share
from windrow.runtime.slice.sessions import CAME, EVENTS, LAST, START
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, reduced

Emit = Callable[[Answers], None]


class SessionSpaceState(KeyedSpace):
    """The sessions that are open in one shard, and one partial for each group in them.

    Rows come as pieces, folded where they were read. Pieces of a key that are at most the gap apart become one session,
    also with what had been two until then; whose end the clock has passed is told and let go. A row is late if the
    session that it would belong to, with all that has come with it, had ended when its batch began: of the last batch,
    `late` is how many were, and `corrected` how many have changed an answer. Where others have a say, or late rows are
    kept, `decided` has them instead.
    With a partition a shard has all rows of its keys; without one, all rows of the stream are in one shard. `since` is
    as in `KeyedSpace`: of a session that may have begun before, not all is known, and it is not told.

    For `correct_us` after its end a session that was told stays, and what comes for it is not late: what was told of
    it, and of those that it is merged with, is taken back. `_gone` is the end before which none is held any more.

    With EMIT EVERY, sessions that are open are told at each multiple of it, with what came before that instant. So a
    piece that begins after the next of them waits until it has been told: pieces lie between two of them. No session
    that ends before that instant can have to do with one that waits.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
        correct_us: int = 0,
    ) -> None:
        assert isinstance(space.window, SessionWindow)
        kept = snapshot or {"since": since}
        super().__init__(space, blocks, kept)
        self._window, self._gap = space.window, space.window.gap_us
        self._kernels = {partial.name: kernel_of(partial, user) for partial in space.partials}
        self._open = OpenSessions(self._kernels, f"{space.name}.open", blocks, kept.get("open"))
        self._correct_us = correct_us
        self._gone: int | None = kept.get("gone") if correct_us else None
        self._changed: list[tuple[Pieces, Pieces]] = []
        self.late, self.corrected, self.decided = 0, 0, list[Decided]()

    def adopt(self, older: SessionSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._adopt_keys(older)
        self._open.adopt(older._open)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Put pieces together with the open sessions of their keys, or let them wait for an early answer."""
        self.late, self.corrected, self.decided = 0, 0, []
        if self._gone is None:  # nothing that was told can be taken back, and what stayed for that goes
            self._gone = BEFORE_ALL if clock is None else clock
            self._drop(self._open.ended(BEFORE_ALL if clock is None else clock - self._gap))
        if self._window.every_us is None:
            self._join(payloads, clock)
            return
        following = None if clock is None else self._window.instants(clock, clock + self._window.every_us)[0]
        for batch in payloads:
            starts = batch.column(START).to_numpy()
            later = np.ones(len(starts), bool) if following is None else starts >= following
            self._waiting.add(_timed(batch.filter(pa.array(later))))
            self._join([batch.filter(pa.array(~later))], clock)

    def _join(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Put pieces together with the open sessions of their keys."""
        payloads = [batch for batch in payloads if batch.num_rows]
        if not payloads:
            return
        new = joined([self._pieces(batch) for batch in payloads])
        places = self._open.of(new.owners)
        old = self._open.at(places)
        pieces = joined([old, new])
        found = numbered_sessions(pieces.owners, pieces.starts, pieces.lasts, self._gap)
        numbers, come = found.numbers, found.numbers[len(old) :]
        if self._correct_us:  # those of a key that nothing has come for stay as they were told
            reached = np.isin(numbers, come)
            numbers, pieces = numbers[reached], pieces.part(reached)
            places, old = places[reached[: len(old)]], old.part(reached[: len(old)])
        entries = Entries(numbers, pieces.groups, pieces.partials)
        entries = reduced(tuple(self._kernels.values()), entries)
        session = entries.panes
        starts, lasts = found.starts[session], found.lasts[session]
        merged = Pieces(found.owners[session], entries.slots, starts, lasts, entries.partials)
        if clock is not None:
            closed = clock if not self._correct_us else max(clock - self._correct_us, self._gone or BEFORE_ALL)
            merged = merged.part(lasts + self._gap >= closed)
            late = found.lasts[come] + self._gap < closed
            changed = np.zeros(len(come), bool)
            if self._correct_us:
                told = old.lasts + self._gap < clock
                changed = np.isin(come, numbers[: len(old)][told]) | (found.lasts[come] + self._gap < clock)
                self._changed.append((old.part(told), merged.part(merged.lasts + self._gap < clock)))
            self._decide(payloads, late, changed & ~late, clock)
        self._refer(merged)
        self._open.drop(places)
        self._open.put(merged)
        self._forget(old)

    def answer(self, before: int | None, clock: int, emit: Emit, newest: int | None = None) -> None:
        """Give `emit` the sessions whose end is before `clock`, and with EMIT EVERY those that were open before it.

        With `newest`, the input has ended with an event at that time, and all sessions are told.
        """
        until = clock if newest is None else self.last_end(clock, newest)
        if self._window.every_us is not None:
            self._tell_open(before, clock, emit)
            waited = self._waiting.take(self._window.instants(until, until + self._window.every_us)[0])
            self._join([] if waited is None else [_untimed(waited)], None)
        ended = self._open.at(self._open.ended(until - self._gap))
        if self._correct_us and before is not None:
            ended = ended.part(ended.lasts + self._gap >= before)
        self._tell(ended, None, emit)

    def correct(self, before: int | None, emit: Callable[[Correction], None]) -> None:
        """Give `emit` what was told by `before` of sessions that this batch has changed, and what holds instead."""
        changed, self._changed = self._changed, []
        for was, now in changed:
            for correction in retold(self._tellable(was), self._tellable(now), self._gap):
                emit(correction)

    def first_told(self, query: QueryPlan, window: TimeWindow | None, clock: int | None) -> int:
        """The first end of a session that `query` was told of, where it came at `clock`."""
        return BEFORE_ALL if clock is None else clock

    def _tell_open(self, before: int | None, clock: int, emit: Emit) -> None:
        """What sessions that are open have come to, at each instant at which that is asked."""
        instants = self._window.instants(self._first(clock) if before is None else before, clock)
        while instants:
            instant = instants[0]
            waited = self._waiting.take(instant)
            self._join([] if waited is None else [_untimed(waited)], None)
            held = self._open.at(self._open.begun(BEFORE_ALL))
            self._tell(held.part(held.lasts + self._gap >= instant), instant, emit)
            if not len(held) or (held.lasts + self._gap).max() < instant:  # nothing is to tell until the next row
                instant = max(instant, self._first(clock))
            instants = self._window.instants(instant, clock)

    def _first(self, clock: int) -> int:
        """When the first of those that wait begins, if it is before `clock`."""
        return min(self._waiting.low(clock), clock)

    def _tell(self, sessions: Pieces, instant: int | None, emit: Emit) -> None:
        """Give `emit` these sessions, as they are when they have ended or were at `instant`."""
        sessions = self._tellable(sessions)
        sessions = sessions.part(np.lexsort((sessions.groups, sessions.owners, sessions.lasts)))
        begins = (np.diff(sessions.owners, prepend=-1) != 0) | (np.diff(sessions.lasts, prepend=0) != 0)
        first = np.flatnonzero(begins)
        self._pass(Passed(sessions.owners[first], sessions.lasts[first] + self._gap, None, _at(instant, len(first))))
        counted = sessions.partials[0]["n"] > 0
        sessions, session = sessions.part(counted), np.cumsum(begins)[counted]
        for start in range(0, len(sessions), ANSWER_ROWS):
            rows = slice(start, start + ANSWER_ROWS)
            part, count = sessions.part(np.arange(len(sessions))[rows]), len(np.unique(session[rows]))
            ends, instants = part.lasts + self._gap, _at(instant, len(part))
            emit(Answers(count, part.starts, ends, part.groups, part.partials, instants=instants))

    def _tellable(self, sessions: Pieces) -> Pieces:
        """Those that are known from their beginning, and end at a time that there is."""
        told = sessions.lasts + self._gap <= LATEST_US
        if self._since is not None:
            told &= sessions.starts - self._gap >= self._since
        return sessions.part(told)

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be told."""
        return max(clock, self.space.window.next_end(newest))

    def expire(self, clock: int) -> None:
        """Let go of the sessions that have been told for good, and of the groups and keys that were only there."""
        settled = clock - self._correct_us
        self._gone = settled if self._gone is None else max(self._gone, settled)
        self._drop(self._open.ended(settled - self._gap))

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the sessions that began after `newest`; one that had begun stays whole."""
        gone = self._drop(self._open.begun(newest))
        return Rewound(gone + self._waiting.rewind(newest))

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the sessions of keys that are not of `share`."""
        self._waiting.keep(share, self.space.spread_by)
        slots = self.groups.others(share, self.space.spread_by)
        self._drop(self._open.of_groups(slots))
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: the partials of open sessions, and the groups."""
        return self._open.nbytes + self._bytes_of_keys

    def save(self, version: int) -> None:
        self._save_keys(version)
        self._open.save(version)

    def snapshot(self) -> Snapshot:
        gone = {"gone": self._gone} if self._correct_us else {}
        return self._keys_snapshot() | {"open": self._open.snapshot()} | gone

    def _pieces(self, batch: pa.RecordBatch) -> Pieces:
        """What a payload holds, with slots for its keys and groups."""
        keys = [batch.column(f"key_{i}") for i in range(len(self.space.keys))]
        groups = self.groups.slots_of(keys, batch.num_rows)
        owners = groups
        if self._owners is not self.groups:
            owners = self._owners.slots_of([keys[i] for i in self.space.partition], batch.num_rows)
        starts, lasts = (batch.column(name).to_numpy() for name in (START, LAST))
        partials = tuple(fields_of(kernel, name, batch) for name, kernel in self._kernels.items())
        return Pieces(owners, groups, starts, lasts, partials)

    def _decide(self, payloads: Sequence[pa.RecordBatch], late: np.ndarray, changed: np.ndarray, clock: int) -> None:
        """Say which of the pieces of `payloads`, one after the other, are `late`, and which have `changed` answers."""
        edges = np.cumsum([batch.num_rows for batch in payloads])[:-1]
        for batch, missed, again in zip(payloads, np.split(late, edges), np.split(changed, edges)):
            if CAME not in batch.schema.names:
                counts = batch.column(EVENTS).to_numpy()
                self.late += int(counts[missed].sum())
                self.corrected += int(counts[again].sum())
                continue
            behind = (batch.column(START).to_numpy() < clock) | again  # nobody lacks what comes in time
            came = batch.column(CAME).filter(pa.array(behind))
            lengths = pc.fill_null(came.value_lengths(), 0).to_numpy()
            flags = (np.repeat(flag[behind], lengths) for flag in (missed, again))
            self.decided.append(Decided(pa.RecordBatch.from_struct_array(came.flatten()), *flags))

    def _drop(self, places: np.ndarray) -> int:
        """Let go of what stands at `places`; how much that is."""
        gone = self._open.at(places)
        self._open.drop(places)
        self._forget(gone)
        return len(gone)

    def _refer(self, pieces: Pieces) -> None:
        for slots, held in self._slots(pieces):
            slots.refer(held)

    def _forget(self, pieces: Pieces) -> None:
        for slots, held in self._slots(pieces):
            slots.forget(held)

    def _slots(self, pieces: Pieces) -> list[tuple[GroupSlots, np.ndarray]]:
        own = [(self.groups, pieces.groups)]
        return own if self._owners is self.groups else [*own, (self._owners, pieces.owners)]


def _at(instant: int | None, count: int) -> np.ndarray | None:
    return None if instant is None else np.full(count, instant)


def _timed(pieces: pa.RecordBatch) -> pa.RecordBatch:
    """Pieces that wait for the clock to pass their beginning."""
    return pieces.append_column(TIME, pieces.column(START))


def _untimed(pieces: pa.RecordBatch) -> pa.RecordBatch:
    return pieces.drop_columns([TIME])
