"""Events of one stream as rows for pipelines over changes, each to the shard of its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.distributed import SHARD
from windrow.plan.nodes.regrouped import EVERYWHERE
from windrow.plan.nodes.stream_plan import SpreadScan
from windrow.runtime.keys import spread_rows
from windrow.runtime.reject import TIME
from windrow.runtime.slice.distribution import shards_of

ROWS = "rows "
"""What the names of payloads begin with that have the rows of a leaf; its number follows."""


class LeafRows:
    """The rows that each scan reads of some events; `names` are the columns that hold row expressions."""

    def __init__(self, scans: Sequence[SpreadScan], names: Mapping[str, str], shards: Sequence[int]) -> None:
        self._scans, self._names, self._shards = scans, names, shards

    def sent(
        self, batch: pa.RecordBatch, timed: np.ndarray, unsent: np.ndarray
    ) -> Iterator[tuple[int, str, pa.RecordBatch]]:
        """What goes to which shard, and under which name; only events that are `timed` can be used.

        Which events go to a shard that there is not is noted in `unsent`.
        """
        for spread_scan in self._scans:
            rows = self._rows(spread_scan, batch, timed, unsent)
            if rows.num_rows:
                by, shards = spread_scan.columns, self._shards
                parts = by_number(rows, SHARD, shards) if by == (SHARD,) else by_shard(rows, by, shards)
                for shard, part in parts:
                    yield shard, f"{ROWS}{spread_scan.number}", part

    def _rows(
        self, spread_scan: SpreadScan, batch: pa.RecordBatch, timed: np.ndarray, unsent: np.ndarray
    ) -> pa.RecordBatch:
        scan, chosen = spread_scan.scan, timed
        if scan.where is not None:
            passed = pc.fill_null(batch.column(self._names[scan.where]), False)
            chosen = chosen & passed.to_numpy(zero_copy_only=False)
        columns = [pc.cast(batch.column(TIME), pa.int64())]
        columns += [batch.column(self._names[text]) for text in scan.texts]
        rows = pa.record_batch(columns, names=[TIME, *(column.name for column in scan.read)])
        if scan.by is not None:
            return _copies(rows, chosen, spread_scan.shards or len(self._shards), unsent)
        return rows if chosen.all() else rows.filter(pa.array(chosen))


def _copies(rows: pa.RecordBatch, chosen: np.ndarray, shards: int, unsent: np.ndarray) -> pa.RecordBatch:
    """The rows that are `chosen`, a copy for each shard that one goes to; those without a shard are `unsent`."""
    copied, numbers, nowhere = shards_of(rows.column(SHARD), shards)
    unsent |= chosen & nowhere
    kept = (chosen & ~nowhere)[copied]
    rows = rows.take(pa.array(copied[kept]))
    place = rows.schema.get_field_index(SHARD)
    return rows.set_column(place, SHARD, pa.array(numbers[kept]))


def by_number(rows: pa.RecordBatch, column: str, shards: Sequence[int]) -> list[tuple[int, pa.RecordBatch]]:
    """The rows for each shard by its number; where there is one shard, it is all of them."""
    if len(shards) == 1:
        return [(shards[0], rows)]
    numbers = rows.column(column).to_numpy()
    return [(shards[number], rows.filter(pa.array(numbers == number))) for number in np.unique(numbers).tolist()]


def by_shard(rows: pa.RecordBatch, key: Sequence[str], shards: Sequence[int]) -> list[tuple[int, pa.RecordBatch]]:
    """The rows for each shard that gets any; without a key, all are for the first."""
    if tuple(key) == EVERYWHERE:
        return [(shard, rows) for shard in shards]
    if len(shards) == 1 or not key:
        return [(shards[0], rows)]
    places = spread_rows([rows.column(name) for name in key], rows.num_rows, len(shards))
    parts = [(shard, rows.filter(pa.array(places == i))) for i, shard in enumerate(shards)]
    return [(shard, part) for shard, part in parts if part.num_rows]
