"""Contexts in blocks: what is new is appended, what is mostly freed is written again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.windows.contexts import Context, Contexts
from windrow.windows.entries import Entries, from_columns, joined, to_columns

Key = tuple[int, int]
"""Which context: the shelf it is kept on (a level of a lattice, a stack), and the cell that it begins at."""

Member = tuple[int, int, int, int, int]
FREED = -1
"""The shelf of a context that a block still has and nobody holds."""

_NONE = np.empty(0, np.int64)


@dataclass(slots=True)
class _Block:
    """The contexts that were written together, as (shelf, first cell, begin, end, slots), and by which save."""

    number: int
    version: int
    members: list[Member]


class StoredContexts:
    """A save writes one block with the contexts that are new, and with those of blocks of which fewer than half live.

    So each save is one write, and no more than twice what lives is kept. Payloads that have been written are fixed:
    a retry of the next batch finds them as they were.
    """

    def __init__(self, family: str, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._family, self._kernels, self._store = family, dict(kernels), blocks
        snapshot = snapshot or {"next": 0, "blocks": []}
        self._next: int = snapshot["next"]
        self._blocks = [
            _Block(number, version, [*map(tuple, members)]) for number, version, members in snapshot["blocks"]
        ]
        self._written: dict[Key, tuple[tuple[int, int], Context]] = {}
        self._adopted: dict[Key, tuple[tuple[int, int], tuple[np.ndarray, tuple[Fields, ...]]]] = {}

    def snapshot(self) -> Snapshot:
        return {
            "next": self._next,
            "blocks": [
                [block.number, block.version, [list(member) for member in block.members]] for block in self._blocks
            ],
        }

    def adopt(self, older: StoredContexts) -> None:
        """Take over the contexts that an `older` view has in memory and that are in the same blocks still."""
        self._adopted = {
            key: (place, (context.slots, context.partials))
            for key, (place, context) in older._written.items()
            if context.holders
        }

    def load(self, contexts: Contexts) -> dict[Key, Context]:
        """All contexts that were saved, each held once."""
        found: dict[Key, Context] = {}
        for block in self._blocks:
            for (shelf, cell, begin, end, _), (slots, partials) in zip(block.members, self._parts(block)):
                if shelf != FREED:
                    context = contexts.made(begin, end, slots, partials, fixed=True)
                    found[shelf, cell] = context
                    self._written[shelf, cell] = ((block.number, block.version), context)
        self._adopted = {}
        return found

    def save(self, held: Mapping[Key, Context], version: int) -> None:
        """Write what of `held` no block has."""
        self._written = {key: entry for key, entry in self._written.items() if held.get(key) is entry[1]}
        kept = []
        for block in self._blocks:
            block.members = [self._marked(member, block) for member in block.members]
            if 2 * sum(member[0] != FREED for member in block.members) < len(block.members):
                self._store.delete(self._family, block.number)
                for shelf, cell, *_ in block.members:
                    self._written.pop((shelf, cell), None)
            else:
                kept.append(block)
        self._blocks = kept
        new = {key: context for key, context in held.items() if key not in self._written}
        if new:
            self._blocks.append(self._write(new, version))

    def _marked(self, member: Member, block: _Block) -> Member:
        """A member of a block, marked where its context has been freed."""
        shelf, cell, begin, end, slots = member
        entry = self._written.get((shelf, cell))
        alive = entry is not None and entry[0] == (block.number, block.version)
        return member if alive else (FREED, cell, begin, end, slots)

    def _parts(self, block: _Block) -> list[tuple[np.ndarray, tuple[Fields, ...]]]:
        """The payloads of a block, from memory where all that live are there."""
        known = [self._adopted.get((shelf, cell)) for shelf, cell, *_ in block.members if shelf != FREED]
        if any(entry is None or entry[0] != (block.number, block.version) for entry in known):
            return self._read(block)
        held = iter([entry[1] for entry in known if entry is not None])
        return [(_NONE, ()) if shelf == FREED else next(held) for shelf, *_ in block.members]

    def _write(self, new: Mapping[Key, Context], version: int) -> _Block:
        block = _Block(self._next, version, [])
        self._next += 1
        parts = []
        for (shelf, cell), context in new.items():
            context.payload.fixed = True
            parts.append(Entries(np.full(len(context.slots), cell), context.slots, context.partials))
            block.members.append((shelf, cell, context.begin, context.end, len(context.slots)))
            self._written[shelf, cell] = ((block.number, version), context)
        columns = to_columns(self._kernels, joined(parts))
        del columns["pane"]
        self._store.write(self._family, block.number, encode(columns))
        return block

    def _read(self, block: _Block) -> list[tuple[np.ndarray, tuple[Fields, ...]]]:
        batch = decode(self._store.read(self._family, block.number))
        entries = from_columns(self._kernels, batch.append_column("pane", pa.array(np.zeros(batch.num_rows, np.int64))))
        parts, begin = [], 0
        for *_, slots in block.members:
            part = entries.part(slice(begin, begin + slots))
            parts.append((part.slots, part.partials))
            begin += slots
        return parts
