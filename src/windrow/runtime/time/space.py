"""One space of a shard: payloads in, answered windows out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import Fields, take
from windrow.plan.instants import AFTER_ALL, BEFORE_ALL, LATEST_US
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.kept import kept_as
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import NestedWindow, levels_of
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.followers import Followers
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers, OneWindow, joined_answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.share import Share
from windrow.runtime.time.belated import Belated
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.history import History
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.shared_folds import shared_folds
from windrow.runtime.time.turns import Turns
from windrow.runtime.time.view import StateView
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, joined
from windrow.windows.held import LINGER
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance, bytes_held
from windrow.windows.refold import Refold
from windrow.windows.running import Accumulate


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
    ) -> None:
        self.space = space
        self._blocks = blocks
        self._cuts = space.cuts
        snapshot = snapshot or {}
        self._partials = space.partials
        self._kernels = {partial.name: kernel_of(partial, user) for partial in self._partials}
        self.groups = GroupSlots(space.keys, space.name, blocks, snapshot.get("groups"))
        linger = LINGER if any("held" in fold.maintenance for fold in space.folds) else 0
        self.log = PaneLog(f"{space.name}.panes", self._kernels, blocks, snapshot.get("panes"), linger=linger)
        self._belated = Belated(f"{space.name}.belated", self._kernels, blocks, snapshot.get("belated"))
        self._history = History(snapshot.get("history"))
        firsts: dict[str, int] = snapshot.get("firsts", {})
        anew = {query.need for query in queries if not self._history.has(self._kept_for(query))}
        self._history.begin(space, since)
        self._firsts: dict[str, int] = {}
        self._needs: dict[TimeWindow, list[str]] = {}
        self._asked: list[tuple[QueryPlan, TimeWindow]] = []
        for query in queries:
            assert isinstance(query.window, TimeWindow)
            for part in space.parts_of(query.window):
                need = query.need_of(part)
                known = None if query.need in anew else firsts.get(need)
                first = self._history.first_window(part.closes, self._kept_for(query)) if known is None else known
                self._firsts[need] = first
                self._needs.setdefault(part, []).append(need)
                self._asked.append((query, part))
        self._kept = KeptPartials(space, user)
        kept: dict[str, Snapshot] = snapshot.get("folds", {})
        if any(query.need_of(part) in firsts for query, part in self._asked if query.need in anew):
            # panes keep rows now, or partials: what was folded cannot be taken out of windows any more
            for name in kept:
                self._blocks.delete_all(f"{space.name}.{name}.")
            kept = {}
        self._open_folds(kept)
        self._followers = Followers(space, queries, self._kernels, blocks, snapshot.get("followers", {}))
        self._turns = Turns(space.windows, schedule)
        nested = [query.window for query in queries if isinstance(query.window, NestedWindow)]
        bounded = [] if space.unbounded else [levels_of(window, grow=False) for window in nested]
        self._widest = [levels[-1] for levels in bounded if levels]
        self._delete_others(kept)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def adopt(self, older: SpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self.groups.adopt(older.groups)
        if older._partials == self._partials:
            self.log.adopt(older.log)
        mine, theirs = self._maintenances(), older._maintenances()
        for name in mine.keys() & theirs.keys():
            mine[name].adopt(theirs[name])

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Fold payloads into panes; those that only windows answered by `clock` hold are late."""
        closed = self._history.kept_from  # where the clock was set back, panes are open that are not whole
        if clock is not None and not self.space.unbounded:
            closed = max(closed, min(fold.needs_from(clock) for fold in self._folds))
        parts = []
        for batch in payloads:
            panes = batch.column("pane").to_numpy()
            if len(panes) and panes.min() < closed:
                batch = batch.filter(pa.array(panes >= closed))
                panes = batch.column("pane").to_numpy()
            if len(panes):
                keys = [batch.column(f"key_{i}") for i in range(len(self.space.keys))]
                slots = self.groups.slots_of(keys, len(panes))
                partials = tuple(fields_of(kernel, name, batch) for name, kernel in self._kernels.items())
                parts.append(Entries(panes, slots, partials))
        if parts:
            self._enter(joined(parts), clock)

    def _enter(self, entries: Entries, clock: int | None) -> None:
        """Add entries to their panes; a pane that is folded for some window is not changed any more.

        A window without bound never lets go, so what comes behind it may as well be of the pane that is open.
        """
        open_from = BEFORE_ALL if clock is None else self._cuts.pane_at(clock)
        if self.space.unbounded:
            entries = replace(entries, panes=np.maximum(entries.panes, open_from))
        belated = entries.panes < open_from
        if clock is not None and belated.any():
            self._belated.add(entries.part(belated), clock)
            self.groups.refer(entries.slots[belated])
            entries = entries.part(~belated)
        if len(entries):
            self.groups.refer(self.log.add(entries).slots)
        if len(self._belated) and self._belated.is_much_of(len(self.log)):
            self._take_in_belated()

    def _take_in_belated(self) -> None:
        """Put what is beside the panes into them, and fold anew what was folded without it.

        Each window adds all that is beside its panes, so that this is cheaper once it is much.
        """
        entries = self._belated.taken_by_all(self.space.windows)
        self.groups.refer(self.log.add(entries).slots)
        self.groups.forget(entries.slots)  # in the log by now, so no group goes
        self._fold_anew()

    def _fold_anew(self) -> None:
        """Forget what is folded: it is folded from the panes again."""
        for name in self._maintenances():
            self._blocks.delete_all(f"{self.space.name}.{name}.")
        self._open_folds({})

    def answer(
        self, before: int | None, clock: int, emit: Callable[[Answers], None], newest: int | None = None
    ) -> None:
        """Give `emit` every window that ended after `before` and up to `clock` and holds an event, some at a time.

        With `newest`, the input has ended with an event at that time, and all windows that hold one are answered.
        """
        last = clock if newest is None else self.last_end(clock, newest)
        for shared in self._shared:
            shared.maintenance.close(self._cuts.pane_at(last))
        due = self._turns.between(before, clock) if newest is None else range(len(self._folds))
        together: dict[object, list[FoldState]] = {}
        for fold in (self._folds[number] for number in due):
            together.setdefault(self._followers.early or fold.lattice or fold.window, []).append(fold)
        for folds in together.values():
            self._answer(folds, before, clock, emit, newest)

    def first_end(self, query: QueryPlan, window: TimeWindow) -> int:
        """The end of the first window that `query` is answered for, of those like `window`."""
        first = self._firsts[query.need_of(window)]
        return BEFORE_ALL if first == BEFORE_ALL else window.closes.end(first)

    def last_end(self, clock: int, newest: int) -> int:
        """When the last window ends that an event at `newest` lies in; of windows without bound, the next.

        One that ends after the last of all instants has no end that could be told, and is never answered.
        """
        return max(clock, *(min(window.end(window.last_over(newest)), LATEST_US) for window in self.space.windows))

    def expire(self, clock: int) -> np.ndarray:
        """Let go of the panes that no window after `clock` holds, and of the groups that were only there.

        Returns the slots of those groups.
        """
        needed = [fold.needs_from(clock) for fold in self._folds]
        # until the widest level slides again, all that it held stays, for who asks for any horizon of it
        before = min(needed + [window.start(window.last_ended(clock)) for window in self._widest])
        self.log.expect(needed)
        if self.space.unbounded:
            self.log.drop(before)
            return np.empty(0, np.int64)
        came, went = self._followers.turned(clock)
        self.groups.refer(came)
        if before <= self._history.kept_from and not len(went):
            return np.empty(0, np.int64)
        before = max(before, self._history.kept_from)
        leaving = self.log.between(self._history.kept_from, before).slots
        freed = self.groups.forget(np.concatenate([leaving, self._belated.drop(before), went]))
        for fold in self._folds:
            fold.leave(before, freed)
        self._followers.release(freed)
        for shared in self._shared:
            shared.maintenance.drop(before)
        self.log.drop(before)
        self._history.forget(before)
        return freed

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the panes that begin after `newest`: the clock goes back to before them.

        What windows without bound have taken in cannot be told from the rest, and stays.
        """
        first, stop = self._cuts.pane_at(newest), self._cuts.edge_from(newest + 1)
        late = self._belated.drop_from(stop)
        gone = self.log.between(max(stop, self._history.kept_from), AFTER_ALL)
        if self.space.unbounded:
            for maintenance in self._maintenances().values():
                assert isinstance(maintenance, Accumulate)
                maintenance.rewind(first, stop, self.groups.width)
            self.log.keep(AFTER_ALL, AFTER_ALL)  # all of it has been taken in
            return Rewound(len(gone) + len(late))
        freed = self.groups.forget(np.concatenate([gone.slots, late]))
        self.log.keep(self._history.kept_from, stop)
        self._history.rewind(stop)
        for query, part in self._asked:
            need, known = query.need_of(part), self._history.first_window(part.closes, self._kept_for(query))
            self._firsts[need] = max(known, min(self._firsts[need], part.closes.first_from(stop)))
        self._fold_anew()  # what is folded may hold what is gone
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
            for maintenance in self._maintenances().values():
                maintenance.release(slots)
        else:
            self._fold_anew()
        self._followers.leave_out(slots)
        self.groups.let_go(slots)
        return slots

    def known_from(self, start: int, granules: Cuts, query: QueryPlan) -> int:
        """The first edge of `granules` from `start` on after which all that `query` asks for is there."""
        return self._history.first_edge(start, granules, self._kept_for(query))

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
    def bytes_held(self) -> int:
        """What must be in memory: folded windows, among them all values of order statistics and all summaries of
        clusters, late entries, the clusters of the last windows, and the groups."""
        own = self.groups.nbytes + self._belated.nbytes + self._followers.nbytes
        return own + bytes_held(self._maintenances().values())

    def save(self, version: int) -> None:
        self.groups.save(version)
        self.log.save(version)
        self._belated.save(version)
        for maintenance in self._maintenances().values():
            maintenance.save(version)
        self._followers.save(version)

    def snapshot(self) -> Snapshot:
        return {
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
            "belated": self._belated.snapshot(),
            "history": self._history.snapshot(),
            "firsts": self._firsts,
            "folds": {name: maintenance.snapshot() for name, maintenance in self._maintenances().items()},
            "followers": self._followers.snapshot(),
        }

    def _answer(
        self,
        folds: Sequence[FoldState],
        before: int | None,
        clock: int,
        emit: Callable[[Answers], None],
        newest: int | None,
    ) -> None:
        """Answer one window, or those that belong together, by time.

        A lattice forgets what was asked, and clusters are followed from early answers to finals.
        """
        waiting: dict[TimeWindow, list[OneWindow]] = {}
        rows = 0
        for fold, number in self._in_turn(folds, before, clock, newest):
            folded = fold.folded(number, self.groups.width)
            if len(self._belated):
                folded = self._belated.added([fold.window], fold.panes_of(number), self._kept, folded)
            present = np.flatnonzero(folded[fold.partials[0]]["n"])
            if len(present) and self._is_told(fold.window, number):
                part = {partial: take(fields, present) for partial, fields in folded.items()}
                waiting.setdefault(fold.window, []).append((number, present, part))
                rows += len(present)
            if rows >= ANSWER_ROWS:
                self._give(folds, waiting, emit)
                waiting, rows = {}, 0
        self._give(folds, waiting, emit)

    def _is_told(self, window: TimeWindow, number: int) -> bool:
        """Whether an answer leaves; of an early one, time must have been cut where it ends, and the whole must end."""
        if not window.is_early:
            return True
        ends = window.closes.end(window.closes.first_over(window.end(number))) <= LATEST_US
        return ends and not window.is_silent(number) and self._history.is_cut(window.end(number))

    def _give(
        self, folds: Sequence[FoldState], waiting: Mapping[TimeWindow, list[OneWindow]], emit: Callable[[Answers], None]
    ) -> None:
        given = []
        for fold in folds:
            if fold.window in waiting:
                answers = joined_answers(fold.window, fold.partials, waiting[fold.window])
                given.append((answers, {number: len(present) for number, present, _ in waiting[fold.window]}))
        for answers in self._followers.with_clusters(given):
            emit(answers)

    def _in_turn(
        self, folds: Sequence[FoldState], before: int | None, clock: int, newest: int | None
    ) -> Iterator[tuple[FoldState, int]]:
        """The windows of `folds` that are due, by their ends."""
        due = (self._due(place, fold, before, clock, newest) for place, fold in enumerate(folds))
        return ((folds[place], number) for _, place, number in merge(*due))

    def _due(
        self, place: int, fold: FoldState, before: int | None, clock: int, newest: int | None
    ) -> Iterator[tuple[int, int, int]]:
        window = fold.window
        until = clock
        if newest is not None and not window.is_early:  # at the end of the input, there are only finals
            until = max(clock, min(window.end(window.last_over(newest)), LATEST_US))
        first = min(self._firsts[need] for need in self._needs[window])
        first = BEFORE_ALL if first == BEFORE_ALL else window.number_from(first)
        for number in fold.due(before, until, first, self._next_pane, len(self.groups)):
            yield window.end(number), place, number

    def _next_pane(self, first: int) -> int | None:
        """The oldest pane from `first` on that holds anything."""
        panes = [self.log.next_pane(first), self._belated.next_pane(first) if len(self._belated) else None]
        return min((pane for pane in panes if pane is not None), default=None)

    def _maintenances(self) -> dict[str, Maintenance]:
        own = {name: maintenance for fold in self._folds for name, maintenance in fold.own.items()}
        return own | {shared.name: shared.maintenance for shared in self._shared}

    def _kept_for(self, query: QueryPlan) -> list[Partial]:
        """What panes keep for a query."""
        return [kept_as(partial, self.space.keeps) for partial in query.partials]

    def _open_folds(self, kept: Mapping[str, Snapshot]) -> None:
        """The folded windows as `kept` tells of them; of others there is nothing yet."""
        space, blocks = self.space, self._blocks
        self._shared = shared_folds(space, self.log, self._kept, blocks, kept)
        self._folds = [
            FoldState(fold, self.log, self._kept, self._shared, space.name, blocks, kept) for fold in space.folds
        ]

    def _delete_others(self, kept: Mapping[str, Snapshot]) -> None:
        """Delete what was kept folded for windows that nobody asks for any more."""
        for name in kept.keys() - self._maintenances().keys():
            self._blocks.delete_all(f"{self.space.name}.{name}.")
