"""One space of a shard: payloads in, answered windows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import Fields, identity, take
from windrow.plan.instants import AFTER_ALL, BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import NestedWindow, levels_of
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.followers import Followers
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.share import Share
from windrow.runtime.time.belated import Belated
from windrow.runtime.time.corrected import Beside, corrections, windows_over
from windrow.runtime.time.corrected_totals import corrections_of_totals
from windrow.runtime.time.due_windows import DueWindows
from windrow.runtime.time.first_window import FirstWindows, kept_for
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.history import History
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.kept_ways import kept_ways, stored
from windrow.runtime.time.open_folds import OpenFolds
from windrow.runtime.time.turns import Turns
from windrow.runtime.time.view import StateView
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, joined
from windrow.windows.held import LINGER
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import bytes_held
from windrow.windows.refold import Refold
from windrow.windows.running import Accumulate

_NO_SLOTS = np.empty(0, np.int64)


class SpaceState:
    """The panes, the groups and the folded windows of one space in one shard.

    `since` is just after the newest event that was there when this plan came to the stream: what the space did not keep
    until then, it knows from then on.
    """

    def __init__(
        self,
        space: Space,
        queries: Sequence[QueryPlan],
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
        schedule: str | None = None,
        correct_us: int = 0,
    ) -> None:
        self.space, self._correct_us = space, correct_us
        self._cuts = space.cuts
        snapshot = snapshot or {}
        self._history = History(snapshot.get("history"))
        self._ways = kept_ways(space, self._history)
        self._partials, self._filled = stored(self._ways), {kept[-1].name for kept in self._ways.values()}
        self._kernels = {partial.name: kernel_of(partial, user) for partial in self._partials}
        self.groups = GroupSlots(space.keys, space.name, blocks, snapshot.get("groups"))
        linger = LINGER if any("held" in fold.maintenance for fold in space.folds) else 0
        self.log = PaneLog(
            f"{space.name}.panes",
            self._kernels,
            blocks,
            snapshot.get("panes"),
            linger=linger,
            coarsens=space.coarsens,
        )
        self._belated = Belated(f"{space.name}.belated", self._kernels, blocks, snapshot.get("belated"))
        self._known_beside = len(self._belated)
        self._correcting: Entries | None = None  # what has come for panes of totals that were told
        self._firsts = FirstWindows(space, queries, self._history, snapshot.get("firsts", {}), since)
        self._kept = KeptPartials(self._ways, user)
        folded: dict[str, Snapshot] = snapshot.get("folds", {})
        if self._firsts.keeps_otherwise:  # what was folded cannot be taken out of windows any more
            for name in folded:
                blocks.delete_all(f"{space.name}.{name}.")
            folded = {}
        self._folds = OpenFolds(space, self.log, self._kept, blocks, folded, self._history)
        self._followers = Followers(space, queries, self._kernels, blocks, snapshot.get("followers", {}))
        self._due = DueWindows(
            space=space,
            folds=self._folds,
            log=self.log,
            belated=self._belated,
            kept=self._kept,
            groups=self.groups,
            history=self._history,
            firsts=self._firsts,
            followers=self._followers,
            turns=Turns(space.windows, schedule),
        )
        nested = [query.window for query in queries if isinstance(query.window, NestedWindow)]
        bounded = [] if space.unbounded else [levels_of(window, grow=False) for window in nested]
        self._widest = [levels[-1] for levels in bounded if levels]
        self._levels = {level for levels in bounded for level in levels}
        self._scattered = False  # whether panes have come that lie between the edges of coarser granules

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def adopt(self, older: SpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self.groups.adopt(older.groups)
        if older._partials == self._partials:
            self.log.adopt(older.log)
        self._folds.adopt(older._folds)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Fold payloads into panes; those that only windows answered by `clock` hold are late."""
        closed = self._history.kept_from  # where the clock was set back, panes are open that are not whole
        if clock is not None and not self.space.unbounded:
            closed = max(closed, min(self._folds.needs_from(clock - self._correct_us)))
        parts = []
        for batch in payloads:
            panes = batch.column("pane").to_numpy()
            if len(panes) and panes.min() < closed:
                batch = batch.filter(pa.array(panes >= closed))
                panes = batch.column("pane").to_numpy()
            if len(panes):
                keys = [batch.column(f"key_{i}") for i in range(len(self.space.keys))]
                slots = self.groups.slots_of(keys, len(panes))
                partials = tuple(
                    fields_of(kernel, name, batch) if name in self._filled else identity(kernel, len(panes))
                    for name, kernel in self._kernels.items()
                )
                parts.append(Entries(panes, slots, partials))
        if parts:
            self._enter(joined(parts), clock)

    def _enter(self, entries: Entries, clock: int | None) -> None:
        """Add entries to their panes; a pane that is folded for some window is not changed any more.

        A window without bound never lets go, so what comes behind it may as well be of the oldest pane that is not
        settled: without corrections, the one that is open. With them, it waits until what was told is taken back.
        """
        open_from = BEFORE_ALL if clock is None else self._cuts.pane_at(clock)
        if self.space.unbounded:
            settled = BEFORE_ALL if clock is None else self._cuts.pane_at(clock - self._correct_us)
            entries = replace(entries, panes=np.maximum(entries.panes, settled))
        belated = entries.panes < open_from
        if self.space.unbounded and belated.any():
            self._correcting = entries.part(belated)
            entries = entries.part(~belated)
            belated = np.zeros(len(entries), bool)
        if clock is not None and belated.any():
            self._known_beside = len(self._belated)
            self._belated.add(entries.part(belated), clock - self._correct_us)
            self.groups.refer(entries.slots[belated])
            entries = entries.part(~belated)
        if len(entries):
            self.groups.refer(self.log.add(entries).slots)
        if not self._correct_us and len(self._belated) and self._belated.is_much_of(len(self.log)):
            self._take_in_belated()

    def _take_in_belated(self) -> None:
        """Put what is beside the panes into them, and fold anew what was folded without it.

        Each window adds all that is beside its panes, so that this is cheaper once it is much.
        """
        self._scattered = True
        entries = self._belated.taken_by_all(self.space.windows)
        self.groups.refer(self.log.add(entries).slots)
        self.groups.forget(entries.slots)  # in the log by now, so no group goes
        self._folds.fold_anew()

    def answer(
        self, before: int | None, clock: int, emit: Callable[[Answers], None], newest: int | None = None
    ) -> None:
        """Give `emit` every window that ended after `before` and up to `clock` and holds an event, some at a time.

        With `newest`, the input has ended with an event at that time, and all windows that hold one are answered.
        """
        self._due.answer(before, clock, emit, newest)

    def correct(self, before: int | None, emit: Callable[[Correction], None]) -> None:
        """Give `emit` the windows that were answered by `before` and lack what this batch has brought for them.

        Early answers stay as they were told: they say what was known at their instants.
        """
        if before is not None and self._correcting is not None:
            self._correct_totals(before, self._correcting, emit)
            self._correcting = None
        known, self._known_beside = self._known_beside, len(self._belated)
        if before is None or known == len(self._belated):
            return
        beside = Beside(*self._belated.parted(known))
        for fold in self._finals:
            first = fold.window.last_ended(before - self._correct_us) + 1
            if self._history.kept_from > BEFORE_ALL:  # where answers were not corrected that long before
                first = max(first, fold.window.first_from(self._history.kept_from))
            numbers = windows_over(fold.window, beside.fresh.panes, first, fold.window.last_ended(before))
            if len(numbers):
                for correction in corrections(fold, numbers, self.log, self._kept, beside):
                    emit(correction)

    @property
    def _finals(self) -> list[FoldState]:
        return [fold for fold in self._folds.each if not fold.window.is_early]

    def _correct_totals(self, before: int, fresh: Entries, emit: Callable[[Correction], None]) -> None:
        """The same of windows without bound: what came goes into its panes once what was told of them is known."""
        for fold in self._finals:
            final = fold.window.last_ended(before - self._correct_us)
            first = max(fold.window.first_over(int(fresh.panes.min())), final + 1)
            numbers = range(first, fold.window.last_ended(before) + 1)
            if numbers:
                for correction in corrections_of_totals(fold, numbers, self.log, self._kept, fresh, self.groups.width):
                    emit(correction)
        self.groups.refer(self.log.add(fresh).slots)

    def first_end(self, query: QueryPlan, window: TimeWindow) -> int:
        """The end of the first window that `query` is answered for, of those like `window`."""
        first = self._firsts.of_query(query, window)
        return BEFORE_ALL if first == BEFORE_ALL else window.closes.end(first)

    def first_told(self, query: QueryPlan, window: TimeWindow | None, clock: int | None) -> int:
        """The end of the first window like `window` that `query` was told of, where it came at `clock`."""
        assert window is not None
        first = self.first_end(query, window)
        return first if clock is None else max(first, clock + 1)

    def last_end(self, clock: int, newest: int) -> int:
        """When the last window ends that an event at `newest` lies in, or `clock` if that is later."""
        return self._due.last_end(clock, newest)

    def expire(self, clock: int) -> np.ndarray:
        """Let go of the panes that no window after `clock` holds, and of the groups that were only there.

        Returns the slots of those groups.
        """
        settled = clock - self._correct_us
        needed = self._folds.needs_from(settled)
        # until the widest level slides again, all that it held stays, for who asks for any horizon of it
        before = min(needed + [window.start(window.last_ended(settled)) for window in self._widest])
        self.log.expect(needed)
        if self.space.unbounded:
            self._folds.leave(before, _NO_SLOTS)
            self.log.drop(before)
            return np.empty(0, np.int64)
        came, went = self._followers.turned(clock)
        self.groups.refer(came)
        if self.space.coarsens:
            self._coarsen(settled, clock)
        if before <= self._history.kept_from and not len(went):
            return np.empty(0, np.int64)
        before = max(before, self._history.kept_from)
        leaving = self.log.between(self._history.kept_from, before).slots
        freed = self.groups.forget(np.concatenate([leaving, self._belated.drop(before), went]))
        # what is folded again to correct answers is read from the panes themselves
        self._folds.leave(max(before, min(self._folds.needs_from(clock))) if self._correct_us else before, freed)
        self._followers.release(freed)
        self.log.drop(before)
        self._history.forget(before)
        return freed

    def _coarsen(self, settled: int, clock: int) -> None:
        """Merge the panes that finer windows have left, up to the next edge of those that still reach them.

        A window that is kept folded takes out first what has left it, and which cannot be told from the rest after it.
        For who asks for any horizon, a level's granules stay until it slides again.
        """
        self._folds.leave_each(clock)
        needed = [
            fold.window.start(fold.window.last_ended(settled))
            if fold.window in self._levels
            else fold.needs_from(settled)
            for fold in self._folds.each
        ]
        areas = CoarserWithAge(self.space.windows).areas(needed, self._cuts.pane_at(settled))
        for first, stop, cuts in self._history.coarsen(areas, anew=self._scattered):
            self.groups.forget(self.log.coarsen(first, stop, cuts))
        self._scattered = False

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the panes that begin after `newest`: the clock goes back to before them.

        What windows without bound have taken in cannot be told from the rest, and stays.
        """
        first, stop = self._cuts.pane_at(newest), self._cuts.edge_from(newest + 1)
        leaving = max(stop, self._history.kept_from)
        if self.space.coarsens and not self._history.is_cut(stop):  # what came before and after is in one granule
            leaving = self._history.kept_from
            self._history.forget(stop)
        late = self._belated.drop_from(min(stop, leaving))
        gone = self.log.between(leaving, AFTER_ALL)
        if self.space.unbounded:
            for maintenance in self._folds.maintenances().values():
                assert isinstance(maintenance, Accumulate)
                maintenance.rewind(first, stop, self.groups.width)
            self.log.keep(AFTER_ALL, AFTER_ALL)  # all of it has been taken in
            return Rewound(len(gone) + len(late))
        freed = self.groups.forget(np.concatenate([gone.slots, late]))
        self.log.keep(self._history.kept_from, stop)
        self._history.rewind(stop)
        self._firsts.rewind(stop)
        self._folds.fold_anew()  # what is folded may hold what is gone
        self._followers.release(freed)
        return Rewound(len(gone) + len(late), freed)

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the groups that are not of `share`, and fold what is left of the others anew.

        What windows without bound have taken in has no panes any more: there, those groups are taken out.
        """
        slots = self.groups.others(share, self.space.spread_by)
        if not len(slots):
            return slots
        self.log.leave_out(slots)
        self._belated.leave_out(slots)
        if self.space.unbounded:
            for maintenance in self._folds.maintenances().values():
                maintenance.release(slots)
        else:
            self._folds.fold_anew()
        self._followers.leave_out(slots)
        self.groups.let_go(slots)
        return slots

    def known_from(self, start: int, granules: Cuts, query: QueryPlan) -> int:
        """The first edge of `granules` from `start` on after which all that `query` asks for is there."""
        return self._history.first_edge(start, granules, kept_for(query, self._ways))

    def folded(
        self, windows: Sequence[TimeWindow], panes: range, partials: tuple[Partial, ...]
    ) -> tuple[np.ndarray, tuple[Fields, ...]]:
        """The groups in `panes`, and their partials, by the definition; of late events, those that `windows` took.

        The first of `partials` is the number of rows.
        """
        found = Refold(StateView.of(self.log, self._kept, partials)).answer(panes, self.groups.width)
        folded = self._belated.added(windows, panes, self._kept, dict(zip(partials, found)))
        present = np.flatnonzero(folded[partials[0]]["n"])
        return present, tuple(take(folded[partial], present) for partial in partials)

    @property
    def panes(self) -> int:
        """About how many panes there are between the oldest that is held and the newest."""
        first, last = self.log.reach
        if first > last:
            return 0
        if not self.space.coarsens:
            return self._cuts.panes_in(last + 1 - first)
        return self._history.panes_in(max(first, self._history.kept_from), last + 1)

    @property
    def bytes_held(self) -> int:
        """What must be in memory: folded windows, among them all values of order statistics and the summaries of
        clusters that are not in blocks only, late entries, the clusters of the last windows, and the groups."""
        own = self.groups.nbytes + self._belated.nbytes + self._followers.nbytes
        return own + bytes_held(self._folds.maintenances().values())

    def save(self, version: int) -> None:
        self.groups.save(version)
        self.log.save(version)
        self._belated.save(version)
        self._folds.save(version)
        self._followers.save(version)

    def snapshot(self) -> Snapshot:
        return {
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
            "belated": self._belated.snapshot(),
            "history": self._history.snapshot(),
            "firsts": self._firsts.snapshot(),
            "folds": self._folds.snapshot(),
            "followers": self._followers.snapshot(),
        }
