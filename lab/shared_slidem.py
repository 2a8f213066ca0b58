"""The rows of one stream for all windows over it, each block kept once."""

from __future__ import annotations

import pyarrow as pa

from lab.pool import BlockCounts, BufferPool
from lab.row_block import BLOCK_BYTES, RowBlock
from lab.victims import POLICIES
from windrow.errors import StorageError
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.expiring import axis_of, leading_before


class SharedSlideM:
    """One repository for windows of different sizes over one stream (Mendes, Bizarro, Marques: Overcoming memory
    limitations in high-throughput event-based applications, 2013, section 4, Procedure 3).

    Windows go by their rank, the largest has 0. Each has a block of its own oldest rows, all have the newest in common.
    A block leaves with the largest window, and is brought back whenever a window comes to it.

        largest                     smaller             newest
        [ancient|   |   |   |   |   |ancient|   |   |   |recent]

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> shared = SharedSlideM(2, "rows", pa.schema([("x", pa.int64())]), MemoryBlocks(), pool_blocks=3, block_bytes=16)
    >>> shared.add(pa.record_batch({"x": [1, 2, 3, 4, 5, 6, 7, 8, 9]}))
    >>> [[row for part in shared.expire(rank, 3) for row in part.column("x").to_pylist()] for rank in (1, 0)]
    [[1, 2, 3], [1, 2, 3]]
    """

    def __init__(
        self,
        windows: int,
        family: str,
        schema: pa.Schema,
        blocks: Blocks,
        pool_blocks: int = 0,
        block_bytes: int = BLOCK_BYTES,
        snapshot: Snapshot | None = None,
        *,
        policy: str = "distance",
        axis: str | None = None,
        durable: bool = False,
    ) -> None:
        """`pool_blocks` is by default one for each window and the newest. Distances are in rows, or along `axis`."""
        if policy not in POLICIES:
            raise StorageError(f"no policy {policy!r} for blocks: there are {', '.join(POLICIES)}")
        self._pool = BufferPool(family, schema, blocks, pool_blocks or windows + 1, block_bytes, durable)
        self._policy, self._axis = POLICIES[policy](), axis
        snapshot = snapshot or {
            "at": [0] * windows,
            "expired": [0] * windows,
            "reached": [0] * windows,
            "next": 0,
            "begins": {},
            "lengths": {},
            "stored": {},
        }
        self._at: list[int] = list(snapshot["at"])
        self._expired: list[int] = list(snapshot["expired"])
        self._reached: list[int] = list(snapshot["reached"])
        self._next: int = snapshot["next"]
        self._begins: dict[int, int] = {int(number): begin for number, begin in snapshot["begins"].items()}
        self._lengths: dict[int, int] = {int(number): rows for number, rows in snapshot["lengths"].items()}
        self._pool.adopt_stored({int(number): full for number, full in snapshot["stored"].items()})
        self._arrived = [True] * windows
        self.hits_by_window = [0] * windows

    @property
    def counts(self) -> BlockCounts:
        return self._pool.counts

    @property
    def bytes_held(self) -> int:
        """What the rows in memory take."""
        return self._pool.bytes_held

    @property
    def resident(self) -> list[int]:
        """The blocks in memory, in order."""
        return sorted(self._pool)

    @property
    def positions(self) -> list[int]:
        """The block that each window is at."""
        return list(self._at)

    def rows(self, rank: int) -> int:
        """How many rows a window holds."""
        return sum(self._lengths[number] for number in range(self._at[rank], self._next)) - self._expired[rank]

    def add(self, rows: pa.RecordBatch) -> None:
        """Procedure 1, for many rows, with a victim in place of the recent block."""
        while rows.num_rows:
            recent = self._recent()
            if recent is None:
                self._make_room()
                recent = self._pool.allocate(self._next)
                self._policy.enter(self._next)
                self._begins[self._next] = self._begin(rows)
                self._lengths[self._next] = 0
                self._next += 1
            taken = recent.append(rows)
            self._lengths[self._next - 1] += taken
            rows = rows.slice(taken)

    def oldest(self, rank: int) -> pa.RecordBatch | None:
        """Some of the oldest rows of a window, all that lie in one piece; None if there are none."""
        self._move_on(rank)
        at = self._at[rank]
        if at == self._next or self._expired[rank] >= self._lengths[at]:
            return None
        if at not in self._pool:
            self._bring(at)
        elif not self._arrived[rank]:
            self.counts.hits += 1
            self.hits_by_window[rank] += 1
            self._policy.use(at)
        self._arrived[rank] = True
        return self._pool[at].from_row(self._expired[rank])

    def expire(self, rank: int, count: int) -> list[pa.RecordBatch]:
        """Procedure 3, for the `count` oldest rows of a window; returns them."""
        gone = []
        while count and (oldest := self.oldest(rank)) is not None:
            part = oldest.slice(0, count)
            self._expired[rank] += part.num_rows
            if self._axis is None:
                self._reached[rank] += part.num_rows
            else:
                self._reached[rank] = max(
                    self._reached[rank], int(axis_of(part.slice(part.num_rows - 1), self._axis)[0])
                )
            count -= part.num_rows
            gone.append(part)
        return gone

    def expire_before(self, rank: int, column: str, value: int) -> list[pa.RecordBatch]:
        """Expire a window's rows up to the first whose `column`, which does not fall, is at least `value`."""
        gone = []
        while (oldest := self.oldest(rank)) is not None and (count := leading_before(oldest, column, value)):
            gone += self.expire(rank, count)
        if column == self._axis:
            self._reached[rank] = max(self._reached[rank], value)
        return gone

    def save(self) -> None:
        self._pool.save()

    def snapshot(self) -> Snapshot:
        """All but the rows, as plain values; they are where `save` has written them."""
        return {
            "at": list(self._at),
            "expired": list(self._expired),
            "reached": list(self._reached),
            "next": self._next,
            "begins": {str(number): begin for number, begin in self._begins.items()},
            "lengths": {str(number): rows for number, rows in self._lengths.items()},
            "stored": {str(number): full for number, full in self._pool.stored.items()},
        }

    def _begin(self, rows: pa.RecordBatch) -> int:
        """Where a block that begins with these rows lies on the axis."""
        if self._axis is not None:
            return int(axis_of(rows.slice(0, 1), self._axis)[0])
        last = self._next - 1
        return self._begins[last] + self._lengths[last] if last in self._begins else self._reached[0]

    def _recent(self) -> RowBlock | None:
        """The block that was written last, if there is room in it."""
        newest = self._next - 1
        if newest < self._at[0] or newest < 0:
            return None
        if newest not in self._pool:
            if self._pool.stored[newest]:
                return None
            self._bring(newest)
        recent = self._pool[newest]
        return None if recent.full else recent

    def _move_on(self, rank: int) -> None:
        """A window leaves a block of which all rows have expired. With the last window nobody needs it any more."""
        done = self._at[rank]
        if done + 1 >= self._next or self._expired[rank] < self._lengths[done]:
            return
        self._at[rank], self._expired[rank], self._arrived[rank] = done + 1, 0, False
        if min(self._at) > done:
            if done in self._pool:
                self._policy.leave(done)
            self._pool.remove(done)
            del self._begins[done], self._lengths[done]

    def _bring(self, number: int) -> None:
        self._make_room()
        self._pool.read(number)
        self._policy.enter(number)

    def _make_room(self) -> None:
        for rank in range(len(self._at)):
            self._move_on(rank)
        if not self._pool.full:
            return
        newest = self._next - 1
        open_block = newest if newest in self._pool and not self._pool[newest].full else None
        order = sorted(range(len(self._at)), key=lambda rank: (self._at[rank], self._reached[rank]))
        at, reached = [self._at[rank] for rank in order], [self._reached[rank] for rank in order]
        victim = self._policy.victim(open_block, at, reached, self._begins.__getitem__)
        self._pool.spill(victim)
        self._policy.leave(victim)
