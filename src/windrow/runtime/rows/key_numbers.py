"""A few numbers of each key, by slot."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks


class KeyNumbers:
    """Columns of int64 with an element a key, named in `names` and held as attributes; new keys begin with 0."""

    names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._chunks = SlotChunks(family, blocks, snapshot)
        self._loaded = snapshot is None
        for name in self.names:
            setattr(self, name, np.zeros(0, np.int64))

    def adopt(self, older: KeyNumbers) -> None:
        self._chunks.adopt(older._chunks)

    def widen(self, width: int) -> None:
        """There are keys in `width` slots now; what stood in slots behind them is gone."""
        if not self._loaded:
            self._loaded = True
            batches = self._chunks.load()
            for name in self.names if batches else ():
                setattr(self, name, np.concatenate([batch.column(name).to_numpy() for batch in batches]))
        known = self._width
        if known == width:
            return
        self._chunks.touch(np.arange(known, width))
        for name in self.names:
            numbers = np.zeros(width, np.int64)
            numbers[:known] = getattr(self, name)[:width]
            setattr(self, name, numbers)

    def forget(self, owners: np.ndarray) -> None:
        """Nobody remembers these keys: should they come again, they are new."""
        for name in self.names:
            numbers = getattr(self, name).copy()
            numbers[owners] = 0
            setattr(self, name, numbers)
        self._chunks.touch(owners)

    @property
    def nbytes(self) -> int:
        return self._chunks.nbytes + sum(int(getattr(self, name).nbytes) for name in self.names)

    def save(self, version: int) -> None:
        if self._loaded:
            self._chunks.save(self._part, self._width, version)

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    @property
    def _width(self) -> int:
        return len(getattr(self, self.names[0]))

    def _part(self, slots: slice) -> dict[str, pa.Array]:
        return {name: pa.array(getattr(self, name)[slots]) for name in self.names}
