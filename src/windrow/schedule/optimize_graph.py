"""Add dummy nodes to a sliding graph where they save more tests than they cost."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from windrow.schedule.graph import SlidingGraph
from windrow.schedule.progression import Progression

CHILDREN = 512
"""Of a node with more children only the first so many, by slide, are combined with each other."""

COMMON = 2048
"""Common divisors of common divisors are sought until there are so many."""

DUMMIES = 8
"""The most dummies of one optimization of a node; the node can be optimized again afterwards."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much must be saved (Salehi et al. 2010, section VI-E), and what a number of dummies costs.

    `node` (theta_l) is the least optimization factor of a node, `graph` (theta_g) that of all dummies together.
    """

    node: float = 0.0
    graph: float = 0.0
    cost: Callable[[int], float] = float


class Option(NamedTuple):
    """Dummies for one node: the share of its children's tests that they save, by the node's slide, is `saved` (O_n)."""

    saved: float
    dummies: tuple[Progression, ...]

    def factor(self, limits: Limits) -> float:
        """theta_n."""
        return self.saved / limits.cost(len(self.dummies))


def optimize(graph: SlidingGraph, limits: Limits) -> None:
    """Algorithm 3: nodes with the greatest factors first, until what all dummies save is not worth their cost.

    As in the paper, a node that asks for too many dummies tries again with fewer. Beyond it, a node that was
    optimized is looked at again, as are its dummies: without limits one goes on until no dummy saves anything.

    >>> graph = SlidingGraph()
    >>> numbers = [graph.add(Progression(slide)) for slide in (7, 8, 12, 20)]
    >>> optimize(graph, Limits())
    >>> graph.dummies, graph.tests_per_step()
    ([Progression(slide=4, offset=0)], 3.75)
    """
    saved, added = 0.0, 0
    queue: list[tuple[float, int, Option, list[Option], list[int]]] = []

    def enter(number: int, options: list[Option], children: list[int]) -> None:
        worth = [option for option in options if option.factor(limits) >= limits.node]
        if worth:
            best = max(worth, key=lambda option: option.factor(limits))
            heapq.heappush(queue, (-best.factor(limits), number, best, worth, children))

    def look_at(number: int) -> None:
        children = sorted(graph.children(number))
        enter(number, options_of(graph.node(number), [graph.node(child) for child in children]), children)

    for number in graph.numbers():
        look_at(number)
    while queue:
        _, number, best, options, children = heapq.heappop(queue)
        if not graph.has(number):
            continue
        if sorted(graph.children(number)) != children:
            look_at(number)
        elif (saved + best.saved) / limits.cost(added + len(best.dummies)) > limits.graph:
            dummies = [graph.add(dummy, dummy=True) for dummy in best.dummies]
            saved, added = saved + best.saved, added + len(best.dummies)
            for changed in (number, *dummies):
                if graph.has(changed):
                    look_at(changed)
        else:
            enter(number, [option for option in options if len(option.dummies) < len(best.dummies)], children)


def options_of(node: Progression, children: list[Progression]) -> list[Option]:
    """What can be done for a node: the best dummy, the best with a second one, and so on.

    A dummy d over m of the k children is one test more and makes their tests as rare as d: it saves
    m * (1 - node / d) - 1 of k tests.

    >>> options_of(Progression(1), [Progression(slide) for slide in (7, 8, 12, 20)])
    [Option(saved=0.3125, dummies=(Progression(slide=4, offset=0),))]
    """
    options: list[Option] = []
    dummies: tuple[Progression, ...] = ()
    saved, count = 0.0, len(children)
    slides = np.array([child.slide for child in children], np.int64)
    offsets = np.array([child.offset for child in children], np.int64)
    steps, shifts = _common_divisors(node, slides, offsets)
    while len(steps) and len(dummies) < DUMMIES:
        held = (slides % steps[:, None] == 0) & ((offsets - shifts[:, None]) % steps[:, None] == 0)
        gains = held.sum(axis=1) * (1 - node.slide / steps) - 1
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        saved += float(gains[best]) / count / node.slide
        dummies += (Progression(int(steps[best]), int(shifts[best])),)
        options.append(Option(saved, dummies))
        slides = np.append(slides[~held[best]], steps[best])
        offsets = np.append(offsets[~held[best]], shifts[best])
        steps, shifts = np.delete(steps, best), np.delete(shifts, best)
    return options


def _common_divisors(node: Progression, slides: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All that two or more children have in common and that is more than the node, with its offsets.

    >>> _common_divisors(Progression(1), np.array([60, 84, 140]), np.array([0, 0, 0]))[0].tolist()
    [4, 12, 20, 28]
    """
    first = np.argsort(slides)[:CHILDREN]
    children = np.stack([slides[first], offsets[first]], axis=1)
    one, other = np.triu_indices(len(children), 1)
    found = _shared(children[one], children[other], node)
    while len(found):
        rows, columns = np.divmod(np.arange(len(found) * len(children)), len(children))
        more = np.unique(np.concatenate([found, _shared(found[rows], children[columns], node)]), axis=0)
        if len(more) == len(found) or len(more) > COMMON:
            break
        found = more
    return found[:, 0], found[:, 1]


def _shared(ones: np.ndarray, others: np.ndarray, node: Progression) -> np.ndarray:
    """The sparsest progressions over pairs, if sparser than the node: rows of slide and offset."""
    steps = np.gcd(np.gcd(ones[:, 0], others[:, 0]), ones[:, 1] - others[:, 1])
    greater = steps > node.slide
    return np.unique(np.stack([steps[greater], ones[greater, 1] % steps[greater]], axis=1), axis=0)
