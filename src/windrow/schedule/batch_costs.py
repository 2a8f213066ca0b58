"""What the batches of a stream cost: a fixed part, and parts by the rows that are read and those that are taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from operator import attrgetter

import numpy as np

REMEMBERED = 32
"""So many batches are learnt from, and the last one of each other share: a rate that never changes teaches nothing."""

NOISE = 0.05
"""By so much of its own a batch may take longer or shorter for no reason: a closer fit says nothing."""

DOUBT = 4.0
"""So much more likely, as a logarithm, must be what says that rows cost less than all: else it is tried out."""

FEATURES = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch that has run: how often its share was halved, the rows that it read and took, and how long it was."""

    batch: int
    halvings: int
    read: int
    taken: int
    took_us: int


@dataclass(frozen=True, slots=True)
class BatchCost:
    """What a batch takes: a fixed part, and what each row costs that is read, and besides if it is taken."""

    fixed_us: float
    read_us: float
    taken_us: float


BY_ROWS = BatchCost(0.0, 0.0, 1.0)
"""What is held true before anything is known: half the rows take half the time."""


def remembered(seen: Sequence[Seen]) -> list[Seen]:
    """What is kept of the batches that were seen, in their order: the last ones, and the last one of each share."""
    ordered = sorted(seen, key=attrgetter("batch"))
    last_of = {one.halvings: one for one in ordered}
    return [one for i, one in enumerate(ordered) if i >= len(ordered) - REMEMBERED or last_of[one.halvings] is one]


def learnt(seen: Sequence[Seen]) -> BatchCost:
    """The cost that explains the batches best: least squares of what each is off by, as a part of its own length.

    No part is below zero. Each that is not zero must explain more than chance would (Schwarz, 1978), and that all
    cost is by the rows that are taken is given up only for what is clearly more likely.

    >>> def took(read, halvings): return Seen(halvings, halvings, read, read >> halvings, 1000 + 2 * (read >> halvings))
    >>> learnt([took(600, 0)]).fixed_us
    0.0
    >>> cost = learnt([took(4000, 0), took(4400, 1), took(4200, 2), took(4100, 3)])
    >>> round(cost.fixed_us), round(cost.read_us), round(cost.taken_us)
    (1000, 0, 2)
    """
    known = [one for one in seen if one.took_us > 0]
    if not known:
        return BY_ROWS
    rows = np.array([astuple(one)[2:] for one in known], float)
    features = np.column_stack([np.ones(len(known)), rows[:, 0], rows[:, 1]]) / rows[:, 2:]
    scale = features.max(axis=0)
    features /= np.where(scale > 0, scale, 1.0)
    best, found = math.inf, np.zeros(FEATURES)
    for count in range(1, FEATURES + 1):
        for chosen in combinations(reversed(range(FEATURES)), count):
            part = features[:, chosen]
            fit, _, rank, _ = np.linalg.lstsq(part, np.ones(len(known)), rcond=1e-9)
            if rank < count or fit.min() < 0:
                continue
            off = float(np.mean((part @ fit - 1) ** 2))
            unlikely = len(known) * math.log(off + NOISE**2) + count * math.log(len(known))
            unlikely -= DOUBT if chosen == (FEATURES - 1,) else 0.0
            if unlikely < best:
                best, found = unlikely, np.zeros(FEATURES)
                found[list(chosen)] = fit / scale[list(chosen)]
    return BatchCost(*found.tolist())
