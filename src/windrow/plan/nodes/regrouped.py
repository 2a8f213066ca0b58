"""Where rows of a plan over changes go to other shards: below it runs in one stage, above it in the next."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.nodes.changes import Column, Node, Scan


@dataclass(frozen=True, slots=True)
class StageEnd(Node):
    """The end of a stage: the changes of a sub-plan as they are, with the ends of rows that have not been sent yet.

    `query` is a name for what the query asks, and its own: a part is sent once for each query, since one that comes
    later, also one that asks the same, must not be told that rows go of which it never heard. With `spread_by_all` its
    stage is spread by all columns of the part that spread it together, as `part_key` says, and not by one of them.
    """

    child: Node
    query: str
    spread_by_all: bool = False


@dataclass(frozen=True, slots=True)
class Regrouped(Node):
    """The beginning of the next stage: the changes of a part, by its name; once more for each `apart`, as of a Scan."""

    part: str
    read: tuple[Column, ...]
    apart: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.read


Leaf = Scan | Regrouped
"""What a stage reads."""

EVERYWHERE = ("\0",)
"""In place of columns by which rows are spread, which have names: every shard has all of them."""


def leaves_in(plan: Node) -> list[Leaf]:
    """The leaves of a plan, each once."""
    own = [plan] if isinstance(plan, (Scan, Regrouped)) else []
    return list(dict.fromkeys([*own, *(leaf for child in plan.children for leaf in leaves_in(child))]))


@dataclass(frozen=True, slots=True)
class LeafKey:
    """By which of its columns the rows of a leaf are spread over the shards; by none, all are in one.

    EVERYWHERE sends each row to every shard.
    """

    leaf: Leaf
    columns: tuple[str, ...]
