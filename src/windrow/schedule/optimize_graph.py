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
    while len(slides) > 1 and len(dummies) < DUMMIES:
        steps, shifts = _common(node, slides, offsets)
        if len(steps) == 0:
            break
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
    return options


def _common(node: Progression, slides: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The common divisors of two or more children that are greater than the node, with their offsets."""
    first = np.argsort(slides)[:CHILDREN]
    slides, offsets = slides[first], offsets[first]
    one, other = np.triu_indices(len(slides), 1)
    steps = np.gcd(np.gcd(slides[one], slides[other]), offsets[one] - offsets[other])
    shifts = offsets[one] % steps
    greater = steps > node.slide
    found = np.unique(np.stack([steps[greater], shifts[greater]], axis=1), axis=0)
    return found[:, 0], found[:, 1]
