"""Sessions that have not ended: what each group of each of them has come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, concat, grow, identity, reset, take, to_arrow
from windrow.kernels.footprint import bytes_of
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks
from windrow.windows.entries import fields_of

NUMBERS = ("owner", "group", "start", "last")
"""The columns of blocks beside the partials."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Parts of sessions: row i is what the group in slot `groups[i]` has in a session of the key `owners[i]`.

    `starts` and `lasts` are when the first and the last row of the session happened, of whatever group.
    """

    owners: np.ndarray
    groups: np.ndarray
    starts: np.ndarray
    lasts: np.ndarray
    partials: tuple[Fields, ...]

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def numbers(self) -> tuple[np.ndarray, ...]:
        """The columns that are not partials."""
        return self.owners, self.groups, self.starts, self.lasts

    def part(self, rows: np.ndarray) -> Pieces:
        """Some of the rows, by position or by mask."""
        partials = tuple(take(fields, rows) for fields in self.partials)
        return Pieces(self.owners[rows], self.groups[rows], self.starts[rows], self.lasts[rows], partials)


def joined(parts: Sequence[Pieces]) -> Pieces:
    """All rows of `parts`, in their order."""
    if len(parts) == 1:
        return parts[0]
    owners, groups, starts, lasts = map(np.concatenate, zip(*(part.numbers for part in parts)))
    partials = tuple(concat([part.partials[i] for part in parts]) for i in range(len(parts[0].partials)))
    return Pieces(owners, groups, starts, lasts, partials)


class OpenSessions:
    """A place for each group of each open session; a batch writes the chunks whose places it has changed.

    Places of sessions that have gone are given to new ones, the lowest first.
    """

    def __init__(
        self, kernels: Mapping[str, Kernel], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._kernels = kernels
        self._chunks = SlotChunks(family, blocks, snapshot)
        self._taken = np.zeros(0, bool)
        none = np.empty(0, np.int64)
        self._held = Pieces(none, none, none, none, tuple(identity(kernel, 0) for kernel in kernels.values()))
        self._loaded = snapshot is None

    def adopt(self, older: OpenSessions) -> None:
        """Take over the chunks that an `older` view has read and nobody has written since."""
        self._chunks.adopt(older._chunks)

    def of(self, owners: np.ndarray) -> np.ndarray:
        """The places of all sessions of some keys, in order of their starts."""
        self._load()
        asked = np.zeros(max(int(owners.max(initial=-1)), int(self._held.owners.max(initial=-1))) + 1, bool)
        asked[owners] = True
        places = np.flatnonzero(self._taken & asked[self._held.owners])
        return places[np.argsort(self._held.starts[places], kind="stable")]

    def of_groups(self, slots: np.ndarray) -> np.ndarray:
        """The places of what the groups in `slots` have."""
        self._load()
        return np.flatnonzero(self._taken & np.isin(self._held.groups, slots))

    def ended(self, before: int) -> np.ndarray:
        """The places of the sessions whose last row was before an instant."""
        self._load()
        return np.flatnonzero(self._taken & (self._held.lasts < before))

    def begun(self, after: int) -> np.ndarray:
        """The places of the sessions whose first row was after an instant."""
        self._load()
        return np.flatnonzero(self._taken & (self._held.starts > after))

    def at(self, places: np.ndarray) -> Pieces:
        """What stands at `places`."""
        return self._held.part(places)

    def put(self, pieces: Pieces) -> None:
        """Give each of `pieces` a place."""
        self._load()
        if not len(pieces):
            return
        width = len(self._taken)
        free = np.flatnonzero(~self._taken)[: len(pieces)]
        places = np.concatenate([free, np.arange(width, width + len(pieces) - len(free))])
        self._resize(max(width, int(places[-1]) + 1))
        for column, new in zip(self._held.numbers, pieces.numbers):
            column[places] = new
        for fields, given in zip(self._held.partials, pieces.partials):
            for name, values in given.items():
                fields[name][places] = values
        self._taken[places] = True
        self._chunks.touch(places)

    def drop(self, places: np.ndarray) -> None:
        """Let go of what stands at `places`."""
        self._taken[places] = False
        for kernel, fields in zip(self._kernels.values(), self._held.partials):
            reset(kernel, fields, places)
        self._chunks.touch(places)
        last = np.flatnonzero(self._taken)[-1:]
        self._resize(int(last[0]) + 1 if len(last) else 0)

    @property
    def nbytes(self) -> int:
        numbers = sum(int(column.nbytes) for column in self._held.numbers)
        return self._chunks.nbytes + numbers + sum(map(bytes_of, self._held.partials))

    def save(self, version: int) -> None:
        if self._loaded:
            self._chunks.save(self._columns, len(self._taken), version)

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    def _columns(self, places: slice) -> dict[str, pa.Array]:
        held = self._held
        columns = {"taken": pa.array(self._taken[places])}
        columns |= {name: pa.array(column[places].copy()) for name, column in zip(NUMBERS, held.numbers)}
        for (name, kernel), fields in zip(self._kernels.items(), held.partials):
            part = {field: column[places] for field, column in fields.items()}
            columns |= {f"{name}.{field}": column for field, column in to_arrow(kernel, part).items()}
        return columns

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        batches = self._chunks.load()
        if batches:
            self._taken = np.concatenate([batch.column("taken").to_numpy(zero_copy_only=False) for batch in batches])
            self._held = joined([_pieces(self._kernels, batch) for batch in batches])
            self._resize(len(self._taken))

    def _resize(self, width: int) -> None:
        """There are `width` places; also, all columns are such as can be written to."""
        held, kept = self._held, min(width, len(self._taken))
        self._taken = _resized(self._taken, width)
        owners, groups, starts, lasts = (_resized(column, width) for column in held.numbers)
        partials = tuple(
            grow(kernel, {name: column[:kept] for name, column in fields.items()}, width)
            for kernel, fields in zip(self._kernels.values(), held.partials)
        )
        self._held = Pieces(owners, groups, starts, lasts, partials)


def _resized(column: np.ndarray, width: int) -> np.ndarray:
    resized = np.zeros(width, column.dtype)
    resized[: len(column)] = column[:width]
    return resized


def _pieces(kernels: Mapping[str, Kernel], batch: pa.RecordBatch) -> Pieces:
    owners, groups, starts, lasts = (batch.column(name).to_numpy() for name in NUMBERS)
    partials = tuple(fields_of(kernel, name, batch) for name, kernel in kernels.items())
    return Pieces(owners, groups, starts, lasts, partials)
