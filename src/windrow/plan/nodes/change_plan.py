"""What runs of queries over changes: frozen plans that travel to the workers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.changes import TIME, Node, Scan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.regrouped import Leaf
from windrow.plan.nodes.spaces import hashed
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.timing import Timing

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
    choose: Wanted = NOTHING

    @property
    def stream(self) -> str:
        """A name for the streams that it reads: queries over the same ones run together.

        So long as they have as many stages: a checkpoint keeps the number of them. Other streams have another name,
        whatever they are called; no stream itself may be called so.
        """
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


@dataclass(frozen=True, slots=True)
class LeafKey:
    """By which of its columns the rows of a leaf are spread over the shards; by none, all are in one."""

    leaf: Leaf
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangesPlan:
    """All queries over changes that read the same streams, or one stage of them.

    Where no key can spread a query, it runs in stages: `before` is the one that comes before this, and what that
    `sends` goes to the shards of this one's keys.
    """

    streams: tuple[tuple[str, int], ...]
    """The streams with their lateness."""

    queries: tuple[ChangePlan, ...]
    keys: tuple[LeafKey, ...]
    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    static: tuple[tuple[str, pa.Table], ...] = field(default=(), compare=False, repr=False)
    """The tables that are joined, as they were read at the start."""

    keeps_rejected: bool = False
    timing: Timing = Timing.EVENT
    memory_bytes: int = DEFAULT_BYTES
    ahead: tuple[tuple[str, int], ...] = ()
    """How far events may be ahead of the instant at which their batch began, for streams that have a limit."""

    before: ChangesPlan | None = None
    sends: tuple[LeafKey, ...] = ()

    @property
    def stream(self) -> str:
        return self.queries[0].stream

    @property
    def stages(self) -> tuple[ChangesPlan, ...]:
        """From the one that reads the streams to this one."""
        return (self,) if self.before is None else (*self.before.stages, self)

    def ahead_of(self, stream: str) -> int | None:
        """How far the events of a stream may be ahead of their batch; None is no limit."""
        return dict(self.ahead).get(stream)

    def scans_of(self, stream: str) -> list[tuple[int, Scan, tuple[str, ...]]]:
        """The scans of a stream, with their numbers and the columns they are spread by."""
        return [
            (number, key.leaf, key.columns)
            for number, key in enumerate(self.keys)
            if isinstance(key.leaf, Scan) and key.leaf.stream == stream
        ]

    def expressions_of(self, stream: str) -> tuple[str, ...]:
        """Every row expression over `stream` that some query needs, each once."""
        texts: dict[str, None] = {}
        for _, scan, _ in self.scans_of(stream):
            texts.update(dict.fromkeys([*scan.texts, *([] if scan.where is None else [scan.where])]))
        return tuple(texts)


def leading_names(emit: str) -> tuple[str, ...]:
    """The columns that lead every result."""
    return ("window_start", "window_end") if emit == SNAPSHOT else ("op", "time")
