"""Events that happen as time goes by, written as Parquet files."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

SECOND_US = 1_000_000

Events = Callable[[int, int], pa.Table]
"""The events of [begin, end), in microseconds; asked for one interval after another."""


class LiveFiles:
    """Writes the events of some minutes past, and then those of now, until it is stopped.

    Without `now_us` it is now; with it, the clock shows that at the start and runs `pace` times as fast as ours.
    """

    def __init__(
        self,
        events: Events,
        folder: Path,
        history_seconds: int,
        now_us: int | None = None,
        pace: float = 1.0,
        every_seconds: float = 0.5,
    ) -> None:
        self._events, self._folder, self._every = events, folder, every_seconds
        self._history, self._set_to, self._pace = history_seconds, now_us, pace
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)

    def __enter__(self) -> Self:
        """Begin; from here on there are files, so that readers find the columns."""
        self._started = time.time()
        self._start_us = int(self._started * SECOND_US) if self._set_to is None else self._set_to
        self._write(self._start_us - self._history * SECOND_US, self._start_us)
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        written_us = self._start_us
        while not self._stop.wait(self._every):
            now_us = self._start_us + int((time.time() - self._started) * self._pace * SECOND_US)
            self._write(written_us, now_us)
            written_us = now_us

    def _write(self, begin_us: int, end_us: int) -> None:
        """A file appears whole or not at all: readers pass over names that begin with a dot."""
        name = f"{end_us}.parquet"
        starts = [*range(begin_us, end_us, SECOND_US), end_us]
        events = pa.concat_tables(self._events(*pair) for pair in pairwise(starts))
        pq.write_table(events, self._folder / f".{name}")
        os.replace(self._folder / f".{name}", self._folder / name)
