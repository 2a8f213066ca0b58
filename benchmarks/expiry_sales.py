"""Sales that happen while a job runs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from .arriving import put
from .expiry_cases import SECOND, arrivals

EVERY = 0.1
"""A file comes so often, in seconds, with the sales of that time."""


class Sales(threading.Thread):
    """Writes the sales of some streams as they happen, and keeps what it wrote."""

    def __init__(self, folder: Path, streams: str, rate: float, seconds: float, items: int) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._given = {stream: arrivals(i, rate, seconds, items) for i, stream in enumerate(streams)}
        self.tables: dict[str, pa.Table] = {}
        self.began_us = self.ended_us = 0

    @property
    def last_us(self) -> int:
        """When the last sale happened that all streams have come to."""
        return min(int(table["ts"].cast(pa.int64())[-1].as_py()) for table in self.tables.values()) - 1

    def run(self) -> None:
        began, number, done = time.time(), 1, dict.fromkeys(self._given, 0)
        self.began_us = int(began * SECOND)
        for stream, given in self._given.items():
            times = pa.array(self.began_us + given.times, pa.timestamp("us", tz="UTC"))
            self.tables[stream] = pa.Table.from_batches([given.rows]).append_column("ts", times)
        while any(done[stream] < len(table) for stream, table in self.tables.items()):
            time.sleep(max(0.0, began + number * EVERY - time.time()))
            for stream, table in self.tables.items():
                until = int(np.searchsorted(self._given[stream].times, (time.time() - began) * SECOND))
                if until > done[stream]:
                    put(self._folder / stream, number, table.slice(done[stream], until - done[stream]))
                    done[stream] = until
            number += 1
        self.ended_us = int(time.time() * SECOND)
