"""Counts by pane and group as bitmaps: a bit for each group and pane says whether it was seen there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.storage.columns import encode

PANES = "panes"
FLAGS = ".seen"
FEW = 64
"""So few counts take less as columns."""

SPARSE_BYTES = 4
"""Where bitmaps take more than so many bytes for each count, groups are written one by one."""


def as_bitmaps(
    panes: np.ndarray, slots: np.ndarray, counts: dict[str, np.ndarray], flags: dict[str, np.ndarray] | None = None
) -> bytes | None:
    """The counts of groups in panes as a block: what RECURRING looks at (Patroumpas and Sellis 2010, section IV-C).

    Of `flags` there is whether each is set, a bit an entry, and nothing where all are. None where that would be no
    smaller: where there are few, or few of the groups are in each pane, or in no order.

    >>> from windrow.storage.columns import decode
    >>> block = as_bitmaps(np.repeat([5, 7], 40), np.tile(np.arange(40), 2), {"count": np.arange(80) * 9})
    >>> from_bitmaps(decode(block)).slice(41, 2).to_pydict()
    {'pane': [7, 7], 'slot': [1, 2], 'count.n': [369, 378]}
    """
    if len(panes) < FEW:
        return None
    begins = np.flatnonzero(np.concatenate([[True], panes[1:] != panes[:-1]]))
    known = panes[begins]
    first, width = int(slots.min()), int(slots.max()) - int(slots.min()) + 1
    if len(known) * (width + 7) // 8 > SPARSE_BYTES * len(slots):
        return None
    places = np.repeat(np.arange(len(known)), np.diff(np.append(begins, len(panes)))) * width + slots - first
    ordered = bool((np.diff(known) > 0).all() and (np.diff(places) > 0).all())
    if not ordered or any(int(n.min()) < 0 for n in counts.values()):
        return None
    seen = np.zeros(len(known) * width, bool)
    seen[places] = True
    bits = np.packbits(seen.reshape(len(known), width), axis=1)
    columns = {PANES: _one(known), "slots": _one(np.array([first, width])), "seen": _one(bits.ravel())}
    columns |= {f"{name}.n": _one(_narrow(n)) for name, n in counts.items()}
    set_ones = {name: np.packbits(own[:0] if own.all() else own) for name, own in (flags or {}).items()}
    return encode(columns | {f"{name}{FLAGS}": _one(own) for name, own in set_ones.items()})


def is_bitmaps(batch: pa.RecordBatch) -> bool:
    """Whether a block was written by `as_bitmaps`."""
    return PANES in batch.schema.names


def from_bitmaps(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The counts that `as_bitmaps` was given, an entry a row."""
    known, (first, width), bits = (_values(batch, name) for name in (PANES, "slots", "seen"))
    seen = np.unpackbits(bits.reshape(len(known), -1), axis=1, count=int(width))
    panes, slots = np.nonzero(seen)
    columns = {"pane": pa.array(known[panes]), "slot": pa.array(slots + first)}
    for name in batch.schema.names[3:]:
        if name.endswith(FLAGS):
            packed = _values(batch, name)
            own = np.unpackbits(packed, count=len(panes)) if len(packed) else np.ones(len(panes), np.uint8)
            columns[name.removesuffix(FLAGS) + ".n"] = pa.array(own.astype(np.int64))
            continue
        columns[name] = pa.array(_values(batch, name).astype(np.int64))
    return pa.record_batch(list(columns.values()), names=list(columns))


def _one(values: np.ndarray) -> pa.Array:
    """All values in one row: columns of a block are as long as each other."""
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), pa.array(values))


def _values(batch: pa.RecordBatch, name: str) -> np.ndarray:
    values: np.ndarray = batch.column(name).flatten().to_numpy()
    return values


def _narrow(counts: np.ndarray) -> np.ndarray:
    """Counts in as few bytes as hold the largest."""
    types: Sequence[type[np.unsignedinteger]] = (np.uint8, np.uint16, np.uint32, np.uint64)
    most = int(counts.max())
    return counts.astype(next(each for each in types if most <= np.iinfo(each).max))
