"""What a pane keeps for CLUSTER BY, and what can be asked of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from windrow.plan.nodes.aggregates import Aggregate, Partial

CLUSTER = Partial("cluster")
"""Stands for the cluster itself, in aggregates that are drawn from it."""

COORDINATES = pa.list_(pa.float64())

ANSWERS: Mapping[str, pa.DataType] = {
    "CID": pa.int64(),
    "CENTER": COORDINATES,
    "RADIUS": pa.float64(),
    "COUNT": pa.int64(),
}
"""What every clustering tells of its clusters."""

HULL = Aggregate("CONVEX_HULL", Partial("hull"), pa.list_(COORDINATES))
"""The convex hull, which is kept for each cluster where somebody asks for it."""


MOST_COARSER = 4.0
"""A summary serves clusters up to so many times as coarse as its own: a report takes all its rows, at every slide."""


@dataclass(frozen=True, slots=True)
class ClusterPartial(Partial):
    """The summary of an algorithm, with its `parameters`, over the points that `coordinates` are.

    `attached` are other partials, kept for each cluster. Queries with equal ones share them, whatever their windows.
    A `differential` summary can take out again what was merged into it; `movable` ones come out much alike whatever
    the order of merging. `index` is the one that was asked for, by its name or as a class: it finds the same clusters
    as any other, so that it is no part of what is kept. `sharing` says which other parameters the summary serves (see
    `serves`); it follows from the algorithm and its parameters.
    """

    algorithm: str = ""
    parameters: tuple[Any, ...] = ()
    coordinates: tuple[str, ...] = ()
    attached: tuple[Partial, ...] = ()
    differential: bool = False
    movable: bool = False
    index: str | type | None = field(default=None, compare=False, repr=False)
    sharing: tuple[Any, float] | None = field(default=None, compare=False, repr=False)

    @property
    def reversible(self) -> bool:
        return self.differential and all(partial.reversible for partial in self.attached)

    @property
    def texts(self) -> tuple[str, ...]:
        own = [text for partial in self.attached for text in partial.texts]
        return tuple(dict.fromkeys([*self.coordinates, *own]))

    @property
    def users(self) -> tuple[str, ...]:
        own = () if self.user is None else (self.user,)
        return (*own, *(name for partial in self.attached for name in partial.users))

    def serves(self, asked: ClusterPartial) -> bool:
        """Whether the clusters that `asked` wants, of the same rows, can be reported from this summary: it depends on
        the same, and is as fine or finer, but not so fine that its report would cost more than it saves.

        >>> fine, wide, wider = (ClusterPartial("clustering", sharing=((), radius)) for radius in (10.0, 30.0, 50.0))
        >>> fine.serves(wide), wide.serves(fine), fine.serves(wider)
        (True, False, False)
        """
        if replace(self, parameters=(), attached=()) != replace(asked, parameters=(), attached=()):
            return False
        if self.sharing is None or asked.sharing is None:
            return self.parameters == asked.parameters
        (own, grain), (other, coarser) = self.sharing, asked.sharing
        return bool(own == other and grain <= coarser <= MOST_COARSER * grain)

    def __str__(self) -> str:
        beside = "".join(f", with {partial} of each" for partial in self.attached)
        return f"clusters of ({', '.join(self.coordinates)}) by {self.method}{beside}"

    @property
    def method(self) -> str:
        """The algorithm as it is written.

        >>> ClusterPartial("clustering", algorithm="C_BIRCH", parameters=(50, 3)).method
        'C_BIRCH(50, 3)'
        """
        return f"{self.algorithm}({', '.join(map(str, self.parameters))})"


def cluster_answer(name: str) -> Aggregate:
    """What `name` asks of a cluster.

    >>> cluster_answer("RADIUS").type
    DataType(double)
    """
    return Aggregate(name, CLUSTER, ANSWERS[name])
