"""Partials by pane and group, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, concat, from_arrow, identity, to_arrow
from windrow.kernels.columns import frozen
from windrow.kernels.count import Count
from windrow.kernels.footprint import bytes_of, sizes_of
from windrow.kernels.seen import Seen
from windrow.storage.columns import decode, encode
from windrow.windows.seen_items import as_bitmaps, from_bitmaps, is_bitmaps


@dataclass(frozen=True, slots=True)
class Entries:
    """Entry i is what pane `panes[i]` holds of the group in slot `slots[i]`, with one set of fields for each kernel."""

    panes: np.ndarray
    slots: np.ndarray
    partials: tuple[Fields, ...]

    def __len__(self) -> int:
        return len(self.panes)

    @property
    def nbytes(self) -> int:
        return self.panes.nbytes + self.slots.nbytes + sum(map(bytes_of, self.partials))

    @property
    def sizes(self) -> np.ndarray | int:
        """What each entry takes in memory; one number where all take the same."""
        return self.panes.itemsize + self.slots.itemsize + sum(map(sizes_of, self.partials))

    def unchanging(self) -> Entries:
        """The same, to be read only: parts of them need not be frozen each time a window folds them."""
        partials = tuple({name: frozen(array) for name, array in partial.items()} for partial in self.partials)
        return Entries(frozen(self.panes), frozen(self.slots), partials)

    def between(self, first: int, stop: int) -> Entries:
        """The entries of panes first <= pane < stop; entries must be in order of panes."""
        low, high = np.searchsorted(self.panes, (first, stop))
        return self.part(slice(int(low), int(high)))

    def part(self, rows: slice | np.ndarray) -> Entries:
        """Some of the entries, by position or by mask."""
        partials = tuple({name: array[rows] for name, array in partial.items()} for partial in self.partials)
        return Entries(self.panes[rows], self.slots[rows], partials)


def joined(parts: Sequence[Entries]) -> Entries:
    """All entries of `parts`, in their order."""
    if len(parts) == 1:
        return parts[0]
    return Entries(
        np.concatenate([part.panes for part in parts]),
        np.concatenate([part.slots for part in parts]),
        tuple(concat([part.partials[i] for part in parts]) for i in range(len(parts[0].partials))),
    )


def nothing(kernels: Sequence[Kernel]) -> Entries:
    """No entries at all."""
    empty = np.empty(0, np.int64)
    return Entries(empty, empty, tuple(identity(kernel, 0) for kernel in kernels))


def reduced(kernels: Sequence[Kernel], entries: Entries) -> Entries:
    """One entry for each pane and slot, in order of panes and then of slots; equal ones are combined as they come.

    >>> from windrow.kernels import kernel_for
    >>> from windrow.plan.nodes.aggregates import Partial
    >>> count = kernel_for(Partial("count"))
    >>> twice = Entries(np.array([7, 5, 7]), np.array([0, 1, 0]), ({"n": np.array([1, 2, 4])},))
    >>> once = reduced([count], twice)
    >>> once.panes.tolist(), once.slots.tolist(), once.partials[0]["n"].tolist()
    ([5, 7], [1, 0], [2, 5])
    """
    if len(entries) == 0:
        return entries
    places, codes = _places(entries.panes, entries.slots)
    if places is None:
        return entries
    partials = []
    for kernel, newer in zip(kernels, entries.partials):
        fields = identity(kernel, len(places[0]))
        kernel.combine(fields, codes, newer)
        partials.append(fields)
    return Entries(places[0], places[1], tuple(partials))


def numbered(panes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct panes in order, and the number of each entry's: entries come in runs of the same pane.

    >>> [array.tolist() for array in numbered(np.array([70, 70, 90, 70]))]
    [[70, 90], [0, 0, 1, 0]]
    """
    if len(panes) and panes[0] == panes[-1] and (panes == panes[0]).all():
        return panes[:1], np.zeros(len(panes), np.int64)
    begins = np.flatnonzero(np.concatenate([[True], panes[1:] != panes[:-1]]))
    known, numbers = np.unique(panes[begins], return_inverse=True)
    return known, np.repeat(numbers, np.diff(np.append(begins, len(panes))))


def _places(panes: np.ndarray, slots: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]:
    """The distinct (pane, slot) in order, and which of them each entry is; None if they are distinct and in order."""
    known, numbers = numbered(panes)
    width = int(slots.max()) + 1
    keys = numbers * width + slots
    if len(keys) < 2 or bool(np.all(keys[1:] > keys[:-1])):
        return None, keys
    room = len(known) * width
    if room <= 8 * len(keys) + 65536:
        seen = np.zeros(room, bool)
        seen[keys] = True
        distinct = np.flatnonzero(seen)
        position = np.empty(room, np.int64)
        position[distinct] = np.arange(len(distinct))
        codes = position[keys]
    else:
        distinct, codes = np.unique(keys, return_inverse=True)
    return (known[distinct // width], distinct % width), codes


def to_columns(kernels: Mapping[str, Kernel], entries: Entries) -> dict[str, pa.Array]:
    """The entries as Arrow columns, for a block; those of a partial bear its name."""
    columns = {"pane": pa.array(entries.panes), "slot": pa.array(entries.slots)}
    for (name, kernel), partial in zip(kernels.items(), entries.partials):
        columns |= {f"{name}.{field}": column for field, column in to_arrow(kernel, partial).items()}
    return columns


def from_columns(kernels: Mapping[str, Kernel], batch: pa.RecordBatch) -> Entries:
    """The entries that `to_columns` was given; a partial that was not kept then is empty."""
    return Entries(
        batch.column("pane").to_numpy(),
        batch.column("slot").to_numpy(),
        tuple(fields_of(kernel, name, batch) for name, kernel in kernels.items()),
    )


@dataclass(frozen=True, slots=True)
class EntryCodec:
    """Entries as the bytes of a block; where panes only count, as bitmaps."""

    kernels: Mapping[str, Kernel]

    def encode(self, value: Entries) -> bytes:
        bitmaps = None
        if all(isinstance(kernel, Count) for kernel in self.kernels.values()):
            counts = {name: partial["n"] for name, partial in zip(self.kernels, value.partials)}
            seen = {name: counts.pop(name) > 0 for name, kernel in self.kernels.items() if isinstance(kernel, Seen)}
            bitmaps = as_bitmaps(value.panes, value.slots, counts, seen)
        return encode(to_columns(self.kernels, value)) if bitmaps is None else bitmaps

    def decode(self, block: bytes) -> Entries:
        batch = decode(block)
        return from_columns(self.kernels, from_bitmaps(batch) if is_bitmaps(batch) else batch)

    def size(self, value: Entries) -> int:
        return value.nbytes


def fields_of(kernel: Kernel, name: str, batch: pa.RecordBatch) -> Fields:
    """The fields of the partial `name`."""
    prefix = f"{name}."
    columns = {
        column[len(prefix) :]: batch.column(column) for column in batch.schema.names if column.startswith(prefix)
    }
    return from_arrow(kernel, columns, batch.num_rows)
