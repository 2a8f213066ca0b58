"""Which spaces are fed from one finer grouping: a phantom, which no query asked for, where it saves work.

Folding n events into g groups and then g entries into each of several coarser groupings costs less than folding the n
events into each, if g is small beside n (phantoms: Zhang, Koudas, Ooi and Srivastava, "Multiple aggregations over data
streams", 2005). How many groups there are is seen in the events themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from windrow.plan.nodes.aggregates import SCALED, Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.spaces import Space

COMBINE = 3.0
"""What it costs to fold an entry into a coarser one, if an event into an entry costs 1."""

SUMMARY_EVENT, SUMMARY_COMBINE = 40.0, 4000.0
"""What it costs to take an event into the summary of a clustering, and to merge such a summary into another."""

COMMUTATIVE = frozenset(
    {*SCALED, *SCALED.values(), "moments", "pair_moments", "truth", "min", "max"}
    | {"high_moments", "decayed", "bit_and", "bit_or", "bit_xor", "top"}
)
"""Partials that may be folded in any order; FIRST and LAST need the events' own."""

MOST = 32
"""Of more groups than these not every pair is weighed."""

Entries = Callable[[Sequence[Space]], float]
"""About how many entries some spaces have together: by all their keys, at all their edges, by all their predicates."""


def can_share(space: Space) -> bool:
    """Whether a space can be fed from finer entries."""
    return all(_commutes(partial) for partial in space.partials)


def _commutes(partial: Partial) -> bool:
    return partial.movable if isinstance(partial, ClusterPartial) else partial.kind in COMMUTATIVE


def choose_phantoms(
    spaces: Sequence[Space],
    events: int,
    entries: Entries,
    phantoms: str | None = None,
    classes: str | None = None,
) -> list[list[Space]]:
    """Groups of spaces, each to be fed from one fold of the events; a group of one is fed by itself.

    Greedy: the pair of groups that saves most is joined, as long as one saves anything. Where `phantoms` ("on" or
    "off") were asked for, spaces of different keys are joined whatever it costs, or never; where `classes` were, spaces
    of different predicates.
    """
    alike: dict[object, list[Space]] = {}
    for space in spaces:
        alike.setdefault((space.keys if can_share(space) else id(space)), []).append(space)
    groups: list[list[Space]] = []
    for group in alike.values():
        apart = sum(cost([space], events, entries) for space in group)
        alone = classes == "off" or (classes is None and cost(group, events, entries) > apart)
        groups += [[space] for space in group] if alone else [group]
    if len(groups) > MOST:
        return groups
    costs = [cost(group, events, entries) for group in groups]
    saving: dict[tuple[int, int], float] = {}
    alive = set(range(len(groups)))
    while True:
        for i, j in combinations(sorted(alive), 2):
            if (i, j) not in saving:
                joinable, both = can_share(groups[i][0]) and can_share(groups[j][0]), groups[i] + groups[j]
                keys, wheres = len({space.keys for space in both}), len({space.where for space in both})
                joinable &= not (phantoms == "off" and keys > 1) and not (classes == "off" and wheres > 1)
                together = cost(both, events, entries) if joinable else float("inf")
                if joinable and phantoms == "on" and keys > 1:
                    together = 0.0
                saving[i, j] = costs[i] + costs[j] - together
        best = max(
            (pair for pair in saving if alive.issuperset(pair)), key=lambda pair: (saving[pair], pair), default=None
        )
        if best is None or saving[best] <= 0:
            return [groups[i] for i in sorted(alive)]
        alive -= set(best)
        alive.add(len(groups))
        groups.append(groups[best[0]] + groups[best[1]])
        costs.append(cost(groups[-1], events, entries))


def cost(spaces: Sequence[Space], events: int, entries: Entries) -> float:
    """What it costs to fold `events` into each of `spaces`, in events folded into one partial."""
    if len(spaces) == 1:
        return events * _folding(spaces[0].partials)
    shared = _folding({partial for space in spaces for partial in space.partials})
    merging = sum(SUMMARY_COMBINE if _clusters(p) else COMBINE for space in spaces for p in space.partials)
    return events * (shared + len({space.where for space in spaces}) / 8) + entries(spaces) * merging


def _folding(partials: Iterable[Partial]) -> float:
    return sum(SUMMARY_EVENT if _clusters(partial) else 1.0 for partial in partials)


def _clusters(partial: Partial) -> bool:
    return isinstance(partial, ClusterPartial)
