"""The leaf of a plan over changes: events of a stream, once the clock has reached them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import NEVER, Changes, nothing
from windrow.operators.pending_changes import PendingChanges
from windrow.plan.nodes.changes import Scan
from windrow.storage.blocks import Blocks, Snapshot


class ScanRows:
    """Puts events in order of time; those that the clock had passed before they came are late and only counted."""

    def __init__(self, node: Scan, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._range = node.range_us
        self._types = [column.type for column in node.columns]
        snapshot = snapshot or {"clock": None, "waiting": None}
        self.clock: int | None = snapshot["clock"]
        self._waiting = PendingChanges(self._types, family, blocks, snapshot["waiting"])
        self.late = 0

    def add(self, times: np.ndarray, columns: Sequence[pa.Array]) -> None:
        """Events as they arrive, with their times in microseconds."""
        until = np.full(len(times), NEVER) if self._range is None else times + self._range
        arrived = Changes(times, times, until, np.ones(len(times), np.int64), tuple(columns))
        if self.clock is not None:
            timely = times > self.clock
            self.late += len(times) - int(timely.sum())
            arrived = arrived.keep(timely) if len(times) else arrived
        self._waiting.add(arrived, arrived.times)

    @property
    def nbytes(self) -> int:
        return self._waiting.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        assert not inputs
        self.clock = clock if self.clock is None else max(clock, self.clock)
        changes, _ = self._waiting.take(clock)
        return changes if len(changes) else nothing(self._types)

    def save(self, version: int) -> None:
        self._waiting.save(version)

    def snapshot(self) -> Snapshot:
        return {"clock": self.clock, "waiting": self._waiting.snapshot()}
