"""Load shedding in the driver: how far a stream is behind, and which share of its rows the next batch takes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from windrow.places.place import Place
from windrow.plan.nodes.shed import Shed
from windrow.schedule.batch_costs import Seen
from windrow.schedule.shares import next_halvings
from windrow.spark.job.batches import instant_of, last_begun, offsets_of
from windrow.spark.stages.share_note import ShareNote


class Shedding:
    """Decides, at the end of each batch, on the share of the next, and notes it in the checkpoint.

    The delay of a batch is how long its newest rows have waited when it ends. They came when the batch began, or, if it
    read files, when the newest of these was written; and, for what came before this job, when the job was started. To
    that is added what those will wait that the batch has left in a topic. The first batch loads and compiles what the
    others find ready: it decides nothing, and nothing is learnt from it.
    """

    def __init__(self, folder: Place, shed: Shed, source: int, live: bool) -> None:
        """`folder` is that of the stream in the checkpoint, `source` the number of its source there.

        Where a job is not `live`, nobody waits, and all rows are taken.
        """
        self._folder, self._shed, self._source, self._live = folder.absolute(), shed, source, live
        self.note = ShareNote(self._folder)
        self._started_us, self._first = time.time_ns() // 1000, -1
        self._before_us: int | None = None
        begun = last_begun(self._folder)
        known = self.note.place.exists()
        kept = self.note.of(begun + 1) if live and known else 0
        self.note.write(begun + 1, kept, self.note.seen() if known else ())

    def after(self, batch: int, left_us: int = 0, told: Sequence[Mapping[str, Any]] = ()) -> None:
        """Note the share of the batch after this one, which has been written; `left_us` is what its rest will wait.

        `told` are those before it as Spark has told of them: figures of a batch come when it has ended.
        """
        if not self._live:
            return
        delay_us = time.time_ns() // 1000 - max(self._arrived(batch), self._started_us) + left_us
        if self._first < 0:
            self._first = batch
        else:
            seen = self._seen(told)
            halvings = next_halvings(self.note.of(batch), delay_us, self._before_us, self._shed.above_us, seen)
            self.note.write(batch + 1, halvings, seen)
            self._before_us = delay_us

    def _seen(self, told: Sequence[Mapping[str, Any]]) -> list[Seen]:
        """What was noted of the batches before, and those that Spark has told of since."""
        seen = {one.batch: one for one in self.note.seen()}
        for one in told:
            batch, read = one["batch"], one["events"]
            if batch > self._first and batch not in seen:
                taken = max(read - one["shed"], 0)
                seen[batch] = Seen(batch, self.note.of(batch), read, taken, round(1e6 * one["seconds"]))
        return [seen[batch] for batch in sorted(seen)]

    def share(self, batch: int) -> float:
        """The share of rows that a batch takes."""
        return float(0.5 ** self.note.of(batch))

    def _arrived(self, batch: int) -> int:
        """When the newest rows of a batch came, in microseconds."""
        began, offsets = instant_of(self._folder, batch), offsets_of(self._folder, batch)
        at = offsets[self._source] if self._source < len(offsets) else None
        if not isinstance(at, dict) or not isinstance(at.get("logOffset"), int):
            return began
        written = [file["timestamp"] * 1000 for file in self._files(at["logOffset"])]
        return min(began, max(written, default=began))

    def _files(self, number: int) -> list[dict[str, Any]]:
        """The files of one note of Spark's source of files; every tenth has those of all before it, too."""
        log = self._folder / "spark" / "sources" / str(self._source)
        names = set(log.names())
        for name in (str(number), f"{number}.compact"):
            if name in names:
                lines = (log / name).read().decode("utf-8").splitlines()[1:]
                return [file for file in map(json.loads, lines) if file["batchId"] == number]
        return []
