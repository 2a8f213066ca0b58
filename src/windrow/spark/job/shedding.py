"""Load shedding in the driver: how far a stream is behind, and which share of its rows the next batch takes."""

from __future__ import annotations

import json
import time
from typing import Any

from windrow.places.place import Place
from windrow.plan.nodes.shed import Shed
from windrow.schedule.shares import next_halvings
from windrow.spark.job.batches import instant_of, last_begun, offsets_of
from windrow.spark.stages.share_note import ShareNote


class Shedding:
    """Decides, at the end of each batch, on the share of the next, and notes it in the checkpoint.

    The delay of a batch is how long its newest rows have waited when it ends. They came when the batch began, or, if it
    read files, when the newest of these was written; and, for what came before this job, when the job was started. To
    that is added what those will wait that the batch has left in a topic. The first batch loads and compiles what the
    others find ready: it decides nothing.
    """

    def __init__(self, folder: Place, shed: Shed, source: int, live: bool) -> None:
        """`folder` is that of the stream in the checkpoint, `source` the number of its source there.

        Where a job is not `live`, nobody waits, and all rows are taken.
        """
        self._folder, self._shed, self._source, self._live = folder.absolute(), shed, source, live
        self.note = ShareNote(self._folder)
        self._started_us, self._decides = time.time_ns() // 1000, False
        self._before_us: int | None = None
        begun = last_begun(self._folder)
        kept = self.note.of(begun + 1) if live and self.note.place.exists() else 0
        self.note.write(begun + 1, kept)

    def after(self, batch: int, left_us: int = 0) -> None:
        """Note the share of the batch after this one, which has been written; `left_us` is what its rest will wait."""
        if not self._live:
            return
        delay_us = time.time_ns() // 1000 - max(self._arrived(batch), self._started_us) + left_us
        if self._decides:
            halvings = next_halvings(self.note.of(batch), delay_us, self._before_us, self._shed.above_us)
            self.note.write(batch + 1, halvings)
            self._before_us = delay_us
        self._decides = True

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
