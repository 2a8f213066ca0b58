"""Events of one stream as rows for pipelines over changes, each to the shard of its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.regrouped import EVERYWHERE
from windrow.plan.nodes.stream_plan import SpreadScan
from windrow.runtime.keys import encode_keys, spread
from windrow.runtime.reject import TIME

ROWS = "rows "
"""What the names of payloads begin with that have the rows of a leaf; its number follows."""


class LeafRows:
    """The rows that each scan reads of some events; `names` are the columns that hold row expressions."""

    def __init__(self, scans: Sequence[SpreadScan], names: Mapping[str, str], shards: Sequence[int]) -> None:
        self._scans, self._names, self._shards = scans, names, shards

    def sent(self, batch: pa.RecordBatch, timed: np.ndarray) -> Iterator[tuple[int, str, pa.RecordBatch]]:
        """What goes to which shard, and under which name; only events that are `timed` can be used."""
        for spread_scan in self._scans:
            rows = self._rows(spread_scan, batch, timed)
            if rows.num_rows:
                for shard, part in by_shard(rows, spread_scan.columns, self._shards):
                    yield shard, f"{ROWS}{spread_scan.number}", part

    def _rows(self, spread_scan: SpreadScan, batch: pa.RecordBatch, timed: np.ndarray) -> pa.RecordBatch:
        scan, chosen = spread_scan.scan, timed
        if scan.where is not None:
            passed = pc.fill_null(batch.column(self._names[scan.where]), False)
            chosen = chosen & passed.to_numpy(zero_copy_only=False)
        columns = [pc.cast(batch.column(TIME), pa.int64())]
        columns += [batch.column(self._names[text]) for text in scan.texts]
        rows = pa.record_batch(columns, names=[TIME, *(column.name for column in scan.read)])
        return rows if chosen.all() else rows.filter(pa.array(chosen))


def by_shard(rows: pa.RecordBatch, key: Sequence[str], shards: Sequence[int]) -> list[tuple[int, pa.RecordBatch]]:
    """The rows for each shard that gets any; without a key, all are for the first."""
    if tuple(key) == EVERYWHERE:
        return [(shard, rows) for shard in shards]
    if len(shards) == 1 or not key:
        return [(shards[0], rows)]
    owners, groups = encode_keys([rows.column(name) for name in key], rows.num_rows)
    places = spread(groups, len(shards))[owners]
    parts = [(shard, rows.filter(pa.array(places == i))) for i, shard in enumerate(shards)]
    return [(shard, part) for shard, part in parts if part.num_rows]
