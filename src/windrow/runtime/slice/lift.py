"""Events into entries, one a pane and group; and entries into fewer, for spaces that share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from windrow.compile.choose_phantoms import can_share
from windrow.kernels import Fields, Kernel, identity, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.groupings import plain_keys, sets_in
from windrow.plan.nodes.spaces import Key, Space
from windrow.plan.windows.cuts import Cuts, covered
from windrow.runtime.keys import encode_keys
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.classes import classes_of
from windrow.runtime.slice.entries import Lifted
from windrow.runtime.slice.grouping_sets import by_fewer_keys, every_grouping
from windrow.runtime.slice.places import Places

Kernels = Mapping[Partial, Kernel]


def lift(chunk: Chunk, spaces: Sequence[Space], kernels: Kernels) -> list[Lifted]:
    """The entries of each of `spaces`; if there are several, the events are folded once for all of them.

    Then the entries are by the keys, the edges and the predicates of all, and each space gets its own from them: fewer
    keys, fewer edges, and those that its predicate lets through. Returns nothing if there are too many kinds of rows
    for that to pay.
    """
    if len(spaces) == 1:
        return [_lift_one(chunk, spaces[0], kernels)]
    asked, spaces = spaces, [replace(space, keys=plain_keys(space.keys)) for space in spaces]
    wheres = tuple(dict.fromkeys(space.where for space in spaces))
    keys = tuple(dict.fromkeys(key for space in spaces for key in space.keys))
    cuts = Cuts.of(window for space in spaces for window in space.windows)
    partials = tuple(dict.fromkeys(partial for space in spaces for partial in space.partials))
    numbers, starts = chunk.cut(cuts)
    owners, groups = chunk.groups(keys)
    count = len(groups[0]) if groups else 1
    kinds, passes = np.zeros(len(chunk), np.int64), np.ones((1, len(wheres)), bool)
    if wheres != (None,):
        found = classes_of([chunk.timed if w is None else chunk.passed(w) for w in wheres], most=len(chunk) // 4)
        if found is None:
            return []
        kinds, passes = found
    wanted = np.any(passes, axis=1, keepdims=True)[:, 0]
    counted = chunk.timed & wanted[kinds]
    places = Places.of(
        numbers,
        owners * len(passes) + kinds,
        len(starts),
        count * len(passes),
        None if counted.all() else counted,
    )
    held, folded = _folded(chunk, places, partials, kernels)
    panes, codes = places.decode(held)
    fine = Lifted(
        starts[panes], codes // len(passes), keys, groups, folded, wheres, codes % len(passes), passes
    )  # fmt: skip
    lifted = [_coarser(fine, space, kernels) for space in spaces]
    return [_by_sets(part, space.keys, kernels) for part, space in zip(lifted, asked)]


def _by_sets(fine: Lifted, keys: tuple[Key, ...], kernels: Kernels) -> Lifted:
    """The entries of all groupings that are asked for, from those of the finest."""
    if not sets_in(keys):
        return fine
    return every_grouping(keys, lambda chosen: by_fewer_keys(fine, chosen, kernels))


def _lift_one(chunk: Chunk, space: Space, kernels: Kernels) -> Lifted:
    if sets_in(space.keys):
        if can_share(space):
            return _by_sets(_lift_one(chunk, replace(space, keys=plain_keys(space.keys)), kernels), space.keys, kernels)
        # FIRST and the like go by the order of the events, which entries of several groups do not keep
        return every_grouping(space.keys, lambda chosen: _lift_one(chunk, replace(space, keys=chosen), kernels))
    numbers, starts = chunk.cut(space.cuts)
    counted = chunk.timed
    if space.where is not None:
        counted = counted & chunk.passed(space.where)
    inside = covered(space.windows, starts)
    if inside is not None:
        counted = counted & inside[numbers]
    owners, groups = chunk.groups(space.keys)
    count = len(groups[0]) if groups else 1
    places = Places.of(numbers, owners, len(starts), count, None if counted.all() else counted)
    held, folded = _folded(chunk, places, space.partials, kernels)
    panes, owner = places.decode(held)
    return Lifted(starts[panes], owner, space.keys, groups, folded)


def _folded(
    chunk: Chunk, places: Places, partials: Sequence[Partial], kernels: Kernels
) -> tuple[np.ndarray, dict[Partial, Fields]]:
    """The codes that hold an event, and the partials of each."""
    folded: dict[Partial, Fields] = {}
    for partial in partials:
        folded[partial] = identity(kernels[partial], places.room)
        kernels[partial].lift(folded[partial], places.codes, chunk.rows(partial))
    held = np.flatnonzero(folded[partials[0]]["n"])
    return held, {partial: take(fields, held) for partial, fields in folded.items()}


def _coarser(fine: Lifted, space: Space, kernels: Kernels) -> Lifted:
    """What `space` needs of finer entries."""
    assert fine.kinds is not None and fine.passes is not None
    chosen = fine.passes[fine.kinds, fine.wheres.index(space.where)]
    if not chosen.any():
        empty = np.empty(0, np.int64)
        return Lifted(empty, empty, space.keys, [], {})
    numbers, starts = space.cuts.cut(fine.starts)
    inside = covered(space.windows, starts)
    if inside is not None:
        chosen = chosen & inside[numbers]
    columns = [fine.groups[fine.keys.index(key)] for key in space.keys]
    owners, groups = encode_keys(columns, len(fine.groups[0]) if fine.groups else 1)
    count = len(groups[0]) if groups else 1
    places = Places.of(numbers, owners[fine.owners], len(starts), count, chosen)
    codes = places.codes[chosen]
    folded: dict[Partial, Fields] = {}
    for partial in space.partials:
        folded[partial] = identity(kernels[partial], places.room)
        kernels[partial].combine(folded[partial], codes, take(fine.partials[partial], np.flatnonzero(chosen)))
    held = np.flatnonzero(folded[space.partials[0]]["n"])
    panes, owner = places.decode(held)
    return Lifted(starts[panes], owner, space.keys, groups, {p: take(f, held) for p, f in folded.items()})
