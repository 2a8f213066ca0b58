"""One window of a space: which of its answers are due, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from windrow.kernels import Fields
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Fold
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.shared_folds import SharedFold
from windrow.runtime.time.view import StateView
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.context_maintenance import ContextMaintenance
from windrow.windows.daba import Daba
from windrow.windows.exclude import Exclude
from windrow.windows.held import Held
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.refold import Refold
from windrow.windows.repetitive_merge import RepetitiveMerge
from windrow.windows.running import Accumulate, Subtract
from windrow.windows.two_stacks import TwoStacks

OVER_CONTEXTS: dict[str, type[ContextMaintenance]] = {
    "binary": SlidingBinaryMerge,
    "stacks": TwoStacks,
    "daba": Daba,
    "repetitive": RepetitiveMerge,
    "exclude": Exclude,
}


class FoldState:
    """The running state of one window: a maintenance for each way that its partials are kept.

    What is `shared` is not its own: other windows of the space read the same.
    """

    def __init__(
        self,
        fold: Fold,
        log: PaneLog,
        kept: KeptPartials,
        shared: Sequence[SharedFold],
        family: str,
        blocks: Blocks,
        snapshot: Mapping[str, Snapshot],
        whole_from: int = BEFORE_ALL,
    ) -> None:
        """Panes before `whole_from` may be coarser than the window."""
        self.window, self.partials = fold.window, fold.partials
        self.own: dict[str, Maintenance] = {}
        self._ways: list[tuple[tuple[Partial, ...], Maintenance]] = []
        read = {other.way: other for other in shared if fold.window in other.windows}
        in_turn = [read[way].name for way in ("binary", "stairs") if way in read]
        self.lattice = in_turn[0] if in_turn else None  # at most one: these forget what was asked
        for way, members in _ways(fold):
            if way in read:
                self._ways.append((read[way].partials, read[way].maintenance))
                continue
            name = _name(way, fold, members)
            view, place = StateView.of(log, kept, members, whole_from), f"{family}.{name}.window"
            made = maintenance_of(way, view, place, blocks, snapshot.get(name), fold.window)
            self.own[name] = made
            self._ways.append((members, made))

    def due(
        self, before: int | None, clock: int, first: int, next_pane: Callable[[int], int | None], groups: int
    ) -> Iterator[int]:
        """The windows to answer from number `first` on; runs of windows that hold nothing are jumped over."""
        last = self.window.last_ended(clock)
        number = first if before is None else max(first, self.window.last_ended(before) + 1)
        if self.window.range_us is None:
            if number == BEFORE_ALL:
                pane = next_pane(BEFORE_ALL)
                number = last + 1 if pane is None else self.window.first_over(pane)
            yield from range(number, last + 1 if groups else number)
            return
        while number <= last:
            pane = next_pane(BEFORE_ALL if number == BEFORE_ALL else self.window.start(number))
            if pane is None:
                return
            if number == BEFORE_ALL or pane >= self.window.end(number):
                number = self.window.first_over(pane)
                continue
            while number <= last and self.window.start(number) <= pane:
                yield number
                number += 1

    def panes_of(self, number: int) -> range:
        """The instants between which the panes of window `number` begin."""
        end = self.window.end(number)
        return range(BEFORE_ALL if self.window.range_us is None else self.window.start(number), end)

    @property
    def at_once(self) -> bool:
        """Whether many windows are folded together, whatever is asked of them."""
        return all(maintenance.at_once for _, maintenance in self._ways)

    def folded(self, numbers: Sequence[int], width: int) -> dict[Partial, Fields]:
        """The partials of windows `numbers`, one after the other: for each, fields with `width` elements a window.

        Those of several windows are the caller's; those of one are to be read, not kept.
        """
        windows = [self.panes_of(number) for number in numbers]
        found: dict[Partial, Fields] = {}
        for members, maintenance in self._ways:
            found |= zip(members, maintenance.answers(windows, width))
        return {partial: found[partial] for partial in self.partials}

    def needs_from(self, clock: int) -> int:
        """The first instant that a window after `clock` reaches back to."""
        following = self.window.last_ended(clock) + 1
        return self.window.end(following - 1) if self.window.range_us is None else self.window.start(following)

    def leave(self, before: int, freed: np.ndarray) -> None:
        """Panes before `before` go, and with them the groups in the slots `freed`."""
        for maintenance in self.own.values():
            maintenance.drop(before)
            if len(freed):
                maintenance.release(freed)


def _ways(fold: Fold) -> list[tuple[str, tuple[Partial, ...]]]:
    """The ways that a window is folded, each with its partials; those of a total that only grows each by itself.

    Nobody could fold such a total again, since its panes are gone: it must be found whatever else is asked for.
    """
    ways: dict[tuple[str, Partial | None], list[Partial]] = {}
    for partial, way in zip(fold.partials, fold.maintenance):
        ways.setdefault((way, partial if way == "accumulate" else None), []).append(partial)
    return [(way, tuple(members)) for (way, _), members in ways.items()]


def _name(way: str, fold: Fold, members: tuple[Partial, ...]) -> str:
    window = fold.window
    kept = "-".join(partial.name for partial in members)
    return f"{way}-{window.label}-{kept}"


def maintenance_of(
    way: str, view: StateView, family: str, blocks: Blocks, snapshot: Snapshot | None, window: TimeWindow | None = None
) -> Maintenance:
    """The maintenance with the name `way`; what windows share is not among them."""
    match way:
        case "refold":
            return Refold(view)
        case "accumulate":
            return Accumulate(view, family, blocks, snapshot)
        case "subtract":
            return Subtract(view, family, blocks, snapshot)
        case "held":
            return Held(view, family, blocks)
    if way not in OVER_CONTEXTS or window is None or window.range_us is None:
        raise AssertionError(f"unknown maintenance {way}")
    cells = max(1, window.range_us // window.slide_us)
    return OVER_CONTEXTS[way](view, window.slide_us, window.offset_us, [cells], family, blocks, snapshot)
