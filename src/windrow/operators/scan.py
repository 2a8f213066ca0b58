"""The leaf of a plan over changes: events of a stream, once the clock has reached them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import NEVER, Changes
from windrow.operators.pending_changes import HoldsPending
from windrow.plan.nodes.changes import Scan
from windrow.storage.blocks import Blocks, Snapshot


class ScanRows(HoldsPending):
    """Puts events in order of time; those that the clock had passed before they came are late and only counted.

    With `slides`, answers are those of windows, and the clock is at the end of the last that was answered. Then an
    event that comes late is there from now on, until when it would have been: the next windows hold it, too.
    """

    def __init__(
        self, node: Scan, family: str, blocks: Blocks, snapshot: Snapshot | None = None, slides: bool = False
    ) -> None:
        self._range, self._slides = node.range_us, slides
        snapshot = snapshot or {"clock": None, "waiting": None}
        self.clock: int | None = snapshot["clock"]
        super().__init__(node.types, family, blocks, snapshot["waiting"])
        self.late = 0

    def add(self, times: np.ndarray, columns: Sequence[pa.Array]) -> None:
        """Events as they arrive, with their times in microseconds."""
        until = np.full(len(times), NEVER) if self._range is None else times + self._range
        since = times
        if self._slides and self.clock is not None:
            times = np.maximum(times, self.clock + 1)
        arrived = Changes(times, since, until, np.ones(len(times), np.int64), tuple(columns))
        if self.clock is not None:
            timely = until > times if self._slides else times > self.clock
            self.late += len(times) - int(timely.sum())
            arrived = arrived.keep(timely) if len(times) else arrived
        self._waiting.add(arrived, arrived.times)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        assert not inputs
        self.clock = clock if self.clock is None else max(clock, self.clock)
        return self._waiting.take(clock)[0]

    def snapshot(self) -> Snapshot:
        return {"clock": self.clock, "waiting": self._waiting.snapshot()}
