"""The groups of a space: which slot each has, and when it may go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.spaces import Key
from windrow.runtime.keys import canonical, identity_of
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks


class GroupSlots:
    """Gives every group a slot, small and dense, and takes it back when nothing holds the group any more.

    `references[slot]` counts the pane entries of the slot, and who else keeps it, as clusters that are known. A space
    without keys has one group, in slot 0.
    """

    def __init__(self, keys: Sequence[Key], family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        snapshot = snapshot or {"keys": None, "references": None}
        self._types = [key.type for key in keys]
        self._key_chunks = SlotChunks(f"{family}.keys", blocks, snapshot["keys"])
        self._reference_chunks = SlotChunks(f"{family}.references", blocks, snapshot["references"])
        self._loaded = snapshot["keys"] is None
        self._keys: list[pa.Array] = [pa.array([], type) for type in self._types]
        self.references = np.zeros(0, np.int64)
        self._live = np.zeros(0, bool)

    def adopt(self, older: GroupSlots) -> None:
        """Take over the chunks that an `older` view has read and nobody has written since."""
        self._key_chunks.adopt(older._key_chunks)
        self._reference_chunks.adopt(older._reference_chunks)

    def __len__(self) -> int:
        self._load()
        return int(self._live.sum())

    @property
    def width(self) -> int:
        """How many slots there are, taken or free."""
        self._load()
        return len(self.references)

    @property
    def nbytes(self) -> int:
        """What the keys of all groups take, which are in memory together, and their encoded copies."""
        chunks = self._key_chunks.nbytes + self._reference_chunks.nbytes
        return chunks + self.references.nbytes + self._live.nbytes + sum(int(key.nbytes) for key in self._keys)

    def slots_of(self, keys: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row's group; groups that are new get one."""
        self._load()
        if not self._types:
            self._resize(1)
            self._live[:] = True
            return np.zeros(rows, np.int64)
        wanted = identity_of(keys)
        slots = self._known(wanted)
        unknown = np.flatnonzero(slots < 0)
        if len(unknown):
            distinct = wanted.take(pa.array(unknown)).dictionary_encode(null_encoding="encode")
            numbers = distinct.indices.to_numpy(zero_copy_only=False)
            _, first = np.unique(numbers, return_index=True)
            fresh = self._place([key.take(pa.array(unknown[first])) for key in keys], len(first))
            slots[unknown] = fresh[numbers]
        return slots

    def keys_of(self, slots: np.ndarray) -> list[pa.Array]:
        """The keys of the groups in `slots`."""
        self._load()
        positions = pa.array(slots)
        return [key.take(positions) for key in self._keys]

    def refer(self, slots: np.ndarray) -> None:
        """Each of `slots` is held once more, by a pane entry or else."""
        self._load()
        self.references += np.bincount(slots, minlength=self.width)
        self._reference_chunks.touch(slots)

    def forget(self, slots: np.ndarray) -> np.ndarray:
        """Each of `slots` is held once less; returns the slots that nothing holds any more, which are free now."""
        self._load()
        self.references -= np.bincount(slots, minlength=self.width)
        self._reference_chunks.touch(slots)
        freed = np.flatnonzero(self._live & (self.references == 0))
        self._live[freed] = False
        self._key_chunks.touch(freed)
        if len(freed):
            self._trim()
        return freed

    def others(self, share: Share, by: Sequence[int]) -> np.ndarray:
        """The slots of the groups that are not of `share`; the keys at the places `by` tell whose a group is."""
        self._load()
        live = np.flatnonzero(self._live)
        keys = self.keys_of(live)
        others: np.ndarray = live[~share.has([keys[i] for i in by], len(live))]
        return others

    def let_go(self, slots: np.ndarray) -> None:
        """The groups in `slots` go, however often they are held."""
        self.forget(np.repeat(slots, self.references[slots]))

    def save(self, version: int) -> None:
        if self._loaded:
            self._key_chunks.save(self._key_columns, self.width, version)
            self._reference_chunks.save(lambda slots: {"n": pa.array(self.references[slots])}, self.width, version)

    def snapshot(self) -> Snapshot:
        return {"keys": self._key_chunks.snapshot(), "references": self._reference_chunks.snapshot()}

    def _known(self, wanted: pa.Array) -> np.ndarray:
        live = np.flatnonzero(self._live)
        if not len(live):
            return np.full(len(wanted), -1)
        keys = self._keys if len(live) == self.width else [key.take(pa.array(live)) for key in self._keys]
        found = pc.fill_null(pc.index_in(wanted, value_set=identity_of(keys)), -1).to_numpy().astype(np.int64)
        return np.where(found < 0, -1, live[found])

    def _place(self, keys: list[pa.Array], count: int) -> np.ndarray:
        """Give `count` new groups the lowest free slots, and new ones behind the last."""
        free = np.flatnonzero(~self._live)[:count]
        slots = np.concatenate([free, np.arange(self.width, self.width + count - len(free))])
        width = max(self.width, int(slots[-1]) + 1)
        source = np.arange(width)
        source[slots] = self.width + np.arange(count)
        self._keys = [
            pa.concat_arrays([old, canonical(new).cast(old.type)]).take(pa.array(source))
            for old, new in zip(self._keys, keys)
        ]
        self._resize(width)
        self._live[slots] = True
        self._key_chunks.touch(slots)
        return slots

    def _trim(self) -> None:
        """Give up the free slots behind the last group, so that a crowd that has left costs nothing any more."""
        taken = np.flatnonzero(self._live)[-1:]
        width = int(taken[0]) + 1 if len(taken) else 0
        if width < self.width:
            self._live, self.references = self._live[:width].copy(), self.references[:width].copy()
            self._keys = [key.take(pa.array(np.arange(width))) for key in self._keys]
            self._key_chunks.touch(taken)
            self._reference_chunks.touch(taken)

    def _resize(self, width: int) -> None:
        more = width - len(self.references)
        if more > 0:
            self.references = np.concatenate([self.references, np.zeros(more, np.int64)])
            self._live = np.concatenate([self._live, np.zeros(more, bool)])

    def _key_columns(self, slots: slice) -> dict[str, pa.Array]:
        live = pa.array(self._live[slots])
        columns = {"live": live}
        for i, key in enumerate(self._keys):
            part = key.slice(slots.start, slots.stop - slots.start)
            columns[f"key_{i}"] = part.take(pc.if_else(live, pa.array(np.arange(len(part))), None))
        return columns

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        batches = self._key_chunks.load()
        if batches:
            self._live = np.concatenate([batch.column("live").to_numpy(zero_copy_only=False) for batch in batches])
            self._keys = [
                pa.concat_arrays([batch.column(f"key_{i}") for batch in batches]) for i in range(len(self._types))
            ]
            self.references = np.concatenate([batch.column("n").to_numpy() for batch in self._reference_chunks.load()])
