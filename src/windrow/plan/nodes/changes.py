"""Plans over changes: answers that change with every arrival and every expiry. Equal plans are equal values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import pyarrow as pa

from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.clusters import ClusterPartial

TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of rows that change."""

    name: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Computed:
    """A column of a projection: a row expression over the child's columns, as canonical text."""

    name: str
    sql: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a group: an aggregate, whose argument and filter are row expressions over the child's columns."""

    name: str
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a plan over changes."""

    @property
    def children(self) -> tuple[Node, ...]:
        """The steps that it takes changes from."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Node))

    def with_children(self, children: Sequence[Node]) -> Node:
        """The same step over other children."""
        names = [field.name for field in fields(self) if isinstance(getattr(self, field.name), Node)]
        return replace(self, **dict(zip(names, children)))

    @property
    def columns(self) -> tuple[Column, ...]:
        """What its rows have."""
        return self.children[0].columns

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> list[pa.DataType]:
        return [column.type for column in self.columns]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])


@dataclass(frozen=True, slots=True)
class Scan(Node):
    """The events of a stream, each for `range_us` from its time on; None means for ever.

    `texts` are the row expressions that its columns hold, and `where` one that tells which events there are at all. The
    column `by`, if there is one, says to which shards an event goes: its rows are a copy for each, with its number.
    Rows that queries want by different columns go their ways more than once: `apart` has those of all but the first.
    """

    stream: str
    read: tuple[Column, ...]
    range_us: int | None
    texts: tuple[str, ...] = ()
    where: str | None = None
    by: str | None = None
    apart: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.read


@dataclass(frozen=True, slots=True)
class Expire(Node):
    """W-Expire: sends a row again as `-` when its time is over. `place` says whose work it is (section 3).

    That of an operator which is triggered by its `input` goes by the last row that came to it, and not by the clock.
    """

    child: Node
    place: Literal["scan", "operator", "input", "apart"] = "apart"


@dataclass(frozen=True, slots=True)
class Select(Node):
    """The rows for which `predicate` is true."""

    child: Node
    predicate: str


@dataclass(frozen=True, slots=True)
class Project(Node):
    """Other columns of the same rows."""

    child: Node
    outputs: tuple[Computed, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(output.name, output.type) for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """The rows that a function which remembers gives: it is told the rows of each key, in order of time.

    `reads` are the columns of the child that it sees, by the names that it has for them. Its rows have the `keys`,
    columns of the child, and then what it `returns`. `rejects` says that a row with which it fails is left out.
    """

    child: Node
    function: str
    reads: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    returns: tuple[Column, ...]
    rejects: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        known = {column.name: column for column in self.child.columns}
        return (*(known[key] for key in self.keys), *self.returns)


@dataclass(frozen=True, slots=True)
class Distinct(Node):
    """Every row once. `renewing`: a copy stands until its own time is over and the next follows it (Algorithm 4.1)."""

    child: Node
    renewing: bool = False


@dataclass(frozen=True, slots=True)
class Group(Node):
    """One row for each group that has rows: `keys` are columns of the child. Without keys there is one group.

    With `empty` that one has a row also when all its rows have gone: that of an aggregate over nothing.
    """

    child: Node
    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    empty: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        known = {column.name: column for column in self.child.columns}
        measures = (Column(measure.name, measure.aggregate.type) for measure in self.measures)
        return (*(known[key] for key in self.keys), *measures)


@dataclass(frozen=True, slots=True)
class ClusterGroup(Group):
    """One row for each cluster of each group: CLUSTER BY. The number of the cluster is among the measures."""

    clusters: ClusterPartial | None = None


@dataclass(frozen=True, slots=True)
class WindowEdge:
    """A column with an edge of the window: its end less `before_us`. None is NULL: a window without a beginning."""

    name: str
    before_us: int | None


@dataclass(frozen=True, slots=True)
class Stamp(Node):
    """The rows that there are at each end of a window, with columns that tell which window it is."""

    child: Node
    slide_us: int
    offset_us: int
    edges: tuple[WindowEdge, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.child.columns, *(Column(edge.name, TIME) for edge in self.edges))


@dataclass(frozen=True, slots=True)
class SetNode(Node):
    """A set operator over columns of the same types in the same order; the names are those of the left side."""

    left: Node
    right: Node
    all: bool = False

    def __post_init__(self) -> None:
        left, right = self.left.types, self.right.types
        if left != right:
            raise ValueError(f"{type(self).__name__} of different columns: {left} and {right}")


@dataclass(frozen=True, slots=True)
class Union(SetNode):
    """The rows of either side."""


@dataclass(frozen=True, slots=True)
class Minus(SetNode):
    """The rows of the left side that the right has not; with `all`, each as often as the left has it more often."""


@dataclass(frozen=True, slots=True)
class Intersect(SetNode):
    """The rows of both sides; with `all`, each as often as both have it."""


@dataclass(frozen=True, slots=True)
class Single(Node):
    """Groups of which each should be of one row, as `count` tells: of more than one, `value` is NULL, and counted."""

    child: Node
    count: str
    value: str


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Ranked(Node):
    """The rows of each partition that are among the first ones in an order, with their number if it has a name.

    Without a `limit` all rows are. Ties of `row_number` are in the order of the whole row.
    """

    child: Node
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    function: Literal["row_number", "rank", "dense_rank"] = "row_number"
    limit: int | None = None
    number: str | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.child.columns + (() if self.number is None else (Column(self.number, pa.int32()),))


def leave_in_order(node: Node) -> bool:
    """Whether rows leave as they came: those of one stream do, those of joins and sub-queries in any order."""
    while isinstance(node, Expire | Select | Project):
        node = node.child
    return isinstance(node, Scan)
