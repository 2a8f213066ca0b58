"""What a shard, a space of state and a slicer are: every part of the runtime is used through one of these.

None of them reads a clock, a file or a random number: the same state and the same payloads give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.windows import Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import Payload
from windrow.runtime.share import Share
from windrow.runtime.slice.joined_chunks import JoinedChunks
from windrow.runtime.slice.sample import Sample
from windrow.storage.blocks import Snapshot

Joins = Callable[[StreamPlan], JoinedChunks]
"""Who has, in this batch, the tables that a stream which is made of answers is joined with."""


class AnySlicer(Protocol):
    """Cuts the events of one map task into payloads, before anything is shuffled."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events: their times, and the row expressions that the plan names, as columns."""

    @property
    def sample(self) -> Sample:
        """What it has seen of them in passing."""

    def payloads(self) -> list[Payload]:
        """What goes to the shards, now that all events of the task have come."""
        ...


@dataclass(frozen=True, slots=True)
class Rewound:
    """What setting the clock back has done to a space.

    `dropped` entries went, and with them the groups in the slots `freed`. A space that cannot tell what is later from
    the rest has to begin `anew`.
    """

    dropped: int
    freed: np.ndarray | None = None
    anew: bool = False


class KeptSpace(Protocol):
    """What a shard holds for the windows of one space, over time or over rows.

    In each batch it is asked, in this order, to `absorb`, to `answer` and to `expire`; then to `save`, and for its
    `snapshot`.
    """

    @property
    def groups(self) -> GroupSlots:
        """The groups that are held, by slot."""
        ...

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that are for it."""
        ...

    @property
    def bytes_held(self) -> int:
        """What must be in memory: it counts against the limit, and cannot be let go."""
        ...

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Take in a batch's payloads. Here a late event is decided: what had closed at `clock` takes none any more."""

    def answer(
        self, before: int | None, clock: int, emit: Callable[[Answers], None], newest: int | None = None
    ) -> None:
        """Give `emit` every window that ended after `before` and up to `clock` and holds an event.

        With `newest`, the input has ended with an event at that time, and all windows that hold one are answered.
        """

    def last_end(self, clock: int, newest: int) -> int:
        """When the last window ends that an event at `newest` lies in."""
        ...

    def expire(self, clock: int) -> np.ndarray | None:
        """Let go of what no window after `clock` holds; returns the slots of groups that went with it."""
        ...

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of what is later than `newest`: the clock, which had come to `clock`, goes back to before it."""
        ...

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the groups that are not of `share`, and return their slots: the shard has been split."""
        ...

    def adopt(self, older: Any) -> None:
        """Take over what an older view of the same state has in memory, where that is still so."""

    def save(self, version: int) -> None:
        """Write blocks that have changed."""

    def snapshot(self) -> Snapshot:
        """What opens it again beside its blocks, as plain values."""
        ...


class Correcting(KeptSpace, Protocol):
    """A space whose answers late events may correct: between `absorb` and `answer` it is asked to `correct`."""

    def correct(self, before: int | None, emit: Callable[[Correction], None]) -> None:
        """Give `emit` what was told by `before` and this batch has changed, with what holds instead."""

    def first_told(self, query: QueryPlan, window: TimeWindow | None, clock: int | None) -> int:
        """The end of the first window like `window` that `query` was told of, where it came at `clock`."""
        ...


class AnyShard(Protocol):
    """One part of a stage's state, and how a batch changes it."""

    version: int

    @property
    def clock(self) -> int | None:
        """How far the stream has come that is furthest behind."""
        ...

    @property
    def memory_limit(self) -> int:
        """How much of what it can read again it may keep in memory."""
        ...

    @property
    def groups(self) -> int:
        """How many groups are held, over all spaces."""
        ...

    @property
    def bytes_in_memory(self) -> int:
        """What is kept from batch to batch."""
        ...

    def process(
        self, payloads: Sequence[Payload], joins: Joins | None = None, now: Callable[[], int] | None = None
    ) -> Outcome:
        """Take in a batch's payloads, and give what they have brought: answers, counts, rejected events.

        `joins` has the tables that answers are joined with where these are events of a stream.
        """
        ...

    def save(self) -> bytes:
        """Write changed blocks; returns the snapshot that opens them again."""
        ...

    def forget_blocks(self) -> None:
        """Keep in memory only what could not be read again."""
