"""What travels from the map tasks to the shards."""

from __future__ import annotations

from dataclasses import dataclass

TALLIES = ("untimed", "unreadable", "impossible", "ahead", "failed", "unplaced", "unsent", "seam", "shed")
"""What a map task counts of its events, and adds to one payload: see `Outcome`."""

HEADER, COUNTS, REJECTED, FLUSH, HEARTBEAT, EARLIER = "", "counts", "rejected", "flush", "heartbeat", "earlier"
RESET, NEWEST, CLOCK, LEFT_OUT, ANSWERS = "reset", "newest", "clock", "left out", "answers of "
"""Names of payloads that belong to no space: a task's probe and how many events it saw when, for all shards; the same
with what it rejected, for one shard; its rows that may be rejected; the end of the input; the wall clock when the batch
began; what an earlier stage has counted; where the clock goes back to before anything else is done. And of an earlier
stage: the newest event of a stream, and its clock; what was rejected; rows of a query, whose name follows."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Columns from one map task to one shard.

    `task` and `part` order the payloads of a batch. `probe` is the newest event time that the task saw, None if it saw
    none; of a heartbeat, the wall clock; of a reset, where to; of a clock, the clock. `name` is the space that `body`
    belongs to, or one of the names above. `stream` is whose events it is about; what is for all streams names none.
    """

    shard: int
    task: int
    part: int
    probe: int | None
    name: str
    body: bytes
    untimed: int = 0
    unreadable: int = 0
    impossible: int = 0
    ahead: int = 0
    failed: int = 0
    unplaced: int = 0
    unsent: int = 0
    seam: int = 0
    shed: int = 0
    stream: str = ""
