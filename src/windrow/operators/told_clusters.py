"""The clusters of every group as they were told last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.clustering.identity import Seen
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks

_NUMBERS = ("numbers", "radii", "counts")


@dataclass(frozen=True, slots=True)
class Told:
    """The clusters of a group, since when the row of each stands, and the rows."""

    seen: Seen
    since: np.ndarray
    columns: tuple[pa.Array, ...]


class ToldClusters:
    """By slot of a group, in chunks of slots of which only the touched ones are written."""

    def __init__(
        self,
        types: Sequence[pa.DataType],
        dimensions: int,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        empty, none = np.empty(0, np.int64), np.empty(0)
        self.nothing = Seen(empty, empty, np.empty((0, dimensions)), none, empty)
        self._empty = Told(self.nothing, empty, tuple(pa.array([], type) for type in types))
        self._dimensions = dimensions
        self._chunks = SlotChunks(family, blocks, snapshot, keeps=False)
        self._told: list[Told] = []
        for batch in self._chunks.load():
            self._told += self._loaded(batch)

    def of(self, slot: int) -> Told:
        return self._told[slot] if slot < len(self._told) else self._empty

    def put(self, slot: int, told: Told) -> None:
        self._grow(slot + 1)
        self._told[slot] = told
        self._chunks.touch(np.array([slot]))

    def sweep(self, kept: np.ndarray) -> None:
        """Groups have been numbered anew: slot i was `kept[i]`."""
        self._told = [self.of(slot) for slot in kept.tolist()]
        self._chunks.touch(np.arange(len(kept)))

    @property
    def nbytes(self) -> int:
        return sum(told.seen.nbytes + sum(column.nbytes for column in told.columns) for told in self._told)

    def save(self, version: int, groups: int) -> None:
        self._grow(groups)
        self._chunks.save(self._saved, groups, version)

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    def _grow(self, groups: int) -> None:
        self._told += [self._empty] * (groups - len(self._told))

    def _saved(self, slots: slice) -> dict[str, pa.Array]:
        """Lists with an element a cluster."""
        told = self._told[slots]
        offsets = pa.array(np.cumsum([0, *(len(each.seen) for each in told)]).astype(np.int32))
        columns = {
            name: [pa.array(getattr(each.seen, name)) for each in told] for name in ("numbers", "radii", "counts")
        }
        for axis in range(self._dimensions):
            columns[f"center_{axis}"] = [pa.array(each.seen.centers[:, axis]) for each in told]
        columns["since"] = [pa.array(each.since) for each in told]
        columns |= {f"row_{i}": [each.columns[i] for each in told] for i in range(len(self._empty.columns))}
        return {
            name: pa.ListArray.from_arrays(offsets, pa.concat_arrays(parts)) for name, parts in columns.items() if parts
        }

    def _loaded(self, batch: pa.RecordBatch) -> list[Told]:
        if not batch.num_rows:
            return []
        offsets = batch.column("numbers").offsets.to_numpy()
        flat = {name: batch.column(name).flatten() for name in batch.schema.names if name != "rows"}
        numbers, radii, counts, since = (flat[name].to_numpy() for name in ("numbers", "radii", "counts", "since"))
        centers = np.stack([flat[f"center_{axis}"].to_numpy() for axis in range(self._dimensions)], axis=1)
        rows = [flat[f"row_{i}"] for i in range(len(self._empty.columns))]
        found = []
        for begin, end in zip((offsets - offsets[0]).tolist(), (offsets[1:] - offsets[0]).tolist()):
            part = slice(begin, end)
            none = np.zeros(end - begin, np.int64)
            seen = Seen(none, numbers[part], centers[part], radii[part], counts[part])
            found.append(Told(seen, since[part], tuple(column.slice(begin, end - begin) for column in rows)))
        return found
