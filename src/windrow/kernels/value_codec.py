"""Values with their counts as Arrow, for blocks and payloads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import frozen
from windrow.kernels.value_runs import ValueRuns
from windrow.kernels.value_versions import Version


class ValueCodec:
    """A list of keys with counts for each slot; NULL where there are none.

    >>> column = ValueCodec().to_arrow(np.array([7, None], object))
    >>> column.to_pylist(), ValueCodec().from_arrow(column).tolist()
    ([[{'key': 7, 'count': 1}], None], [7, None])
    """

    TYPE = pa.list_(pa.struct([("key", pa.int64()), ("count", pa.int64())]))

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        known = np.array([values is not None for values in objects], bool)
        elements = [values.index().runs() if isinstance(values, Version) else values for values in objects[known]]
        lengths = np.zeros(len(objects), np.int64)
        if any(isinstance(values, ValueRuns) for values in elements):
            lengths[known] = [len(values.keys) if isinstance(values, ValueRuns) else 1 for values in elements]
            keys = np.concatenate([v.keys if isinstance(v, ValueRuns) else np.array([v]) for v in elements])
            counts = np.concatenate([v.counts if isinstance(v, ValueRuns) else np.ones(1, np.int64) for v in elements])
        else:
            lengths[known] = 1
            keys, counts = np.array(elements, np.int64), np.ones(len(elements), np.int64)
        items = pa.StructArray.from_arrays([pa.array(keys), pa.array(counts)], fields=list(self.TYPE.value_type))
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), items, type=self.TYPE, mask=pa.array(~known))

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        objects = np.empty(len(column), object)
        known = column.is_valid().to_numpy(zero_copy_only=False)
        offsets = column.offsets.to_numpy()
        keys, counts = (frozen(child.to_numpy()) for child in column.values.flatten())
        single = known & (np.diff(offsets) == 1)
        single[single] = counts[offsets[:-1][single]] == 1
        objects[single] = keys[offsets[:-1][single]].tolist()
        for slot in np.flatnonzero(known & ~single).tolist():
            own = slice(offsets[slot], offsets[slot + 1])
            objects[slot] = ValueRuns(keys[own], counts[own])
        return objects
