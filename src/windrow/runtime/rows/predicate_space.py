"""One space of windows that open and close at rows with a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import take
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.runtime.answers.windows import Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.key_sums import KeySums
from windrow.runtime.rows.keyed_space import KeyedSpace
from windrow.runtime.rows.open_windows import OpenWindows, RowsInWindows
from windrow.runtime.rows.passed import Passed
from windrow.runtime.rows.pending_rows import TIME
from windrow.runtime.rows.predicate_rows import FollowedRows, Owner
from windrow.runtime.share import Share
from windrow.runtime.slice.rows import CLOSES, OPENS
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, joined, nothing, reduced

Emit = Callable[[Answers], None]


class PredicateSpaceState(KeyedSpace):
    """The windows that are open in one shard, and one partial for each group in them.

    A window only grows while it is open, so its rows are folded as they come and let go. Rows are looked at in order of
    time once the clock has passed them. With a partition a shard has all rows of its keys; without one, all rows of the
    stream are in one shard, since a row of any group may open or close the window of all. `since` is as in
    `RowSpaceState`: a window that had opened before is not known.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
    ) -> None:
        assert isinstance(space.window, PredicateWindow)
        kept = snapshot or {"since": since}
        super().__init__(space, blocks, kept)
        self._window = space.window
        self._kernels = (Owner(), *(kernel_of(partial, user) for partial in space.partials))
        self._open = OpenWindows(f"{space.name}.open", blocks, kept.get("open"))
        self._sums = KeySums(self._kernels, f"{space.name}.sums", blocks, kept.get("sums"), as_rows=True)

    def adopt(self, older: PredicateSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._adopt_keys(older)
        self._open.adopt(older._open)
        self._sums.adopt(older._sums)

    def answer(self, before: int | None, clock: int, emit: Emit, newest: int | None = None) -> None:
        """Follow the rows before `clock`, and give `emit` the windows that they close, and those that are open early.

        With `newest`, the input has ended with an event at that time, and all rows up to it are followed. A window that
        is open then has no end, and is not answered.
        """
        rows = self._known(self._taken(clock if newest is None else self.last_end(clock, newest)))
        self._open.widen(self._owners.width)
        place = 0
        since = before if before is not None else (int(rows.times[0]) if len(rows.times) else clock)
        while instants := self._window.instants(since, clock):
            if not self._open.number.any():  # nothing is to tell until the next row
                following = rows.times[place : place + 1]
                instants = self._window.instants(max(since, *following), clock) if len(following) else range(0)
            if not instants:
                break
            since = instants[0]
            part, place = rows.until(since, place)
            self._close(part, emit)
            self._tell_open(since, emit)
        self._close(rows.until(int(rows.times[-1]) + 1, place)[0] if len(rows.times) else rows, emit)

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be followed."""
        return max(clock, self._window.next_end(newest))

    def expire(self, clock: int) -> None:
        """Let go of the groups and keys that have no open window."""
        self._open.widen(self._owners.width)
        held = self._sums.held(self.groups.width)[1]["n"] > 0
        if self._owners is self.groups:
            held |= self._open.number > 0
        else:
            self._owners.forget(np.flatnonzero((self._owners.references > 0) & (self._open.number == 0)))
        self.groups.forget(np.flatnonzero((self.groups.references > 0) & ~held))
        self._open.widen(self._owners.width)
        self._sums.held(self.groups.width)

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the keys that are not of `share`, with their open windows."""
        slots, owners = self._others(share)
        if not len(owners):
            return slots
        self._sums.release(slots)
        self._open.widen(self._owners.width)
        self._open.forget(owners)
        self._let_go(slots, owners)
        self._open.widen(self._owners.width)
        self._sums.held(self.groups.width)
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: the partials of open windows, which those are, and the groups."""
        return self._sums.nbytes + self._open.nbytes + self._bytes_of_keys

    def save(self, version: int) -> None:
        self._save_keys(version)
        for part in (self._open, self._sums):
            part.save(version)

    def snapshot(self) -> Snapshot:
        return self._keys_snapshot() | {"open": self._open.snapshot(), "sums": self._sums.snapshot()}

    def _known(self, waited: pa.RecordBatch | None) -> FollowedRows:
        """Rows in order of time, with slots for their keys and groups."""
        if waited is None:
            none = np.empty(0, np.int64)
            return FollowedRows(none, none, none > 0, none > 0, none, nothing(self._kernels))
        waited = waited.take(pa.array(np.argsort(waited.column(TIME).to_numpy(), kind="stable")))
        keys = [waited.column(f"key_{i}") for i in range(len(self.space.keys))]
        owners = self._owners.slots_of([keys[i] for i in self.space.partition], waited.num_rows)
        _refer(self._owners, owners)
        partials = [fields_of(kernel, of.name, waited) for of, kernel in zip(self.space.partials, self._kernels[1:])]
        members = np.flatnonzero(partials[0]["n"])
        slots = owners[members]
        if self._owners is not self.groups:
            slots = self.groups.slots_of([key.take(pa.array(members)) for key in keys], len(members))
            _refer(self.groups, slots)
        held = ({"owner": owners[members]}, *(take(fields, members) for fields in partials))
        opens, closes = (waited.column(name).to_numpy(zero_copy_only=False) for name in (OPENS, CLOSES))
        return FollowedRows(
            waited.column(TIME).to_numpy(), owners, opens, closes, members, Entries(members, slots, held)
        )  # fmt: skip

    def _close(self, rows: FollowedRows, emit: Emit) -> None:
        """Follow some rows: answer the windows that they close, and fold the rest into those that stay open."""
        if not len(rows.times):
            return
        told = self._open.follow(rows.owners, rows.times, rows.opens, rows.closes)
        numbers = told.numbers[rows.members]
        entries = Entries(numbers, rows.entries.slots, rows.entries.partials).part(numbers > 0)
        closing = np.flatnonzero(told.closing)
        closing = closing[np.argsort(told.numbers[closing])]
        ended = told.numbers[closing]
        entries = reduced(self._kernels, joined([self._older(rows.owners[closing], ended), entries]))
        if len(ended):
            self._pass(Passed(rows.owners[closing], rows.times[closing], ended))
            places = np.minimum(np.searchsorted(ended, entries.panes), len(ended) - 1)
            final = ended[places] == entries.panes
            self._tell_closed(rows, told, closing[places[final]], entries.part(final), emit)
            entries = entries.part(~final)
        if len(entries):
            self._sums.add(entries, self.groups.width)

    def _older(self, owners: np.ndarray, ended: np.ndarray) -> Entries:
        """What windows that close now had come to before: of the keys `owners`, with the numbers `ended`."""
        window = np.zeros(self._owners.width, np.int64)
        window[owners[::-1]] = ended[::-1]  # of several of a key, the first to close has the lowest number
        sums = self._sums.held(self.groups.width)
        slots = np.flatnonzero((sums[1]["n"] > 0) & (window[sums[0]["owner"]] > 0))
        if not len(slots):
            return nothing(self._kernels)
        older = tuple(take(fields, slots) for fields in sums)
        self._sums.release(slots)
        return Entries(window[older[0]["owner"]], slots, older)

    def _tell_closed(
        self, rows: FollowedRows, told: RowsInWindows, at: np.ndarray, entries: Entries, emit: Emit
    ) -> None:
        """Windows that close at the rows `at`, of which there is one for each of `entries`."""
        if len(entries):
            count = int(np.count_nonzero(np.diff(entries.panes))) + 1
            starts, ends = told.starts[at], rows.times[at]
            emit(Answers(count, starts, ends, entries.slots, entries.partials[1:], entries.panes))

    def _tell_open(self, instant: int, emit: Emit) -> None:
        """Windows that are open at `instant`, with what they have come to."""
        sums = self._sums.held(self.groups.width)
        slots = np.flatnonzero(sums[1]["n"])
        opened = np.flatnonzero(self._open.number)
        self._pass(Passed(opened, self._open.last[opened], self._open.number[opened], np.full(len(opened), instant)))
        if len(slots):
            owners = sums[0]["owner"][slots]
            partials = tuple(take(fields, slots) for fields in sums[1:])
            count, instants = len(np.unique(owners)), np.full(len(slots), instant)
            windows = self._open
            starts, ends, numbers = windows.first[owners], windows.last[owners], windows.number[owners]
            emit(Answers(count, starts, ends, slots, partials, numbers, instants))


def _refer(groups: GroupSlots, slots: np.ndarray) -> None:
    """Each of `slots` is held until it is forgotten, however often it is asked for."""
    fresh = np.unique(slots)
    groups.refer(fresh[groups.references[fresh] == 0])
