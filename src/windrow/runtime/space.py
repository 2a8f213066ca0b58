"""One space of a shard: payloads in, answered windows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, concat, kernel_for, take
from windrow.plan.pipeline import Space
from windrow.plan.window import TimeWindow
from windrow.runtime.groups import Groups
from windrow.storage.blocks import Blocks
from windrow.windows.entries import Entries, fields_of, joined
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.refold import Refold
from windrow.windows.running import Accumulate, Subtract
from windrow.windows.tree import Tree

ANSWER_ROWS = 1 << 17
"""About so many rows of answers are made into results at once, however many are due."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Row i: the group in slot `slots[i]`, in a window from `starts[i]` to `ends[i]`, with one partial a kernel.

    `count` windows are answered, each with all its groups. `starts` is None where windows have no beginning; `rows` are
    the numbers of the last rows of windows that count rows, and `instants` when those with a slide in time were due.
    """

    count: int
    starts: np.ndarray | None
    ends: np.ndarray
    slots: np.ndarray
    partials: tuple[Fields, ...]
    rows: np.ndarray | None = None
    instants: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class _View:
    """A log as one maintenance sees it: with its own kernels only."""

    log: PaneLog
    members: tuple[int, ...]
    kernels: tuple[Kernel, ...]

    def between(self, first: int, stop: int) -> Entries:
        entries = self.log.between(first, stop)
        return Entries(entries.panes, entries.slots, tuple(entries.partials[i] for i in self.members))


class SpaceState:
    """The panes, the groups and the folded windows of one space in one shard.

    `since` is just after the newest event that was there when the space came to a stream: windows that reach back
    further would lack events, and are not answered.
    """

    def __init__(
        self,
        space: Space,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: dict | None = None,
        since: int | None = None,
    ) -> None:
        self.space = space
        self._since: int | None = since if snapshot is None else snapshot["since"]
        self._window = space.window
        self._kernels = [kernel_for(partial, user) for partial in space.partials]
        snapshot = snapshot or {}
        self.groups = Groups(space.keys, space.name, blocks, snapshot.get("groups"))
        self.log = PaneLog(f"{space.name}.panes", self._kernels, blocks, snapshot.get("panes"))
        self._kept_from: int | None = snapshot.get("kept_from")
        self._folds: dict[str, tuple[tuple[int, ...], Maintenance]] = {}
        for name in dict.fromkeys(space.maintenance):
            members = tuple(i for i, chosen in enumerate(space.maintenance) if chosen == name)
            view = _View(self.log, members, tuple(self._kernels[i] for i in members))
            kept = snapshot.get("folds", {}).get(name)
            self._folds[name] = (members, _maintenance(name, view, space, blocks, kept))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def adopt(self, older: SpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self.groups.adopt(older.groups)
        self.log.adopt(older.log)
        for name, (_, fold) in self._folds.items():
            if hasattr(fold, "adopt"):
                fold.adopt(older._folds[name][1])

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Fold payloads into panes; those of panes that were closed at `clock` are late and enter none."""
        open_from = None if clock is None else self._window.pane_at(clock)
        parts = []
        for batch in payloads:
            panes = batch.column("pane").to_numpy()
            if open_from is not None and len(panes) and panes.min() < open_from:
                batch = batch.filter(pa.array(panes >= open_from))
                panes = batch.column("pane").to_numpy()
            if len(panes):
                keys = [batch.column(f"key_{i}") for i in range(len(self.space.keys))]
                slots = self.groups.slots_of(keys, len(panes))
                partials = tuple(fields_of(kernel, i, batch) for i, kernel in enumerate(self._kernels))
                parts.append(Entries(panes, slots, partials))
        if parts:
            self.groups.refer(self.log.add(joined(parts)).slots)

    def answer(self, before: int | None, clock: int, emit: Callable[[Answers], None]) -> None:
        """Give `emit` every window that ended after `before` and up to `clock` and holds an event, some at a time."""
        for _, fold in self._folds.values():
            fold.close(self._window.pane_at(clock))
        waiting: list[tuple[int, np.ndarray, list[Fields]]] = []
        rows = 0
        for window in self._due(before, clock):
            folded = self._folded(window)
            present = np.flatnonzero(folded[0]["n"])
            if len(present):
                waiting.append((window, present, [take(fields, present) for fields in folded]))
                rows += len(present)
            if rows >= ANSWER_ROWS:
                emit(_joined(self._window, waiting))
                waiting, rows = [], 0
        if waiting:
            emit(_joined(self._window, waiting))

    def last_window(self, newest: int) -> int:
        """When the last window ends that an event at `newest` lies in; of windows without bound, the next."""
        pane = self._window.pane_at(newest)
        count = self._window.panes
        return self._window.end(
            self._window.first_over(pane) if count is None else (pane + count) // self._window.steps
        )

    def expire(self, clock: int) -> None:
        """Let go of the panes that no window after `clock` holds, and of the groups that were only there."""
        following = self._window.last_ended(clock) + 1
        if self._window.panes is None:
            self.log.drop((following - 1) * self._window.steps)
            return
        before = self._window.panes_of(following).start
        start = self.log.next_pane(-(1 << 62)) if self._kept_from is None else self._kept_from
        if start is not None and start < before:
            freed = self.groups.forget(self.log.between(start, before).slots)
            for _, fold in self._folds.values():
                fold.drop(before)
                fold.release(freed)
            self.log.drop(before)
        self._kept_from = before

    def save(self, version: int) -> None:
        self.groups.save(version)
        self.log.save(version)
        for _, fold in self._folds.values():
            fold.save(version)

    def snapshot(self) -> dict:
        return {
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
            "kept_from": self._kept_from,
            "since": self._since,
            "folds": {name: fold.snapshot() for name, (_, fold) in self._folds.items()},
        }

    def _due(self, before: int | None, clock: int):
        """The numbers of the windows to answer; runs of windows that hold nothing are jumped over."""
        last = self._window.last_ended(clock)
        pane = self.log.next_pane(-(1 << 62))
        if before is not None:
            window = self._window.last_ended(before) + 1
        elif pane is not None:
            window = self._window.first_over(pane)
        else:
            return
        if self._window.panes is None:
            yield from range(window, last + 1 if len(self.groups) else window)
            return
        if self._since is not None:
            window = max(window, self._window.first_from(self._since))
        while window <= last:
            panes = self._window.panes_of(window)
            pane = self.log.next_pane(panes.start)
            if pane is None:
                return
            if pane >= panes.stop:
                window = self._window.first_over(pane)
            else:
                yield window
                window += 1

    def _folded(self, window: int) -> list[Fields]:
        stop = window * self._window.steps
        panes = range(-(1 << 62), stop) if self._window.panes is None else self._window.panes_of(window)
        folded: list[Fields] = [{} for _ in self._kernels]
        for members, fold in self._folds.values():
            for i, fields in zip(members, fold.answer(panes, self.groups.width)):
                folded[i] = fields
        return folded


def _joined(window: TimeWindow, answers: Sequence[tuple[int, np.ndarray, list[Fields]]]) -> Answers:
    """The answers of several windows as columns."""
    numbers = np.repeat([window for window, _, _ in answers], [len(present) for _, present, _ in answers])
    slots = np.concatenate([present for _, present, _ in answers])
    kernels = range(len(answers[0][2]))
    ends = window.offset_us + numbers * window.slide_us
    starts = None if window.range_us is None else ends - window.range_us
    partials = tuple(concat([part[i] for _, _, part in answers]) for i in kernels)
    return Answers(len(answers), starts, ends, slots, partials)


def _maintenance(name: str, view: _View, space: Space, blocks: Blocks, snapshot: dict | None) -> Maintenance:
    panes = space.window.panes
    match name:
        case "refold":
            return Refold(view)
        case "accumulate":
            return Accumulate(view, f"{space.name}.accumulate", blocks, snapshot)
        case "subtract":
            return Subtract(view, f"{space.name}.subtract", blocks, snapshot)
        case "tree":
            assert panes is not None, "a tree needs a bound"
            return Tree(view, panes, f"{space.name}.tree", blocks, snapshot)
    raise AssertionError(f"unknown maintenance {name}")
