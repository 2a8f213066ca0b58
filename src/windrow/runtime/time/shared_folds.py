"""Maintenances that several windows of a space read: one tree, and lattices and chains of windows that fit together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.seen_partial import SeenPartial
from windrow.plan.nodes.spaces import Fold, Space
from windrow.plan.windows.chains import chains_of
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.view import StateView
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.nested_fold import NestedFold
from windrow.windows.seen_fold import SeenFold
from windrow.windows.tree import Tree


@dataclass(frozen=True, slots=True)
class SharedFold:
    """A maintenance with a name, of `partials`, that all of `windows` read."""

    name: str
    way: str
    windows: tuple[TimeWindow, ...]
    partials: tuple[Partial, ...]
    maintenance: Maintenance


def shared_folds(
    space: Space, log: PaneLog, partials: KeptPartials, blocks: Blocks, kept: Mapping[str, Snapshot]
) -> list[SharedFold]:
    """All that windows of `space` share; `kept` are the snapshots, by name."""
    shared = []
    for name, trees in _trees(space):
        finest = min((fold.window for fold in trees), key=lambda window: (window.slide_us, window.offset_us))
        cells = max(-(-(fold.window.range_us or 0) // finest.slide_us) for fold in trees)
        members = _members(trees, "tree")
        view, place = StateView.of(log, partials, members), f"{space.name}.{name}"
        unit, origin = finest.slide_us, finest.offset_us
        tree = Tree(view, unit, origin, cells, place, blocks, kept.get(name), coarsens=space.coarsens)
        shared.append(SharedFold(name, "tree", tuple(fold.window for fold in trees), members, tree))
    for unit, origin, folds in _lattices(_asking(space, "binary"), alike=space.coarsens):
        members, name = _members(folds, "binary"), f"binary-{unit}-{origin}"
        view, place = StateView.of(log, partials, members), f"{space.name}.{name}.window"
        lengths = [max(1, (fold.window.range_us or 0) // unit) for fold in folds]
        lattice = SlidingBinaryMerge(view, unit, origin, lengths, place, blocks, kept.get(name))
        shared.append(SharedFold(name, "binary", tuple(fold.window for fold in folds), members, lattice))
    return [*shared, *_stairs(space, log, partials, kept), *_bitmaps(space, log, partials, kept)]


def _trees(space: Space) -> list[tuple[str, list[Fold]]]:
    """One tree for all, or, where old panes are coarser, one for all windows that slide together, and its name."""
    trees: dict[str, list[Fold]] = {}
    for fold in _asking(space, "tree"):
        window = fold.window
        name = f"tree-{window.slide_us}-{window.offset_us}" if space.coarsens else "tree"
        trees.setdefault(name, []).append(fold)
    return list(trees.items())


def _stairs(space: Space, log: PaneLog, partials: KeptPartials, kept: Mapping[str, Snapshot]) -> list[SharedFold]:
    """A chain for windows that nest; each window is in one."""
    asking = _asking(space, "stairs")
    shared = []
    for levels in chains_of(fold.window for fold in asking):
        members = _members([fold for fold in asking if fold.window in levels.windows], "stairs")
        name = "stairs-" + "-".join(window.label for window in levels.windows)
        chain = NestedFold(StateView.of(log, partials, members), levels, kept.get(name))
        shared.append(SharedFold(name, "stairs", levels.windows, members, chain))
    return shared


def _bitmaps(space: Space, log: PaneLog, partials: KeptPartials, kept: Mapping[str, Snapshot]) -> list[SharedFold]:
    """Bitmaps for the levels of each query that asks what recurs."""
    shared = []
    asked = _members(_asking(space, "bitmaps"), "bitmaps")
    for windows in dict.fromkeys(partial.levels for partial in asked if isinstance(partial, SeenPartial)):
        members = tuple(each for each in asked if isinstance(each, SeenPartial) and each.levels == windows)
        name = "bitmaps-" + "-".join(window.label for window in windows)
        fold = SeenFold(StateView.of(log, partials, members), Levels(windows), kept.get(name))
        shared.append(SharedFold(name, "bitmaps", windows, members, fold))
    return shared


def _asking(space: Space, way: str) -> list[Fold]:
    return [fold for fold in space.folds if way in fold.maintenance]


def _members(folds: list[Fold], way: str) -> tuple[Partial, ...]:
    asked = (zip(fold.partials, fold.maintenance) for fold in folds)
    return tuple(dict.fromkeys(partial for pairs in asked for partial, chosen in pairs if chosen == way))


def _lattices(folds: list[Fold], *, alike: bool) -> list[tuple[int, int, list[Fold]]]:
    """Windows whose ends all lie on the cells of the one that slides most often, with that one's slide and offset.

    Where old panes are coarser, only windows that slide `alike` have the same cells.
    """
    lattices: list[tuple[int, int, list[Fold]]] = []
    for fold in sorted(folds, key=lambda fold: (fold.window.slide_us, fold.window.offset_us)):
        slide, offset = fold.window.slide_us, fold.window.offset_us
        for unit, origin, members in lattices:
            if slide % unit == 0 and (offset - origin) % unit == 0 and (slide == unit or not alike):
                members.append(fold)
                break
        else:
            lattices.append((slide, offset, [fold]))
    return lattices
