"""One space of windows that count the rows of each key: every key is a stream of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, kernel_for, take
from windrow.kernels.kernel import Field, integer
from windrow.plan.pipeline import RowSpace
from windrow.runtime.groups import Groups
from windrow.runtime.key_counts import KeyCounts
from windrow.runtime.key_runs import GroupRuns, HeldRows, KeyWindows, Runs, each_group
from windrow.runtime.keyed_rows import KeyedRows, Needed
from windrow.runtime.row_times import Instant
from windrow.runtime.space import ANSWER_ROWS, Answers
from windrow.runtime.waiting import TIME, Waiting
from windrow.storage.blocks import Blocks
from windrow.windows.entries import Entries, fields_of, joined, nothing
from windrow.windows.running import Accumulate

START = -(1 << 62)


class Place(Instant):
    """When a row happened, and the slot of the key that it is counted by, as columns beside its partials."""

    fields: tuple[Field, ...] = (integer("time"), integer("owner"))


class Entering:
    """The rows of a batch, as a maintenance asks for panes."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)
        self.rows = nothing(self.kernels)

    def between(self, first: int, stop: int) -> Entries:
        return self.rows


class PartitionSpaceState:
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
        snapshot: dict | None = None,
        since: int | None = None,
    ) -> None:
        self.space, self._window = space, space.window
        self._kernels = [kernel_for(partial, user) for partial in space.partials]
        kept = snapshot or {"since": since, "passed": None, "batches": 0}
        self._since: int | None = kept["since"]
        self._passed: int | None = kept["passed"]
        self._batches: int = kept["batches"]
        self._waiting = Waiting(f"{space.name}.waiting", blocks, kept.get("waiting"))
        self.groups = Groups(space.keys, space.name, blocks, kept.get("groups"))
        self._owners = self.groups
        if len(space.partition) < len(space.keys):
            keys = [space.keys[i] for i in space.partition]
            self._owners = Groups(keys, f"{space.name}.owners", blocks, kept.get("owners"))
        self._counts = KeyCounts(f"{space.name}.counts", blocks, kept.get("counts"))
        self._rows = KeyedRows(f"{space.name}.rows", [Place(), *self._kernels], blocks, kept.get("rows"))
        self._entering = Entering(self._kernels)
        self._sums = Accumulate(self._entering, f"{space.name}.sums", blocks, kept.get("sums"))
        self._new = nothing([Place(), *self._kernels])
        self._were: Needed = _all

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def adopt(self, older: PartitionSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._waiting.adopt(older._waiting)
        self.groups.adopt(older.groups)
        self._owners.adopt(older._owners)
        self._counts.adopt(older._counts)
        self._rows.adopt(older._rows)
        self._sums.adopt(older._sums)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Let rows wait for their numbers; those before `clock` are late and get none."""
        oldest = max((bound for bound in (clock, self._since) if bound is not None), default=None)
        for batch in payloads:
            if oldest is not None:
                batch = batch.filter(pa.array(batch.column(TIME).to_numpy() >= oldest))
            self._waiting.add(batch)

    def answer(self, before: int | None, clock: int, emit: Callable[[Answers], None]) -> None:
        """Number the rows before `clock`, and give `emit` every window that is due by them, some at a time."""
        new = self._numbered(self._waiting.take(clock))
        self._counts.widen(self._owners.width)
        self._were = self._needed()
        held: HeldRows | None = None
        for windows in self._due(new, before, clock):
            if not self._window.bounded:
                self._emit_whole(windows, new, emit)
                continue
            if held is None:
                held = HeldRows(joined([self._rows.rows(self._of_due(new)), new]), self._owners is self.groups)
            self._emit_bounded(windows, held, emit)
        self._new = new
        if len(new):
            place = new.partials[0]
            self._counts.add(place["owner"], place["time"])
            if not self._window.bounded:
                self._entering.rows = Entries(new.panes, new.slots, new.partials[1:])
                self._batches += 1
                self._sums.answer(range(START, self._batches), self.groups.width)
                self._entering.rows = nothing(self._kernels)
        self._passed = clock

    def last_window(self, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be answered."""
        return self._window.next_end(newest)

    def expire(self, clock: int) -> None:
        """Let go of the rows that no later window holds, and of the groups that were only there."""
        if not self._window.bounded:
            return
        needed = self._needed()
        gone = self._rows.sweep(self._were, needed)
        staying = needed(self._new)
        self._rows.add(self._new.part(staying))
        if self._owners is not self.groups:
            self.groups.forget(np.concatenate([gone.slots, self._new.slots[~staying]]))
        self._new = nothing([Place(), *self._kernels])

    def save(self, version: int) -> None:
        for part in (self._waiting, self.groups, self._counts, self._rows, self._sums):
            part.save(version)
        if self._owners is not self.groups:
            self._owners.save(version)

    def snapshot(self) -> dict:
        return {
            "since": self._since,
            "passed": self._passed,
            "batches": self._batches,
            "waiting": self._waiting.snapshot(),
            "groups": self.groups.snapshot(),
            "owners": None if self._owners is self.groups else self._owners.snapshot(),
            "counts": self._counts.snapshot(),
            "rows": self._rows.snapshot(),
            "sums": self._sums.snapshot(),
        }

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
        partials = tuple(fields_of(kernel, i, rows) for i, kernel in enumerate(self._kernels))
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

    def _due(self, new: Entries, before: int | None, clock: int) -> Iterator[KeyWindows]:
        """The windows to answer: after some of the new rows, or of every key at some instants."""
        place = new.partials[0]
        if self._window.slide_rows is not None:
            last = np.flatnonzero((new.panes + 1) % self._window.slide_rows == 0)
            for start in range(0, len(last), ANSWER_ROWS):
                some = last[start : start + ANSWER_ROWS]
                yield KeyWindows(place["owner"][some], new.panes[some] + 1, place["time"][some], None)
            return
        assert self._window.slide_us is not None
        if before is None:
            if not len(new):
                return
            before = int(place["time"][0])
        owners, runs = np.arange(self._owners.width), Runs(place["owner"], place["time"])
        window, stop = self._window.last_ended(before) + 1, self._window.last_ended(clock) + 1
        step = max(1, ANSWER_ROWS // max(1, len(owners)))
        for start in range(window, stop if len(owners) else window, step):
            instants = self._window.offset_us + np.arange(start, min(start + step, stop)) * self._window.slide_us
            each, times = np.tile(owners, len(instants)), np.repeat(instants, len(owners))
            entered = runs.bound(each, times) - runs.begins(each)
            highs = self._counts.count[each] + entered
            lasts = np.concatenate([runs.values, [0]])[runs.begins(each) + np.maximum(entered - 1, 0)]
            ends = np.where(entered > 0, lasts, self._counts.last[each])
            yield KeyWindows(each, highs, ends, times).part(highs > 0)

    def _of_due(self, new: Entries) -> Needed:
        """Which rows that are held belong to keys with a window that is due."""
        due = np.ones(self._owners.width, bool)
        if self._window.slide_rows is not None:
            due[:] = False
            due[new.partials[0]["owner"][(new.panes + 1) % self._window.slide_rows == 0]] = True
        return lambda rows: self._were(rows) & due[rows.partials[0]["owner"]]

    def _emit_bounded(self, windows: KeyWindows, held: HeldRows, emit: Callable[[Answers], None]) -> None:
        """Fold windows from their rows."""
        if self._window.range_us is not None:
            lows = held.first_after(windows.owners, windows.ends - self._window.range_us)
            whole = windows.ends - self._window.range_us >= (START if self._since is None else self._since - 1)
        else:
            lows = windows.highs - (self._window.rows or 0)
            whole = lows >= (START if self._since is None else 0)
        if not whole.all():
            windows, lows = windows.part(whole), lows[whole]
        number, slots = each_group(windows.owners, *held.groups)
        folded = held.by_group.fold(self._kernels, slots, lows[number], windows.highs[number])
        self._emit(windows, held.times(windows.owners, lows), number, slots, folded, emit)

    def _emit_whole(self, windows: KeyWindows, new: Entries, emit: Callable[[Answers], None]) -> None:
        """Fold windows without bound: what there was before the batch, and its rows up to the window's end."""
        number, slots = each_group(windows.owners, *self._groups_of_keys())
        before = self._sums.answer(range(START, self._batches), self.groups.width)
        folded = [take(fields, slots) for fields in before]
        if len(new):
            runs = GroupRuns(new.slots, new.panes, new.partials[1:])
            newer = runs.fold(self._kernels, slots, np.full(len(slots), START), windows.highs[number])
            for kernel, into, added in zip(self._kernels, folded, newer):
                kernel.combine(into, np.arange(len(slots)), added)
        first = np.where(self._counts.count > 0, self._counts.first, 0)
        place = new.partials[0]
        fresh, row = np.unique(place["owner"], return_index=True)
        begun = self._counts.count[fresh] == 0
        first[fresh[begun]] = place["time"][row[begun]]
        self._emit(windows, first[windows.owners], number, slots, folded, emit)

    def _groups_of_keys(self) -> tuple[np.ndarray, np.ndarray]:
        """Every group's slot, and the slot of the key that it is counted by."""
        slots = np.arange(self.groups.width)
        if self._owners is self.groups:
            return slots, slots
        keys = self.groups.keys_of(slots)
        return slots, self._owners.slots_of([keys[i] for i in self.space.partition], len(slots))

    def _emit(
        self,
        windows: KeyWindows,
        starts: np.ndarray,
        number: np.ndarray,
        slots: np.ndarray,
        folded: list[Fields],
        emit: Callable[[Answers], None],
    ) -> None:
        present = np.flatnonzero(folded[0]["n"])
        if len(present):
            number, partials = number[present], tuple(take(fields, present) for fields in folded)
            count = int((np.bincount(number) > 0).sum())
            answered = windows.part(number)
            emit(
                Answers(
                    count, starts[number], answered.ends, slots[present], partials, answered.highs, answered.instants
                )
            )

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


def _all(rows: Entries) -> np.ndarray:
    return np.ones(len(rows), bool)
