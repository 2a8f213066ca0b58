"""How a job is doing, noted in its checkpoint now and then: who looks from outside disturbs nobody, also afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

from windrow.places.place import AnyPlace, place_of
from windrow.spark.job.checkpoint import write_whole
from windrow.spark.job.progress import Progress

STATUS = "status.json"
EVERY_SECONDS, ELSEWHERE_SECONDS = 2.0, 30.0
"""How often the note is written; elsewhere than on this machine each is a request that may be paid for."""


class StatusNote:
    """Writes the note in a thread of its own, until `end` or until the job does not `live` any more."""

    def __init__(
        self,
        checkpoint: AnyPlace,
        progress: Callable[[], Progress],
        queries: Callable[[], list[str]],
        lives: Callable[[], bool],
        keep_statistics: Callable[[], None] = lambda: None,
    ) -> None:
        """`keep_statistics` notes what streams are like, beside how they do."""
        self._keep_statistics = keep_statistics
        self._place, self._progress = place_of(checkpoint) / STATUS, progress
        self._queries, self._lives, self._ended = queries, lives, Event()
        self._every = EVERY_SECONDS if self._place.is_local else ELSEWHERE_SECONDS
        self._began, self._state = _now(), "running"
        self._thread = Thread(target=self._keep, name="windrow status", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Write the last note: that the job was stopped, if it had not ended by itself."""
        if not self._ended.is_set():
            self._ended.set()
            if self._state != "ended":
                self._write("stopped")

    def over(self) -> None:
        """Write that the job has ended by itself: the process may end before the next note."""
        if not self._ended.is_set():
            self._write("ended")

    def _keep(self) -> None:
        while not self._ended.wait(self._every):
            try:
                lives = self._lives()
            except Exception:  # Spark is gone, and the job with it: whoever waits for the job is told
                return
            if not lives:
                self.over()
                return
            self._write("running")

    def _write(self, state: str) -> None:
        with suppress(Exception):  # what cannot be written now is written later; the checkpoint may be gone already
            write_whole(self._place, self.said(state))
            self._keep_statistics()
            self._state = state

    def said(self, state: str) -> dict[str, Any]:
        """The note: when it was written, since when the job runs, its queries, and `job.progress()`."""
        return {
            "state": state,
            "began": self._began,
            "written": _now(),
            "queries": self._queries(),
            "streams": self._progress().to_dict(),
        }


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds")
