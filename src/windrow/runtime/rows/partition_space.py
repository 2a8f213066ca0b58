"""One space of windows that count the rows of each key: every key is a stream of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from windrow.clustering.point_rows import PointRows, rows_kernel
from windrow.kernels import Kernel
from windrow.kernels.user import User
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.spaces import RowSpace
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.rows.key_counts import KeyCounts
from windrow.runtime.rows.key_running import KeyRunning
from windrow.runtime.rows.key_runs import HeldRows, each_group
from windrow.runtime.rows.key_sums import KeySums
from windrow.runtime.rows.key_tree import KeyTree, leaf_rows
from windrow.runtime.rows.key_windows import KeyWindows, due_key_windows
from windrow.runtime.rows.keyed_rows import KeyedRows, Needed, Place
from windrow.runtime.rows.keyed_space import KeyedSpace
from windrow.runtime.rows.passed import Passed
from windrow.runtime.rows.pending_rows import TIME
from windrow.runtime.rows.row_space import known_since
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.working_set import NoRoomError
from windrow.windows.entries import Entries, fields_of, joined, nothing


class PartitionSpaceState(KeyedSpace):
    """The rows of each key that its windows still hold, how many there were, and the groups, in one shard.

    Rows are spread by the keys that they are counted by, so a shard has all rows of its keys and numbers them itself.
    All windows of all keys that are due are folded at once. Windows without bound keep one partial a group instead of
    rows. `since` is as in `RowSpaceState`.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
    ) -> None:
        kept = snapshot or {"since": since, "passed": None}
        super().__init__(space, blocks, kept)
        self._window = space.window
        self._kernels = [rows_kernel(partial, user) for partial in space.partials]
        self._passed: int | None = kept["passed"]
        self._counts = KeyCounts(f"{space.name}.counts", blocks, kept.get("counts"))
        self._rows = KeyedRows(f"{space.name}.rows", [Place(), *self._kernels], blocks, kept.get("rows"))
        folded = [_folding(kernel) for kernel in self._kernels]
        self._sums = KeySums(folded, f"{space.name}.sums", blocks, kept.get("sums"))
        removing = [i for i, partial in enumerate(space.partials) if partial.kind == "user_rows"]
        merging = [i for i, kernel in enumerate(self._kernels) if isinstance(kernel, User)]
        self._running = KeyRunning(self._kernels, removing, f"{space.name}.running", blocks, kept.get("running"))
        self._tree = KeyTree(self._kernels, merging, blocks)
        points = [i for i, kernel in enumerate(self._kernels) if isinstance(kernel, PointRows)]
        self._points = KeyTree(folded, points, blocks, leaf=leaf_rows(space.window))
        self._new = nothing([Place(), *self._kernels])
        self._were: Needed = _all
        self.duplicates = 0

    def adopt(self, older: PartitionSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._adopt_keys(older)
        self._counts.adopt(older._counts)
        self._rows.adopt(older._rows)
        self._sums.adopt(older._sums)

    def answer(
        self, before: int | None, clock: int, emit: Callable[[Answers], None], newest: int | None = None
    ) -> None:
        """Number the rows before `clock`, and give `emit` every window that is due by them, some at a time.

        With `newest`, the input has ended with an event at that time, and all rows up to it are numbered.
        """
        until = clock if newest is None else self.last_end(clock, newest)
        self.duplicates = 0
        new = self._numbered(self._taken(until))
        self._counts.widen(self._owners.width)
        self._were = self._needed()
        due = clock if self._window.is_early else until
        if self._window.bounded:
            self._in_parts(lambda: due_key_windows(self._window, new, self._counts, before, due), new, emit)
        else:
            for windows in due_key_windows(self._window, new, self._counts, before, due):
                answers = self._unbounded(windows, new)
                if answers is not None:
                    emit(answers)
        self._new = new
        if len(new):
            self._counts.add(new.partials[0]["owner"], new.partials[0]["time"])
            if not self._window.bounded:
                self._sums.add(Entries(new.panes, new.slots, new.partials[1:]), self.groups.width)
        self._passed = until

    def _in_parts(
        self,
        due: Callable[[], Iterator[KeyWindows]],
        new: Entries,
        emit: Callable[[Answers], None],
        part: int = 0,
        parts: int = 1,
    ) -> None:
        """Answer the windows of one of so many parts of the keys; each by halves where its rows have no room together.

        Rows of one key are folded together: those must have room.
        """
        needed, held = self._of_due(new), None
        try:
            for windows in due():
                mine = windows if parts == 1 else windows.part(windows.owners % parts == part)
                if held is None and len(mine):
                    of_part = _of_part(needed, part, parts)
                    fresh = new if parts == 1 else new.part(new.partials[0]["owner"] % parts == part)
                    held = HeldRows(joined([self._rows.rows(of_part), fresh]), self._owners is self.groups)
                answers = self._bounded(mine, held) if held is not None else None
                if answers is not None:
                    emit(answers)
        except NoRoomError:
            if held is not None or parts >= self._owners.width:
                raise
            self._in_parts(due, new, emit, part, 2 * parts)
            self._in_parts(due, new, emit, part + parts, 2 * parts)

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be answered."""
        return max(clock, self._window.next_end(newest))

    def expire(self, clock: int) -> None:
        """Let go of the rows that no later window holds, and of the groups that were only there."""
        if not self._window.bounded:
            return
        needed = self._needed()
        gone = self._rows.sweep(self._were, needed)
        staying = needed(self._new)
        self._rows.add(self._new.part(staying))
        freed = np.empty(0, np.int64)
        if self._owners is not self.groups:
            freed = self.groups.forget(np.concatenate([gone.slots, self._new.slots[~staying]]))
        for users in (self._running, self._tree, self._points):
            if users.members:
                users.leave(joined([gone, self._new.part(~staying)]), freed)
        self._new = nothing([Place(), *self._kernels])
        if self._window.unique:
            self._forget_keys()

    def _forget_keys(self) -> None:
        """Let go of the keys whose last row no window can hold any more: state is as large as the range."""
        if self._passed is None or self._window.range_us is None:
            return
        counts = self._counts
        counts.widen(self._owners.width)
        gone = np.flatnonzero((counts.count > 0) & (counts.last <= self._passed - self._window.range_us))
        if len(gone):
            counts.forget(gone)
            self._owners.forget(gone)
            counts.widen(self._owners.width)

    def rewind(self, newest: int, clock: int) -> Rewound:
        rewound = super().rewind(newest, clock)
        if not rewound.anew and self._passed is not None and self._window.range_us is not None:
            self._rows.keep(self._needed())  # of some that are not, the groups are gone
            self._counts.widen(self._owners.width)
            first = int(self._counts.first[self._counts.count > 0].min(initial=newest))
            self._since = known_since(self._since, first, self._passed - self._window.range_us, newest)
            self._passed = min(self._passed, newest)
        return rewound

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the keys that are not of `share`, with their rows and what these have come to."""
        slots, owners = self._others(share)
        if not len(owners):
            return slots
        self._rows.keep(lambda rows: ~np.isin(rows.slots, slots))
        self._sums.release(slots)
        for users in (self._running, self._tree, self._points):
            if users.members:
                users.leave(nothing([Place(), *self._kernels]), slots)
        self._counts.widen(self._owners.width)
        self._counts.forget(owners)
        self._let_go(slots, owners)
        self._counts.widen(self._owners.width)
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: sums without bound, windows kept folded, how many rows each key had, the groups."""
        folded = self._running.nbytes + self._tree.held() + self._points.held() + self._sums.nbytes
        return folded + self._counts.nbytes + self._bytes_of_keys

    def save(self, version: int) -> None:
        self._save_keys(version)
        for part in (self._counts, self._rows, self._sums, self._running):
            part.save(version)

    def snapshot(self) -> Snapshot:
        own = {"passed": self._passed, "counts": self._counts.snapshot(), "rows": self._rows.snapshot()}
        folded = {"sums": self._sums.snapshot(), "running": self._running.snapshot()}
        return self._keys_snapshot() | own | folded

    def _numbered(self, rows: pa.RecordBatch | None) -> Entries:
        """Rows in order of time, each with its position among those of its key."""
        if rows is None:
            return nothing([Place(), *self._kernels])
        rows = rows.take(pa.array(np.argsort(rows.column(TIME).to_numpy(), kind="stable")))
        keys = [rows.column(f"key_{i}") for i in range(len(self.space.keys))]
        slots = self.groups.slots_of(keys, rows.num_rows)
        owners = slots
        if self._owners is not self.groups:
            owners = self._owners.slots_of([keys[i] for i in self.space.partition], rows.num_rows)
        self._counts.widen(self._owners.width)
        self._refer(slots, owners)
        place = {"time": rows.column(TIME).to_numpy(), "owner": owners}
        partials = tuple(fields_of(kernel, kept.name, rows) for kept, kernel in zip(self.space.partials, self._kernels))
        return Entries(self._counts.positions(owners), slots, (place, *partials))

    def _refer(self, slots: np.ndarray, owners: np.ndarray) -> None:
        """A group stays as long as it has rows; a key that has been counted, and a sum without bound, for ever."""
        fresh = np.unique(owners)
        self._owners.refer(fresh[self._owners.references[fresh] == 0])
        if self._owners is not self.groups:
            if not self._window.bounded:
                slots = np.unique(slots)
                slots = slots[self.groups.references[slots] == 0]
            self.groups.refer(slots)

    def _of_due(self, new: Entries) -> Needed:
        """Which rows that are held belong to keys with a window that is due."""
        width = self._owners.width
        due = np.ones(width + 1, bool)
        due[width] = False  # rows that nobody needs may still lie in their block, of keys that are forgotten
        if self._window.slide_rows is not None:
            due[:] = False
            due[new.partials[0]["owner"][(new.panes + 1) % self._window.slide_rows == 0]] = True
        return lambda rows: self._were(rows) & due[np.minimum(rows.partials[0]["owner"], width)]

    def _bounded(self, windows: KeyWindows, held: HeldRows) -> Answers | None:
        """The answers of windows, folded from the rows in them."""
        if self._window.range_us is not None:
            bounds = (windows.ends if windows.instants is None else windows.instants) - self._window.range_us
            lows = held.first_after(windows.owners, bounds, windows.highs)
            whole = bounds >= (BEFORE_ALL if self._since is None else self._since - 1)
        else:
            lows = self._window.lows(windows.highs)
            whole = lows >= (BEFORE_ALL if self._since is None else 0)
        if self._window.unique:
            repeated = windows.highs - lows > 1
            self.duplicates += int((repeated & whole).sum())
            whole &= ~repeated
        if not whole.all():
            windows, lows = windows.part(whole), lows[whole]
        self._pass(Passed(windows.owners, windows.ends, windows.highs, windows.instants))
        filled = lows < windows.highs
        if not filled.all():  # of one that closes next, nothing may have come
            windows, lows = windows.part(filled), lows[filled]
        if not len(lows):
            return None
        number, slots = each_group(windows.owners, *held.groups)
        apart = (*self._running.members, *self._tree.members, *self._points.members)
        folded = held.by_group.fold(self._kernels, slots, lows[number], windows.highs[number], apart)
        for going_on in (self._running, self._tree, self._points):
            if going_on.members:
                told = going_on.slide(slots, lows[number], windows.highs[number], held.by_group)
                for i, fields in zip(going_on.members, told):
                    folded[i] = fields
        return windows.answers(held.times(windows.owners, lows), number, slots, folded)

    def _unbounded(self, windows: KeyWindows, new: Entries) -> Answers | None:
        """The answers of windows that reach back to the first row of their key."""
        self._pass(Passed(windows.owners, windows.ends, windows.highs, windows.instants))
        number, slots = each_group(windows.owners, *self._groups_of_keys())
        rows = Entries(new.panes, new.slots, new.partials[1:])
        folded = self._sums.fold(rows, self.groups.width, slots, windows.highs[number])
        starts = self._counts.first.copy()
        keys, row = np.unique(new.partials[0]["owner"], return_index=True)
        fresh = self._counts.count[keys] == 0
        starts[keys[fresh]] = new.partials[0]["time"][row[fresh]]
        return windows.answers(starts[windows.owners], number, slots, folded)

    def _groups_of_keys(self) -> tuple[np.ndarray, np.ndarray]:
        """Every group's slot, and the slot of the key that it is counted by."""
        slots = np.arange(self.groups.width)
        if self._owners is self.groups:
            return slots, slots
        keys = self.groups.keys_of(slots)
        return slots, self._owners.slots_of([keys[i] for i in self.space.partition], len(slots))

    def _needed(self) -> Needed:
        """Which rows a window may hold that comes after those rows that are counted and after the clock."""
        window = self._window
        if window.range_us is not None:
            if self._passed is None:
                return _all
            oldest = self._passed - window.range_us
            return lambda rows: rows.partials[0]["time"] > oldest
        lows = self._counts.count - (window.rows or 0)
        if window.slide_rows is not None:
            lows = (self._counts.count // window.slide_rows + 1) * window.slide_rows - (window.rows or 0)
        return lambda rows: rows.panes >= lows[rows.partials[0]["owner"]]


def _folding(kernel: Kernel) -> Kernel:
    """The kernel that windows are folded by."""
    return kernel.clustering if isinstance(kernel, PointRows) else kernel


def _of_part(needed: Needed, part: int, parts: int) -> Needed:
    """Of the rows that are needed, those of one of so many parts of the keys."""
    if parts == 1:
        return needed
    return lambda rows: needed(rows) & (rows.partials[0]["owner"] % parts == part)


def _all(rows: Entries) -> np.ndarray:
    return np.ones(len(rows), bool)
