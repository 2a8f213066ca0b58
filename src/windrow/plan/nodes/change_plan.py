"""One query over changes: as it was bound, and as it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from windrow.plan.catalog import Stream
from windrow.plan.nodes.changes import TIME, Node
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.spaces import hashed

CHANGES_OF = "changes-"
"""How the names of streams that are read together begin."""


@dataclass(frozen=True, slots=True)
class BoundChanges:
    """A query over changes: the streams that it reads, its plan, what is sent of it, and at which instants.

    Without a slide every change is sent at its own instant. `range_us` is that of the longest window that has a
    beginning, and `unbounded` says that one has none.
    """

    streams: tuple[Stream, ...]
    plan: Node
    emit: str
    slide_us: int | None = None
    offset_us: int = 0
    range_us: int = 0
    unbounded: bool = False


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """One query over changes, with W-Expire in its place."""

    name: str
    streams: tuple[str, ...]
    root: Node
    emit: str
    slide_us: int | None = None
    offset_us: int = 0
    range_us: int = 0
    unbounded: bool = False
    about_us: None = None
    stages: int = 1
    """In how many stages it runs, with rows regrouped between them."""

    @property
    def stream(self) -> str:
        """A name for the streams that it reads: queries over the same ones run together, those that fold panes too.

        So long as they have as many stages: a checkpoint keeps the number of them. Other streams have another name,
        whatever they are called; no stream itself may be called so.
        """
        if len(self.streams) == self.stages == 1:
            return self.streams[0]
        names = [name.replace("%", "%25").replace("+", "%2B") for name in self.streams]
        names[0] = re.sub(r"^(\d+)-", r"\1%2D", names[0])  # which would be taken for a number of stages
        return (CHANGES_OF if self.stages == 1 else f"{CHANGES_OF}{self.stages}-") + "+".join(names)

    @property
    def asked(self) -> str:
        """A name for what it asks: by its plan, not by its own name."""
        return hashed(self.root, self.emit, self.slide_us, self.offset_us)

    @property
    def leading(self) -> tuple[str, ...]:
        return leading_names(self.emit)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of the select list."""
        return self.root.names

    @property
    def emitted(self) -> pa.Schema:
        """The columns of its results."""
        first = [pa.field("window_start", TIME), pa.field("window_end", TIME, nullable=False)]
        if self.emit != SNAPSHOT:
            first = [pa.field("op", pa.string(), nullable=False), pa.field("time", TIME, nullable=False)]
        return pa.schema([*first, *((column.name, column.type) for column in self.root.columns)])


def leading_names(emit: str) -> tuple[str, ...]:
    """The columns that lead every result."""
    return ("window_start", "window_end") if emit == SNAPSHOT else ("op", "time")
