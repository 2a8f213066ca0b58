"""Events of one stream into rows for the shards, for queries over changes: what a map task does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.plan.nodes.changes import Scan
from windrow.runtime.keys import encode_keys, spread
from windrow.runtime.payload import REJECTED, TALLIES, Payload
from windrow.runtime.reject import TIME, Usable, raw_rows
from windrow.runtime.slice.events import add_tallies, expression_column
from windrow.storage.columns import encode_batch

PROBE, ROWS = "probe ", "rows "
"""What the names of payloads begin with: the newest time of a stream, and the rows of a scan."""


class ChangeSlicer:
    """Sends each event that a scan reads to the shard of its key, and the newest time to all."""

    def __init__(self, plan: ChangesPlan, stream: str, task: int, shards: Sequence[int]) -> None:
        self._stream, self._task, self._shards = stream, task, list(shards)
        self._names = {text: expression_column(i) for i, text in enumerate(plan.expressions_of(stream))}
        self._scans = plan.scans_of(stream)
        self._keeps_rejected, self._ahead_us = plan.keeps_rejected, plan.ahead_of(stream)
        self._probe: int | None = None
        self._tallies = dict.fromkeys(TALLIES, 0)
        self._packed: list[Payload] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events."""
        usable = Usable(batch, self._ahead_us)
        add_tallies(self._tallies, usable, batch)
        if self._keeps_rejected:
            raw = raw_rows(batch, usable)
            self._packed.append(self._payload(self._own, f"{REJECTED} {self._stream}", raw))
        if not usable.timed.any():
            return
        newest = int(usable.times.max())
        self._probe = newest if self._probe is None else max(self._probe, newest)
        for number, scan, key in self._scans:
            self._send(number, scan, key, batch, usable.timed)

    def payloads(self) -> list[Payload]:
        """All that the shards must know of the events taken in."""
        if self._probe is None and not any(self._tallies.values()):
            return self._packed
        counted = {self._own: self._tallies}
        probes = [
            Payload(shard, self._task, 0, self._probe, PROBE + self._stream, b"", **counted.get(shard, {}))
            for shard in self._shards
        ]
        return [*probes, *self._packed]

    def _send(self, number: int, scan: Scan, key: tuple[str, ...], batch: pa.RecordBatch, timed: np.ndarray) -> None:
        chosen = timed
        if scan.where is not None:
            passed = pc.fill_null(batch.column(self._names[scan.where]), False)
            chosen = chosen & passed.to_numpy(zero_copy_only=False)
        rows = pa.record_batch(
            [pc.cast(batch.column(TIME), pa.int64()), *(batch.column(self._names[text]) for text in scan.texts)],
            names=[TIME, *(column.name for column in scan.read)],
        ).filter(pa.array(chosen))
        if not rows.num_rows:
            return
        for shard, part in by_shard(rows, key, self._shards):
            self._packed.append(self._payload(shard, f"{ROWS}{number}", part))

    @property
    def _own(self) -> int:
        """The shard that counts what this task has seen."""
        return self._shards[self._task % len(self._shards)]

    def _payload(self, shard: int, name: str, rows: pa.RecordBatch) -> Payload:
        body = encode_batch(rows)
        return Payload(shard, self._task, len(self._packed) + 1, self._probe, name, body)


def by_shard(rows: pa.RecordBatch, key: Sequence[str], shards: Sequence[int]) -> list[tuple[int, pa.RecordBatch]]:
    """The rows for each shard that gets any; without a key, all are for the first."""
    if len(shards) == 1 or not key:
        return [(shards[0], rows)]
    owners, groups = encode_keys([rows.column(name) for name in key], rows.num_rows)
    places = spread(groups, len(shards))[owners]
    parts = [(shard, rows.filter(pa.array(places == i))) for i, shard in enumerate(shards)]
    return [(shard, part) for shard, part in parts if part.num_rows]
