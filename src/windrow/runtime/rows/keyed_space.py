"""What spaces have in common whose shards hold all rows of their keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.spaces import RowSpace
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.passed import Passed, Passing
from windrow.runtime.rows.pending_rows import TIME, PendingRows
from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot


class KeyedSpace(Passing):
    """Rows that wait until the clock has passed them, their groups, and the keys that they are partitioned by.

    `since` is just after the newest event that was there when the space came to a stream: what happened before counts
    for nothing here.
    """

    def __init__(self, space: RowSpace, blocks: Blocks, kept: Snapshot) -> None:
        self.space = space
        self._since: int | None = kept["since"]
        self._last: int | None = kept.get("last")  # when the newest row happened that the clock has passed
        self._waiting = PendingRows(f"{space.name}.waiting", blocks, kept.get("waiting"))
        self.groups = GroupSlots(space.keys, space.name, blocks, kept.get("groups"))
        self._owners = self.groups
        if len(space.partition) < len(space.keys):
            keys = [space.keys[i] for i in space.partition]
            self._owners = GroupSlots(keys, f"{space.name}.owners", blocks, kept.get("owners"))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.name,)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Let rows wait for the clock; those before it are late."""
        oldest = max((bound for bound in (clock, self._since) if bound is not None), default=None)
        for batch in payloads:
            if oldest is not None:
                batch = batch.filter(pa.array(batch.column(TIME).to_numpy() >= oldest))
            self._waiting.add(batch)

    def keys_of(self, windows: Passed) -> list[pa.Array]:
        return [] if windows.owners is None else self._owners.keys_of(windows.owners)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """As that of `RowSpaceState`."""
        if self._last is not None and self._last > newest:
            return Rewound(0, anew=True)
        return Rewound(self._waiting.rewind(newest))

    def _others(self, share: Share) -> tuple[np.ndarray, np.ndarray]:
        """Let go of waiting rows that are not of `share`; the slots of groups that are not, and of such keys."""
        by = self.space.spread_by
        self._waiting.keep(share, by)
        slots = self.groups.others(share, by)
        return slots, slots if self._owners is self.groups else self._owners.others(share, range(len(by)))

    def _let_go(self, slots: np.ndarray, owners: np.ndarray) -> None:
        """The groups in `slots` go, and the keys that are `owners`."""
        self.groups.let_go(slots)
        if self._owners is not self.groups:
            self._owners.let_go(owners)

    def _taken(self, clock: int) -> pa.RecordBatch | None:
        """The rows before `clock`, which wait no longer."""
        rows = self._waiting.take(clock)
        if rows is not None:
            newest = int(rows.column(TIME).to_numpy().max())
            self._last = newest if self._last is None else max(self._last, newest)
        return rows

    @property
    def _bytes_of_keys(self) -> int:
        """What groups and keys take, which are in memory together."""
        return self.groups.nbytes + (0 if self._owners is self.groups else self._owners.nbytes)

    def _adopt_keys(self, older: KeyedSpace) -> None:
        self._waiting.adopt(older._waiting)
        self.groups.adopt(older.groups)
        self._owners.adopt(older._owners)

    def _save_keys(self, version: int) -> None:
        self._waiting.save(version)
        self.groups.save(version)
        if self._owners is not self.groups:
            self._owners.save(version)

    def _keys_snapshot(self) -> Snapshot:
        return {
            "since": self._since,
            "last": self._last,
            "waiting": self._waiting.snapshot(),
            "groups": self.groups.snapshot(),
            "owners": None if self._owners is self.groups else self._owners.snapshot(),
        }
