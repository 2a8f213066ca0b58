"""The share of rows that each batch of a stream takes, as its checkpoint notes it: written before the batch runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from windrow.places.place import Place
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

    def write(self, first: int, halvings: int) -> None:
        """Note the share of all batches from `first` on, none of which has begun."""
        known = [(since, own) for since, own in (self.read() if self.place.exists() else [(0, 0)]) if since < first]
        if not known or known[-1][1] != halvings:
            known.append((first, halvings))
        past = [since for since, _ in known if since <= first - REMEMBERED]
        write_whole(self.place, {"since": [one for one in known if one[0] >= max(past, default=0)]})


def _as_since(content: Any) -> Since:
    since = [(first, halvings) for first, halvings in content["since"]]
    if not since or not all(type(number) is int and number >= 0 for one in since for number in one):
        raise ValueError("a share is none")
    return since
