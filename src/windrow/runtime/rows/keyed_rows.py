"""The rows that windows by key still need, in blocks in the order of their arrival."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from windrow.kernels import Kernel
from windrow.kernels.kernel import Field, integer
from windrow.runtime.rows.row_times import Instant
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.kept_blocks import KeptBlocks, versions_in
from windrow.storage.working_set import NoRoomError
from windrow.windows.entries import Entries, EntryCodec, joined, nothing

BLOCK_ROWS = 16_384
"""A block is cut once it has so many rows."""

COPIES = 2
"""Rows that are put together are there once more in the order that they are folded in."""

Needed = Callable[[Entries], np.ndarray]
"""Tells which rows some later window may hold."""


class Place(Instant):
    """When a row happened, and the slot of the key that it is counted by, as columns beside its partials."""

    fields: tuple[Field, ...] = (integer("time"), integer("owner"))


@dataclass(slots=True)
class _Block:
    number: int
    rows: int


class KeyedRows:
    """A log that is written at its end and swept anywhere: rows of quick keys leave holes among those of slow ones.

    A block half of whose rows no window needs any more is let go, and the other half moves to the end (as
    log-structured file systems clean their segments: Rosenblum and Ousterhout, 1992). So a row is written about twice
    in its life, and the state is at most twice what is needed.
    """

    def __init__(
        self, family: str, kernels: Sequence[Kernel], blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._kernels = tuple(kernels)
        snapshot = snapshot or {"next": 0, "blocks": []}
        self._next: int = snapshot["next"]
        self._blocks = [_Block(block["number"], block["rows"]) for block in snapshot["blocks"]]
        codec = EntryCodec({str(number): kernel for number, kernel in enumerate(kernels)})
        self._kept = KeptBlocks(family, blocks, codec, self._distances, versions_in(snapshot))

    def adopt(self, older: KeyedRows) -> None:
        """Take over the blocks that an `older` view has decoded and nobody has written since."""
        self._kept.adopt(older._kept)

    def __len__(self) -> int:
        return sum(block.rows for block in self._blocks)

    def add(self, rows: Entries) -> None:
        """Put rows at the end."""
        last = self._blocks[-1] if self._blocks else None
        if len(rows) and last is not None and last.rows + len(rows) <= BLOCK_ROWS:
            self._set(last, joined([self._kept.get(last.number), rows]))
            return
        for start in range(0, len(rows), BLOCK_ROWS):
            self._blocks.append(_Block(self._next, 0))
            self._next += 1
            self._set(self._blocks[-1], rows.part(slice(start, start + BLOCK_ROWS)))

    def rows(self, needed: Needed) -> Entries:
        """The rows that are `needed`, in no order; raises NoRoomError if they cannot be in memory together."""
        parts, size, fits = [], 0, True
        for block in self._blocks:
            rows = self._kept.get(block.number)
            chosen = needed(rows)
            part = rows if chosen.all() else rows.part(chosen)
            size += COPIES * part.nbytes
            fits = fits and self._kept.has_room(size)
            if fits:
                parts.append(part)
            else:  # from now on all that is wanted is their size
                parts.clear()
        if not fits:
            raise NoRoomError(size)
        return joined(parts) if parts else nothing(self._kernels)

    def sweep(self, were: Needed, needed: Needed) -> Entries:
        """Let go of rows that are not `needed`, where they are many; returns those that `were` and are no more."""
        gone, moving = [], []
        for block in list(self._blocks):
            rows = self._kept.get(block.number)
            chosen = needed(rows)
            left = ~chosen & were(rows)
            if left.any():
                gone.append(rows.part(left))
            if 2 * int(chosen.sum()) < block.rows:
                moving.append(rows.part(chosen))
                self._drop(block)
        for rows in moving:
            self.add(rows)
        return joined(gone) if gone else nothing(self._kernels)

    def keep(self, needed: Needed) -> None:
        """Let go of all rows that are not `needed`, however few."""
        for block in list(self._blocks):
            rows = self._kept.get(block.number)
            chosen = needed(rows)
            if not chosen.any():
                self._drop(block)
            elif not chosen.all():
                self._set(block, rows.part(chosen))

    def save(self, version: int) -> None:
        """Write what has changed since the last save."""
        self._kept.save(version)

    def snapshot(self) -> Snapshot:
        versions = self._kept.versions
        blocks = [asdict(block) | {"version": versions[block.number]} for block in self._blocks]
        return {"next": self._next, "blocks": blocks}

    def _set(self, block: _Block, rows: Entries) -> None:
        block.rows = len(rows)
        self._kept.put(block.number, rows)

    def _drop(self, block: _Block) -> None:
        self._blocks.remove(block)
        self._kept.drop(block.number)

    def _distances(self) -> dict[int, float]:
        """All blocks are looked through at every batch, from the first on."""
        return {block.number: place for place, block in enumerate(self._blocks)}
