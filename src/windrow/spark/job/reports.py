"""What another process tells of the batches that it wrote: a small file for each, beside the checkpoint of a stream."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from windrow.places.place import Place

KEPT = 100
"""So many are kept: Spark itself tells of no more batches than that."""

_FOLDER = "reports"


@dataclass(frozen=True, slots=True)
class Report:
    """A batch: rows by query, microseconds by query and by sink, and the seconds that writing all of it took."""

    rows: dict[str, int]
    query_us: dict[str, int]
    sink_us: dict[str, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of a stream, in its `folder` of the checkpoint."""

    folder: Place

    def make(self) -> None:
        """Make room for them."""
        (self.folder / _FOLDER).make_folder()

    def write(self, batch: int, report: Report) -> None:
        """Tell of a batch before it is committed; one that runs again replaces what it told."""
        self._place(batch).write(json.dumps(asdict(report)).encode())
        if batch >= KEPT:
            self._place(batch - KEPT).delete()

    def of(self, batch: int) -> Report | None:
        """What was told of a batch, if it is still there."""
        with suppress(OSError, ValueError, TypeError):
            return Report(**json.loads(self._place(batch).read()))
        return None

    def _place(self, batch: int) -> Place:
        return self.folder / _FOLDER / f"{batch:09d}.json"
