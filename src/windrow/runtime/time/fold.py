"""One window of a space: which of its answers are due, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from windrow.kernels import Fields
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.seen_partial import SeenPartial
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
from windrow.windows.progressive import Below, Progressive
from windrow.windows.refold import Refold
from windrow.windows.repetitive_merge import RepetitiveMerge
from windrow.windows.running import Accumulate, Subtract
from windrow.windows.settle import Settle
from windrow.windows.stacked_spans import StackedSpans
from windrow.windows.two_stacks import TwoStacks

NOTHING: Mapping[Partial, TimeWindow | None] = MappingProxyType({})

FEW_CELLS = 3
"""So few granules are merged as quickly as two stacks of them, and nothing is kept beside them."""

OVER_CONTEXTS: dict[str, type[ContextMaintenance]] = {
    "binary": SlidingBinaryMerge,
    "stacks": TwoStacks,
    "daba": Daba,
    "repetitive": RepetitiveMerge,
    "exclude": Exclude,
}


class FoldState:
    """The running state of one window: a maintenance for each way that its partials are kept.

    What it reads of what is `shared` is not its own: other windows of the space read the same.
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
        below: Mapping[Partial, TimeWindow | None] = NOTHING,
    ) -> None:
        """Panes before `whole_from` may be coarser than the window; `below` are the levels that it lies over."""
        self.window, self.partials = fold.window, fold.partials
        self.own: dict[str, Maintenance] = {}
        self._ways: list[tuple[tuple[Partial, ...], Maintenance]] = []
        self.reads: list[tuple[TimeWindow, tuple[Partial, ...], Below]] = []  # from which levels, told by these
        self.tells: list[tuple[tuple[Partial, ...], Below]] = []  # the levels above
        read = {other.way: other for other in shared if other.way != "bitmaps"}
        bitmaps = {partial: other for other in shared if other.way == "bitmaps" for partial in other.partials}
        in_turn = [read[way].name for way in ("binary", "stairs") if way in read]
        in_turn += [other.name for other in bitmaps.values()]
        self.lattice = in_turn[0] if in_turn else None  # at most one: these forget what was asked
        for way, members in _ways(fold, below):
            if way == "bitmaps":
                self._ways.append((bitmaps[members[0]].partials, bitmaps[members[0]].maintenance))
                continue
            if way in read:
                self._ways.append((read[way].partials, read[way].maintenance))
                continue
            name = _name(way, fold, members, below)
            view, place = StateView.of(log, kept, members, whole_from), f"{family}.{name}.window"
            if way == "progressive":
                finer = below.get(members[0])
                made = self._progressive(finer, members, view, place, blocks, snapshot.get(name))
            else:
                made = maintenance_of(way, view, place, blocks, snapshot.get(name), fold.window)
            self.own[name] = made
            self._ways.append((members, made))

    def _progressive(
        self,
        finer: TimeWindow | None,
        members: tuple[Partial, ...],
        view: StateView,
        place: str,
        blocks: Blocks,
        snapshot: Snapshot | None,
    ) -> Maintenance:
        """The window as a level over the `finer` one, if there is one: what it holds alone is folded by itself."""
        window = self.window
        reach = 0 if finer is None else finer.range_us or 0
        cells = (window.range_us or 0) // window.slide_us - -(-reach // window.slide_us)
        own: Maintenance | None = None
        if cells and members[0].reversible:
            own = Subtract(view, place, blocks, snapshot)
        elif 0 < cells <= FEW_CELLS:
            own = Refold(view)
        elif cells:
            own = StackedSpans(view, window.slide_us, window.offset_us, cells, place, blocks, snapshot)
        if own is not None and finer is None:
            return own
        below = Below(window.slide_us, window.offset_us)
        if finer is not None:
            self.reads.append((finer, members, below))
        return Progressive(view, own, cells * window.slide_us, reach, below)

    @property
    def nests(self) -> bool:
        """Whether it is told from what a finer window has told, or to a coarser one, at the same ends."""
        return bool(self.reads or self.tells)

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
        for members, above in self.tells:
            above.tell(windows, [found[partial] for partial in members], width)
        return {partial: found[partial] for partial in self.partials}

    @property
    def totals(self) -> Iterator[tuple[Partial, Settle]]:
        """The partials of a window without bound that is corrected, each with what is settled of it."""
        for members, maintenance in self._ways:
            assert isinstance(maintenance, Settle)
            yield members[0], maintenance

    def forget_told(self) -> None:
        """All levels above have been told."""
        for _, above in self.tells:
            above.forget()

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


def _ways(fold: Fold, below: Mapping[Partial, TimeWindow | None]) -> list[tuple[str, tuple[Partial, ...]]]:
    """The ways that a window is folded, each with its partials; those of a total that only grows each by itself.

    Nobody could fold such a total again, since its panes are gone: it must be found whatever else is asked for. What a
    level holds alone is folded in one of two ways, over one level below or another.
    """
    ways: dict[tuple[object, ...], list[Partial]] = {}
    for partial, way in zip(fold.partials, fold.maintenance):
        apart: tuple[object, ...] = (partial,) if way in ("accumulate", "settle") else ()
        if way == "progressive":
            apart = (partial.reversible, below.get(partial))
        if isinstance(partial, SeenPartial):
            apart = (partial.levels,)
        ways.setdefault((way, *apart), []).append(partial)
    return [(str(way), tuple(members)) for (way, *_), members in ways.items()]


def _name(
    way: str, fold: Fold, members: tuple[Partial, ...], below: Mapping[Partial, TimeWindow | None] = NOTHING
) -> str:
    """What the state of a way is called. What a level holds alone ends where the `below` one begins, which comes and
    goes with other queries: a window over another level is another state."""
    kept = "-".join(partial.name for partial in members)
    finer = below.get(members[0]) if way == "progressive" else None
    over = f"-over-{finer.label}" if finer is not None else ""
    return f"{way}-{fold.window.label}{over}-{kept}"


def maintenance_of(
    way: str, view: StateView, family: str, blocks: Blocks, snapshot: Snapshot | None, window: TimeWindow | None = None
) -> Maintenance:
    """The maintenance with the name `way`; what windows share is not among them."""
    match way:
        case "refold":
            return Refold(view)
        case "accumulate":
            return Accumulate(view, family, blocks, snapshot)
        case "settle":
            return Settle(view, family, blocks, snapshot)
        case "subtract":
            return Subtract(view, family, blocks, snapshot)
        case "held":
            return Held(view, family, blocks)
    if way not in OVER_CONTEXTS or window is None or window.range_us is None:
        raise AssertionError(f"unknown maintenance {way}")
    cells = max(1, window.range_us // window.slide_us)
    return OVER_CONTEXTS[way](view, window.slide_us, window.offset_us, [cells], family, blocks, snapshot)
