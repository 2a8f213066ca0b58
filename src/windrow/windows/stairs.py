"""Nested windows kept in one chain, in which everything is held once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from windrow.errors import SettingsError
from windrow.kernels import Fields, Kernel, identity
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, joined, reduced
from windrow.windows.granules import Granules
from windrow.windows.maintenance import fold_into
from windrow.windows.queue_fold import QueueFold

Report = Callable[[int, int, list[Fields]], None]
"""Takes a level, the end of its window, and the fold over it: for each kernel, fields with an element a slot."""


@dataclass(slots=True)
class _Step:
    """One level: what waits for its next slide (`buffer`), what it holds alone (`core`), and the fold of that."""

    buffer: Granules
    core: Granules
    fold: QueueFold
    end: int | None  # of its last window
    until: int  # up to which its core has been filled


class Stairs:
    """The chain of buffer and core nodes of multi-granular windows (Patroumpas and Sellis 2010, section III-B).

        older                                                         newer
        discarded <- [ core 2 ) <- [ buffer 2 ) <- [ core 1 ) <- [ buffer 1 ) <- [ core 0 ) <- [ buffer 0 ) <- events

    When a level slides, its core takes all that its buffer holds (promotion), coarsened to its own granules, and gives
    what has left its range to the next buffer (shift). So each partial is held once, in the finest level that still
    covers its time. The window of a level is the fold over all nodes up to its core, of which each level keeps its part
    (section IV-A): where slides divide each other, one merge a level makes it from that of the level below.

    Where they do not, granules are cut at the edges of all coarser levels too, and what a finer level has not yet taken
    in, or has kept for longer, is read granule by granule.
    """

    def __init__(
        self,
        levels: Levels,
        kernels: Mapping[str, Kernel],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        """`kernels` are those of the partials by name."""
        self.levels, self.kernels = levels, tuple(kernels.values())
        self._cuts = [levels.granules(level) for level in range(len(levels))]
        self._divide = levels.divide
        self.came: list[np.ndarray] = []  # the slots of all entries that have come and gone since the caller looked
        self.went: list[np.ndarray] = []
        self._steps: list[_Step] = []
        for level in range(len(levels)):
            kept = snapshot["steps"][level] if snapshot else {}
            buffer = Granules(f"{family}.buffer{level}", kernels, blocks, kept.get("buffer"))
            core = Granules(f"{family}.core{level}", kernels, blocks, kept.get("core"))
            step = _Step(buffer, core, QueueFold(self.kernels), kept.get("end"), kept.get("until", BEFORE_ALL))
            for granule in core:
                step.fold.enter(granule)
            self._steps.append(step)

    @property
    def passed(self) -> int | None:
        """When the last window of the finest level ended: no pane before it may come any more."""
        return self._steps[0].end

    def add(self, entries: Entries) -> None:
        """Take in the partials of panes that are cut at least at the edges of all levels, and that none has passed."""
        assert not len(entries) or self.passed is None or entries.panes.min() >= self.passed, "the pane has been passed"
        self._move(self._steps[0].buffer, entries)

    def advance(self, now: int, width: int, report: Report) -> None:
        """Let time go on to `now`: each level slides as often as it is due, the finest first, and reports each time."""
        while (end := self._next_slide(now)) <= now:
            below: list[Fields] | None = None
            for level, step in enumerate(self._steps):
                if self._next_end(level) == end:
                    self._slide(level, end)
                    step.end = end
                    below = self._window(level, end, width, below)
                    report(level, end, below)

    def state_at(self, now: int, horizon: int, width: int) -> tuple[int, list[Fields]]:
        """The fold over the events from `now - horizon` on, whenever it is asked for (section III-C, continuous).

        Coarser levels hold coarser granules: the fold begins with the granule that the horizon ends in, and the instant
        at which that begins is returned too. `now` is not before the last slide.
        """
        top = len(self._steps) - 1
        if horizon > self.levels.reach(top):
            raise SettingsError(f"the widest level reaches back {self.levels.reach(top)}, and {horizon} is asked for")
        since = self._granule_at(now - horizon)
        return since, self._folded(top, since, now + 1, width)

    def own(self, level: int, width: int) -> list[Fields]:
        """The fold over what `level` holds alone: from where its window begins to where the one below begins."""
        return self._steps[level].fold.folded(width)

    @property
    def nbytes(self) -> int:
        return sum(node.nbytes for _, node in self.nodes())

    def release(self, slots: np.ndarray) -> None:
        """Nothing to do: a group that has left the chain has left its folds."""

    def save(self, version: int) -> None:
        for step in self._steps:
            step.buffer.save(version)
            step.core.save(version)

    def snapshot(self) -> Snapshot:
        steps = [
            {"buffer": step.buffer.snapshot(), "core": step.core.snapshot(), "end": step.end, "until": step.until}
            for step in self._steps
        ]
        return {"steps": steps}

    def nodes(self) -> list[tuple[str, Granules]]:
        """Every node with its name, the oldest first."""
        named = []
        for level, step in reversed(list(enumerate(self._steps))):
            named += [(f"core {level}", step.core), (f"buffer {level}", step.buffer)]
        return named

    def _move(self, into: Granules, entries: Entries) -> None:
        came, went = into.add(entries)
        self.came.append(came)
        self.went.append(went)

    def _slide(self, level: int, end: int) -> None:
        """Promotion, and then the shift."""
        step = self._steps[level]
        step.until = end if level == 0 else self._steps[level - 1].core.bound
        promoted = []
        while (granule := step.buffer.pop(step.until)) is not None:
            self.went.append(granule.slots)
            promoted.append(granule)
        if promoted:
            finer = joined(promoted)
            if level:  # panes are cut like the granules of the finest level
                finer = Entries(self._cuts[level].starts_of(finer.panes), finer.slots, finer.partials)
            entries = reduced(self.kernels, finer) if len(promoted) > 1 else finer
            self._move(step.core, entries)
            step.fold.enter(entries)
        while (granule := step.core.pop(end - self.levels.reach(level))) is not None:
            self.went.append(granule.slots)
            step.fold.leave(granule, step.core.queue)
            if level + 1 < len(self._steps):
                self._move(self._steps[level + 1].buffer, granule)

    def _window(self, level: int, end: int, width: int, below: list[Fields] | None) -> list[Fields]:
        """The fold over the window of `level` that ends at `end`; that of the level `below`, if it has just slid."""
        if not self._divide:
            return self._folded(level, end - self.levels.reach(level), end, width)
        window = self.own(level, width)
        if below is not None:
            every = np.arange(width)
            for kernel, fields, newer in zip(self.kernels, window, below):
                kernel.combine(fields, every, newer)
        return window

    def _folded(self, level: int, begin: int, end: int, width: int) -> list[Fields]:
        """The fold from `begin` on, over the nodes up to the core of `level`."""
        window = [identity(kernel, width) for kernel in self.kernels]
        for step in reversed(self._steps[: level + 1]):
            oldest = step.core.oldest
            if oldest is not None and oldest >= begin:
                step.fold.fold_into(window)
            else:
                self._scan(window, step.core.between(begin, end))
            self._scan(window, step.buffer.between(begin, end))
        return window

    def _scan(self, window: Sequence[Fields], granules: list[Entries]) -> None:
        for granule in granules:
            fold_into(self.kernels, window, granule)

    def _granule_at(self, instant: int) -> int:
        """When the granule begins that `instant` lies in, as fine as the chain has it."""
        for level, step in enumerate(self._steps):
            if step.end is None or instant >= step.end - self.levels.reach(level):
                finer = level > 0 and instant >= step.until
                return self._cuts[level - 1 if finer else level].pane_at(instant)
        raise AssertionError("the widest level reaches back far enough")

    def _next_end(self, level: int) -> int:
        end = self._steps[level].end
        assert end is not None
        return end + self.levels.windows[level].slide_us

    def _next_slide(self, now: int) -> int:
        """When the next level slides; slides of windows that hold nothing are jumped over."""
        bottom, *others = self._steps
        if bottom.end is None or not (bottom.core or any(step.core or step.buffer for step in others)):
            first = bottom.buffer.oldest
            instant = now if first is None else min(now, first)
            for step, window in zip(self._steps, self.levels.windows):
                end = window.end(window.last_ended(instant))
                step.end = end if step.end is None else max(step.end, end)
        return min(self._next_end(level) for level in range(len(self._steps)))
