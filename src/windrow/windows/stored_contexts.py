"""Contexts in blocks: what is new is appended, what is mostly freed is written again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel
from windrow.kernels.footprint import bytes_together
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.storage.working_set import working_set_of
from windrow.windows.contexts import Context, Contexts, GroupSummaries
from windrow.windows.entries import Entries, from_columns, joined, to_columns

Key = tuple[int, int]
"""Which context: the shelf it is kept on (a level of a lattice, a stack), and the cell that it begins at."""

Member = tuple[int, int, int, int, int]
FREED = -1
"""The shelf of a context that a block still has and nobody holds."""

UNSAVED = -1
"""The version of a block that was written before the save that it will be of."""

BLOCK_BYTES = 1 << 20
"""Under a memory limit a block is cut once it has so much: one that is looked at brings back all of its block."""

LIMIT_PART = 64
"""It is cut at a part of the limit at most."""

_NONE = np.empty(0, np.int64)


@dataclass(slots=True, eq=False)
class _Block:
    """The contexts that were written together, as (shelf, first cell, begin, end, slots), and by which save."""

    number: int
    version: int
    members: list[Member]


class StoredContexts:
    """A save writes one block with the contexts that are new, and with those of blocks of which fewer than half live.

    So each save is one write, or a few under a memory limit, and no more than twice what lives is kept. Payloads that
    have been written are fixed: a retry of the next batch finds them as they were. They may leave memory, and are read
    again when somebody looks at them; so it is after a restart, too.
    """

    def __init__(self, family: str, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._family, self._kernels, self._store = family, dict(kernels), blocks
        working = working_set_of(blocks)
        limit = None if working is None else working.limit_bytes
        self._block_bytes = None if limit is None else min(BLOCK_BYTES, limit // LIMIT_PART)
        snapshot = snapshot or {"next": 0, "blocks": []}
        self._next: int = snapshot["next"]
        self._blocks = [
            _Block(number, version, [*map(tuple, members)]) for number, version, members in snapshot["blocks"]
        ]
        self._written: dict[Key, tuple[_Block, int, Context]] = {}
        self._adopted: dict[Key, tuple[tuple[int, int], tuple[np.ndarray, tuple[Fields, ...]]]] = {}
        self._away: dict[int, list[tuple[int, GroupSummaries]]] = {}
        self._slots = _NONE  # those of the last context that was seen: equal slots are one object, quick to compare

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
            key: ((block.number, block.version), (context.slots, context.partials))
            for key, (block, _, context) in older._written.items()
            if context.holders and context.payload.in_memory
        }

    def load(self, contexts: Contexts) -> dict[Key, Context]:
        """All contexts that were saved, each held once; those that nobody had in memory are read when they are used."""
        found: dict[Key, Context] = {}
        for block in self._blocks:
            for place, (shelf, cell, begin, end, _) in enumerate(block.members):
                if shelf != FREED:
                    known = self._adopted.get((shelf, cell))
                    if known is not None and known[0] == (block.number, block.version):
                        payload = GroupSummaries(*known[1], fixed=True, owner=object())
                    else:
                        payload = GroupSummaries(_NONE, (), fixed=True, owner=object())
                        self._leave(payload, block, place)
                    context = found[shelf, cell] = contexts.named(begin, end, payload)
                    self._written[shelf, cell] = (block, place, context)
        self._adopted = {}
        return found

    def save(self, held: Mapping[Key, Context], version: int) -> None:
        """Write what of `held` no block has."""
        self._written = {key: entry for key, entry in self._written.items() if held.get(key) is entry[2]}
        kept = []
        for block in self._blocks:
            if block.version == UNSAVED:
                block.version = version
            block.members = [self._marked(member, block) for member in block.members]
            if 2 * sum(member[0] != FREED for member in block.members) < len(block.members):
                self._bring(block)  # what lives is written again, and may be what other contexts have too
                self._store.delete(self._family, block.number)
                for shelf, cell, *_ in block.members:
                    self._written.pop((shelf, cell), None)
            else:
                kept.append(block)
        self._blocks = kept
        self._write({key: context for key, context in held.items() if key not in self._written}, version)

    def spill(self, given: Mapping[Key, Context]) -> None:
        """Let contexts be in blocks only, those that are new before the save comes.

        A save that never comes leaves blocks behind that no snapshot knows; the next ones with their numbers take their
        places.
        """
        known = {key for key, context in given.items() if key in self._written and self._written[key][2] is context}
        self._write({key: context for key, context in given.items() if key not in known}, UNSAVED)
        for key, context in given.items():
            block, place, _ = self._written[key]
            if context.payload.in_memory:
                self._leave(context.payload, block, place)

    def _leave(self, payload: GroupSummaries, block: _Block, place: int) -> None:
        self._away.setdefault(block.number, []).append((place, payload))
        payload.leave(partial(self._bring, block))

    def _bring(self, block: _Block) -> None:
        """Have all of a block in memory that was there alone and is held by a context."""
        wanted = [(place, payload) for place, payload in self._away.pop(block.number, ()) if payload.contexts]
        if wanted:
            parts = self._read(block)
            for place, payload in wanted:
                payload.fill(*parts[place])

    def _marked(self, member: Member, block: _Block) -> Member:
        """A member of a block, marked where its context has been freed."""
        shelf, cell, begin, end, slots = member
        entry = self._written.get((shelf, cell))
        return member if entry is not None and entry[0] is block else (FREED, cell, begin, end, slots)

    def _write(self, new: Mapping[Key, Context], version: int) -> None:
        for part in self._cut(new):
            block = _Block(self._next, version, [])
            self._next += 1
            parts = []
            for place, ((shelf, cell), context) in enumerate(part):
                context.payload.fixed = True
                parts.append(Entries(np.full(len(context.slots), cell), context.slots, context.partials))
                block.members.append((shelf, cell, context.begin, context.end, len(context.slots)))
                self._written[shelf, cell] = (block, place, context)
            self._slots = context.slots
            columns = to_columns(self._kernels, joined(parts))
            del columns["pane"]
            self._store.write(self._family, block.number, encode(columns))
            self._blocks.append(block)

    def _cut(self, new: Mapping[Key, Context]) -> Iterator[list[tuple[Key, Context]]]:
        """The contexts of one block after the other."""
        every = list(new.items())
        if self._block_bytes is not None and len(every) > 1:
            taken = bytes_together(fields for _, context in every for fields in context.partials)
            slot_bytes = taken / max(1, sum(len(context.slots) for _, context in every))
            begin = size = 0
            for place, (_, context) in enumerate(every):
                size += len(context.slots)
                if size * slot_bytes >= self._block_bytes:
                    yield every[begin : place + 1]
                    begin, size = place + 1, 0
            every = every[begin:]
        if every:
            yield every

    def _read(self, block: _Block) -> list[tuple[np.ndarray, tuple[Fields, ...]]]:
        batch = decode(self._store.read(self._family, block.number))
        entries = from_columns(self._kernels, batch.append_column("pane", pa.array(np.zeros(batch.num_rows, np.int64))))
        parts, begin = [], 0
        for *_, slots in block.members:
            part = entries.part(slice(begin, begin + slots))
            if not np.array_equal(part.slots, self._slots):
                self._slots = part.slots
            parts.append((self._slots, part.partials))
            begin += slots
        return parts
