"""The share of rows that each batch of a stream takes, as its checkpoint notes it before the batch runs, and what
batches have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from windrow.places.place import Place
from windrow.schedule.batch_costs import Seen, remembered
from windrow.spark.job.checkpoint import read_back, write_whole
from windrow.spark.stages.ship_tables import batch_number

NOTE = "shed.json"
REMEMBERED = 100
"""For so many batches it is remembered which share they took: as many as Spark may run again."""

Since = list[tuple[int, int]]
"""From which batch on the share is 1, how often halved; the first is from 0 on."""


@dataclass(frozen=True, slots=True)
class ShareNote:
    """The note in the folder of a stream. It may be sent to tasks, which read it anew in each batch."""

    folder: Place

    @property
    def place(self) -> Place:
        return self.folder / NOTE

    def read(self) -> Since:
        return read_back(self.place, _as_since)

    def of(self, batch: int) -> int:
        """How often the share of a batch is halved."""
        return next(halvings for first, halvings in reversed(self.read()) if first <= batch)

    def of_task(self) -> int:
        """The same of the batch that a task is of."""
        return self.of(batch_number())

    def seen(self) -> list[Seen]:
        """The batches that the share was decided by."""
        return read_back(self.place, _as_seen)

    def write(self, first: int, halvings: int, seen: Sequence[Seen] = ()) -> None:
        """Note the share of all batches from `first` on, none of which has begun, and which have been `seen`."""
        known = [(since, own) for since, own in (self.read() if self.place.exists() else [(0, 0)]) if since < first]
        if not known or known[-1][1] != halvings:
            known.append((first, halvings))
        past = [since for since, _ in known if since <= first - REMEMBERED]
        since = [one for one in known if one[0] >= max(past, default=0)]
        write_whole(self.place, {"since": since, "seen": [astuple(one) for one in remembered(seen)]})


def _as_since(content: Any) -> Since:
    since = [(first, halvings) for first, halvings in content["since"]]
    if not since or not all(type(number) is int and number >= 0 for one in since for number in one):
        raise ValueError("a share is none")
    return since


def _as_seen(content: Any) -> list[Seen]:
    seen = [Seen(*one) for one in content.get("seen", [])]  # earlier versions noted none
    if not all(type(number) is int and number >= 0 for one in seen for number in astuple(one)):
        raise ValueError("what was seen is no batch")
    return seen
