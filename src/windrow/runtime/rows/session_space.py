"""One space of session windows: rows that follow each other closely; what closes a gap merges two sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.plan.instants import LATEST_US
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.open_sessions import OpenSessions, Pieces, joined
from windrow.runtime.rows.session_numbers import numbered_sessions
from windrow.runtime.share import Share
from windrow.runtime.slice.sessions import CAME, EVENTS, LAST, START
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, reduced

Emit = Callable[[Answers], None]


class SessionSpaceState:
    """The sessions that are open in one shard, and one partial for each group in them.

    Rows come as pieces, folded where they were read. Pieces of a key that are at most the gap apart become one session,
    also with what had been two until then; whose end the clock has passed is told and let go. A row is late if the
    session that it would belong to, with all that has come with it, had ended when its batch began: of the last batch,
    `late` is how many were, and `left_out` has them where they are kept.
    With a partition a shard has all rows of its keys; without one, all rows of the stream are in one shard. `since` is
    as in `KeyedSpace`: of a session that may have begun before, not all is known, and it is not told.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
    ) -> None:
        assert isinstance(space.window, SessionWindow)
        kept = snapshot or {"since": since}
        self.space, self._gap = space, space.window.gap_us
        self._since: int | None = kept["since"]
        self._kernels = {partial.name: kernel_of(partial, user) for partial in space.partials}
        self.groups = GroupSlots(space.keys, space.name, blocks, kept.get("groups"))
        self._owners = self.groups
        if len(space.partition) < len(space.keys):
            keys = [space.keys[i] for i in space.partition]
            self._owners = GroupSlots(keys, f"{space.name}.owners", blocks, kept.get("owners"))
        self._open = OpenSessions(self._kernels, f"{space.name}.open", blocks, kept.get("open"))
        self._told = np.empty(0, np.int64)
        self.late, self.left_out = 0, list[pa.RecordBatch]()

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def adopt(self, older: SessionSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        for own, known in ((self.groups, older.groups), (self._owners, older._owners)):
            own.adopt(known)
        self._open.adopt(older._open)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Put pieces together with the open sessions of their keys."""
        self.late, self.left_out = 0, []
        if not payloads:
            return
        new = joined([self._pieces(batch) for batch in payloads])
        places = self._open.of(new.owners)
        old = self._open.at(places)
        pieces = joined([old, new])
        found = numbered_sessions(pieces.owners, pieces.starts, pieces.lasts, self._gap)
        entries = Entries(found.numbers, pieces.groups, pieces.partials)
        entries = reduced(tuple(self._kernels.values()), entries)
        session = entries.panes
        starts, lasts = found.starts[session], found.lasts[session]
        merged = Pieces(found.owners[session], entries.slots, starts, lasts, entries.partials)
        if clock is not None:
            merged = merged.part(lasts + self._gap >= clock)
            self._leave_out(payloads, found.lasts[found.numbers[len(old) :]] + self._gap < clock)
        self._refer(merged)
        self._open.drop(places)
        self._open.put(merged)
        self._forget(old)

    def answer(self, before: int | None, clock: int, emit: Emit, newest: int | None = None) -> None:
        """Give `emit` the sessions whose end is before `clock`.

        With `newest`, the input has ended with an event at that time, and all sessions are told.
        """
        until = clock if newest is None else self.last_end(clock, newest)
        self._told = self._open.ended(until - self._gap)
        ended = self._open.at(self._told)
        told = (ended.partials[0]["n"] > 0) & (ended.lasts + self._gap <= LATEST_US)
        if self._since is not None:
            told &= ended.starts - self._gap >= self._since
        ended = ended.part(told)
        ended = ended.part(np.lexsort((ended.groups, ended.owners, ended.lasts)))
        begins = (np.diff(ended.owners, prepend=-1) != 0) | (np.diff(ended.lasts, prepend=0) != 0)
        for start in range(0, len(ended), ANSWER_ROWS):
            rows = slice(start, start + ANSWER_ROWS)
            part, count = ended.part(np.arange(len(ended))[rows]), int(begins[rows].sum())
            emit(Answers(count, part.starts, part.lasts + self._gap, part.groups, part.partials))

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be told."""
        return max(clock, self.space.window.next_end(newest))

    def expire(self, clock: int) -> None:
        """Let go of the sessions that have been told, and of the groups and keys that were only there."""
        gone = self._open.at(self._told)
        self._open.drop(self._told)
        self._told = self._told[:0]
        self._forget(gone)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the sessions that began after `newest`; one that had begun stays whole."""
        places = self._open.begun(newest)
        gone = self._open.at(places)
        self._open.drop(places)
        self._forget(gone)
        return Rewound(len(gone))

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the sessions of keys that are not of `share`."""
        slots = self.groups.others(share, self.space.spread_by)
        places = self._open.of_groups(slots)
        gone = self._open.at(places)
        self._open.drop(places)
        self._forget(gone)
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: the partials of open sessions, and the groups."""
        keys = self.groups.nbytes + (0 if self._owners is self.groups else self._owners.nbytes)
        return self._open.nbytes + keys

    def save(self, version: int) -> None:
        self.groups.save(version)
        if self._owners is not self.groups:
            self._owners.save(version)
        self._open.save(version)

    def snapshot(self) -> Snapshot:
        return {
            "since": self._since,
            "groups": self.groups.snapshot(),
            "owners": None if self._owners is self.groups else self._owners.snapshot(),
            "open": self._open.snapshot(),
        }

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

    def _leave_out(self, payloads: Sequence[pa.RecordBatch], late: np.ndarray) -> None:
        """Count and keep what is late: of the pieces of `payloads`, one after the other, those that `late` says."""
        ends = np.cumsum([batch.num_rows for batch in payloads])
        for batch, own in zip(payloads, np.split(late, ends[:-1])):
            if own.any():
                gone = batch.filter(pa.array(own))
                self.late += int(gone.column(EVENTS).to_numpy().sum())
                if CAME in gone.schema.names:
                    self.left_out.append(pa.RecordBatch.from_struct_array(gone.column(CAME).flatten()))

    def _refer(self, pieces: Pieces) -> None:
        for slots, held in self._slots(pieces):
            slots.refer(held)

    def _forget(self, pieces: Pieces) -> None:
        for slots, held in self._slots(pieces):
            slots.forget(held)

    def _slots(self, pieces: Pieces) -> list[tuple[GroupSlots, np.ndarray]]:
        own = [(self.groups, pieces.groups)]
        return own if self._owners is self.groups else [*own, (self._owners, pieces.owners)]
