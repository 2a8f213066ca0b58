"""Aggregates that weigh what is older less: a weight for each level of nested windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.errors import SettingsError
from windrow.kernels import Fields, Kernel, Lowered
from windrow.kernels.two_doubles import Pair, plus, quotient, times
from windrow.plan.windows.levels import Levels
from windrow.windows.stairs import Stairs

ANSWERS = ("SUM", "COUNT", "AVG")


class Weighed:
    """SUM, COUNT and AVG of some groups as weighted sums over the own stretches of levels, AVG divided by the weighted
    count (Patroumpas and Sellis 2010, section IV-A).

    Sums are pairs of doubles, from the partials on, and rounded once, when they are lowered. A weight of 0 leaves a
    level out: neither an infinity nor NaN is seen there, nor a sum that its own type cannot hold.
    """

    def __init__(self, kernel: Kernel, groups: int) -> None:
        self._kernel = kernel
        self._total: Pair = (np.zeros(groups), np.zeros(groups))
        self._count: Pair = (np.zeros(groups), np.zeros(groups))
        self._known, self._overflows = np.zeros(groups, bool), np.zeros(groups, bool)

    def add(self, groups: np.ndarray, own: Fields, weight: float, answer: str) -> None:
        """What one level holds alone of each of `groups`, which are numbered."""
        self._known[groups] |= own["n"] > 0
        if weight == 0:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            counts = own["n"].astype(np.float64), np.zeros(len(groups))
            self._count = _added(self._count, groups, times(counts, weight))
            if answer != "COUNT":
                sums, fits = self._kernel.halves(own)
                self._overflows[groups] |= ~fits
                self._total = _added(self._total, groups, times(sums, weight))

    def lower(self, answer: str) -> Lowered:
        """NULL for groups without a value, or whose sum did not fit at some level, or which weigh nothing in AVG."""
        if answer == "COUNT":
            return Lowered(pa.array(self._count[0] + self._count[1]))
        empty = ~self._known | self._overflows
        values = self._total[0] + self._total[1]
        if answer == "AVG":
            empty |= self._count[0] == 0
            with np.errstate(all="ignore"):
                values = quotient(self._total, self._count)
        return Lowered(pa.array(values, mask=empty), int(np.count_nonzero(self._overflows)))


@dataclass(frozen=True, slots=True)
class Aging:
    """What `Weighed` has come to over a chain of levels, each of which holds its own stretch folded.

    `weights` are from the finest level to the coarsest. Slides must be multiples of each other, for else finer levels
    are not up to date when a coarser one answers.
    """

    levels: Levels
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.levels):
            raise SettingsError(f"{len(self.levels)} levels need {len(self.levels)} weights, not {len(self.weights)}")
        if not self.levels.divide:
            raise SettingsError("aging needs slides that are multiples of each other")

    def lower(self, stairs: Stairs, level: int, member: int, answer: str, width: int) -> Lowered:
        """The weighted `answer` of every slot at `level`, which has just slid; `member` is the kernel of the sums."""
        if answer not in ANSWERS:
            raise SettingsError(f"{answer} has no weights; aging knows {', '.join(ANSWERS)}")
        weighed, every = Weighed(stairs.kernels[member], width), np.arange(width)
        for finer in range(level + 1):
            weighed.add(every, stairs.own(finer, width)[member], self.weights[finer], answer)
        return weighed.lower(answer)


def _added(sums: Pair, groups: np.ndarray, more: Pair) -> Pair:
    high, low = plus((sums[0][groups], sums[1][groups]), more)
    sums[0][groups], sums[1][groups] = high, low
    return sums
