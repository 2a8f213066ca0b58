"""One side of a join: its rows, chained by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.changes import Changes
from windrow.operators.pairs import chained
from windrow.operators.row_table import RowTable
from windrow.operators.rows_in_memory import PART
from windrow.storage.blocks import Blocks, Snapshot

UNTIL, INSTANT, LEAVES = "until", "instant", "leaves"
"""What is known of the time of a row: until when it is there, the instant that a condition compares, and from when on
no row that comes can meet it. Only where a condition compares instants are there others than the first."""

NONE = np.empty(0, np.int64)

LONG_AGO = -(2**63)
"""When rows leave that have left."""

Numbered = Callable[[Sequence[pa.Array], int], np.ndarray]
"""The numbers of the keys of some rows, by all of their columns."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The column whose instant a condition compares with those of the other side, and how long a row waits for them."""

    place: int
    waits_us: int | None


class JoinSide:
    """The rows of one side that are there or will end by themselves, each with how often it is there.

    Rows are told apart by their time and their end as well, so that what a `-` takes away is what its `+` brought. A
    row that no other can meet any more, since it has ended or its `waiting` is over, is passed over and forgotten.

    Rows that leave `in_turn` are those of a stream, all there for as long: each comes once, and the first `-` takes
    away the first that is there. Nothing is looked for, and what left is a number, not a change of each row.

    Keys are `numbered` as rows come; as long as the rows are in memory these numbers are not in the state, so that keys
    can be numbered anew without any row being written.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        numbered: Numbered,
        snapshot: Snapshot | None = None,
        waiting: Waiting | None = None,
        in_turn: bool = False,
        older: JoinSide | None = None,
    ) -> None:
        self._types, self._waiting, self.in_turn = tuple(types), waiting, in_turn
        made = ("key", "next", UNTIL) if waiting is None else ("key", "next", UNTIL, INSTANT, LEAVES)
        known = None if older is None else older._rows
        identity = [*types, pa.int64(), pa.int64()]
        self._rows: RowTable = RowTable(identity, ("weight",), family, blocks, snapshot, made, not in_turn, known)
        self._make(self._rows.derived_to, numbered)
        self._gone = 0
        if in_turn:
            self._leave_up_to(self._left_before(snapshot))
        self._in_order = True
        self._relink()

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._heads.nbytes

    def __len__(self) -> int:
        """How many rows it has that may still meet others, and some that may not."""
        return len(self._rows)

    def instants(self, changes: Changes) -> np.ndarray:
        """The instants of rows that the condition compares; without one, 0."""
        if self._waiting is None:
            return changes.times * 0
        column = changes.columns[self._waiting.place]
        instants: np.ndarray = np.ascontiguousarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
        return instants

    def partners(
        self, keys: np.ndarray, changes: Changes, instants: np.ndarray, low: int, high: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which rows that are there have the key of which change: places of changes, and of rows.

        The instant of a change less that of its partner is at least `low`, and at most `high`.
        """
        side = self._rows.side
        pairs: tuple[np.ndarray, np.ndarray] = chained(
            (keys, changes.times, instants),
            (self._heads, side["next"], side["weight"]),
            (side[UNTIL], side.get(INSTANT, NONE), side.get(LEAVES, side[UNTIL])),
            low,
            high,
            self._in_order,
        )
        return pairs

    def there(self, after: int) -> np.ndarray:
        """All rows that may meet others that come at `after` or later, whatever their key."""
        side, rows = self._rows.side, len(self._rows)
        return np.flatnonzero((side["weight"][:rows] != 0) & (side[UNTIL][:rows] > after))

    def staying(self, clock: int) -> int:
        """How many rows it has that may still meet others; those that have left may not have been swept."""
        return int(np.count_nonzero(self._stays(clock)))

    def at(self, entries: np.ndarray) -> Changes:
        """The rows at `entries`, as changes that came before all others."""
        *columns, since, until = self._rows.columns_of(entries)
        times = since.to_numpy()
        return Changes(times, times, until.to_numpy(), self._rows.side["weight"][entries], tuple(columns))

    def keys_in_turn(self, coming: np.ndarray, count: int) -> np.ndarray:
        """The keys of the `count` rows that leave next, of those that are there and those that are `coming`."""
        side, first = self._rows.side, slice(self._gone, min(self._gone + count, len(self._rows)))
        there = np.repeat(side["key"][first], side["weight"][first])
        return np.concatenate([there, coming])[:count]

    def add(self, keys: np.ndarray, changes: Changes, instants: np.ndarray) -> None:
        known = len(self._rows)
        if self.in_turn:
            comes = changes.weights > 0
            self._append(keys[comes], changes.keep(comes), instants[comes])
            self._link(known)
            self._leave(len(changes) - int(comes.sum()))
            return
        identity = [*changes.columns, pa.array(changes.since), pa.array(changes.until)]
        slots = self._rows.slots_of(identity, len(changes))
        side = self._rows.side
        np.add.at(side["weight"], slots, changes.weights)
        side["key"][slots] = keys
        self._time(slots, changes.until, instants)
        self._rows.touch(slots)
        self._link(known)

    def sweep(self, clock: int) -> None:
        """Forget what has left, now and then."""
        if not self._rows.crowded:
            return
        dropped = self._rows.drop_first(self._gone) if self.in_turn else 0
        if not dropped:
            kept = self._rows.sweep(self._stays(clock))
            if kept is None:
                return
            dropped = self._gone
        self._gone -= dropped
        self._relink()

    def used_keys(self, width: int) -> np.ndarray:
        """Which of the keys it has rows of."""
        used = np.zeros(width, bool)
        used[self._rows.side["key"][: len(self._rows)]] = True
        return used

    def renumber(self, numbers: np.ndarray) -> None:
        """Keys have been numbered anew."""
        here = np.arange(len(self._rows))
        self._rows.side["key"][here] = numbers[self._rows.side["key"][here]]
        if self.in_blocks:
            self._rows.touch(here)
        self._relink()

    @property
    def in_blocks(self) -> bool:
        """Whether its rows are in blocks, and the numbers of their keys in the state."""
        return self._rows.in_blocks

    def save(self, version: int) -> None:
        self._rows.save(version)

    def snapshot(self) -> Snapshot:
        return self._rows.snapshot() | ({"gone": self._gone} if self.in_turn else {})

    def _append(self, keys: np.ndarray, changes: Changes, instants: np.ndarray) -> None:
        slots = self._rows.append([*changes.columns, pa.array(changes.since), pa.array(changes.until)], len(changes))
        side = self._rows.side
        side["weight"][slots], side["key"][slots] = changes.weights, keys
        self._time(slots, changes.until, instants)

    def _leave(self, count: int) -> None:
        """The next `count` rows leave. In older checkpoints one may be there several times, and leaves as often."""
        weights = self._rows.side["weight"][self._gone : min(self._gone + count, len(self._rows))]
        left = np.cumsum(weights)
        whole = int(np.searchsorted(left, count, side="right"))
        rest = count - (int(left[whole - 1]) if whole else 0)
        if rest and whole < len(weights):
            weights[whole] -= rest
            self._rows.touch(np.array([self._gone + whole]))
        self._leave_up_to(self._gone + whole)

    def _leave_up_to(self, gone: int) -> None:
        """Rows before `gone` are there no more: who follows a chain to one of them need not go on."""
        side, left = self._rows.side, slice(self._gone, gone)
        side["weight"][left] = 0
        side[LEAVES if LEAVES in side else UNTIL][left] = LONG_AGO
        self._gone = gone

    def _left_before(self, snapshot: Snapshot | None) -> int:
        """How many rows had left when the snapshot was made; older ones say so by how often each is there."""
        weights = self._rows.side["weight"][: len(self._rows)]
        some = np.flatnonzero(weights)
        return max(int((snapshot or {}).get("gone", 0)), int(some[0]) if len(some) else len(weights))

    def _stays(self, clock: int) -> np.ndarray:
        """Which rows are there and may meet others after `clock`."""
        side, rows = self._rows.side, len(self._rows)
        stays: np.ndarray = (side["weight"][:rows] != 0) & (side.get(LEAVES, side[UNTIL])[:rows] > clock)
        return stays

    def _time(self, slots: np.ndarray, until: np.ndarray, instants: np.ndarray) -> None:
        """Note until when the rows in `slots` are there."""
        side = self._rows.side
        side[UNTIL][slots] = until
        if self._waiting is not None:
            waits = self._waiting.waits_us
            side[INSTANT][slots] = instants
            side[LEAVES][slots] = until if waits is None else np.minimum(until, instants + (waits + 1))

    def _make(self, known: int, numbered: Numbered) -> None:
        """Make what is not stored of the rows from `known` on."""
        for start in range(known, len(self._rows), PART):
            here = np.arange(start, min(start + PART, len(self._rows)))
            rows = self.at(here)
            self._rows.side["key"][here] = numbered(rows.columns, len(rows))
            self._time(here, rows.until, self.instants(rows))

    def _relink(self) -> None:
        self._heads = np.full(0, -1)
        self._link(0)

    def _link(self, known: int) -> None:
        side = self._rows.side
        ends = side.get(LEAVES, side[UNTIL])[max(known - 1, 0) : len(self._rows)]
        self._in_order = (known == 0 or self._in_order) and bool((ends[1:] >= ends[:-1]).all())
        keys = self._rows.side["key"][known : len(self._rows)]
        most = int(keys.max(initial=-1)) + 1
        if most > len(self._heads):
            more = np.full(max(most, 2 * len(self._heads)) - len(self._heads), -1)
            self._heads = np.concatenate([self._heads, more])
        _link(self._heads, self._rows.side["next"], self._rows.side["key"], known, len(self._rows))


@njit(cache=True, nogil=True)
def _link(heads: np.ndarray, next_: np.ndarray, keys: np.ndarray, start: int, stop: int) -> None:
    for entry in range(start, stop):
        next_[entry] = heads[keys[entry]]
        heads[keys[entry]] = entry
