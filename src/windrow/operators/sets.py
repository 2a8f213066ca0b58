"""W-DISTINCT, W-MINUS, W-INTERSECT and W-UNION: how often each row is there, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.changes import NEVER, Changes, joined
from windrow.operators.join_side import Waiting
from windrow.operators.row_table import RowTable
from windrow.plan.nodes.changes import Distinct, Intersect, Minus, Node, Union
from windrow.storage.blocks import Blocks, Snapshot


class Rule(IntEnum):
    """How often a row is in the answer, by how often it is on either side."""

    EITHER = 0
    MINUS = 1
    MINUS_ALL = 2
    INTERSECT = 3
    INTERSECT_ALL = 4
    WITHOUT = 5
    """All copies of the left side, unless the right has any: Algorithm 4.3 as it is printed."""
    WITH = 6
    """All copies of the left side, if the right has any."""


def rule_of(node: Node) -> Rule:
    match node:
        case Distinct() | Union():
            return Rule.EITHER
        case Minus(all=every):
            return Rule.MINUS_ALL if every else Rule.MINUS
        case Intersect(all=every):
            return Rule.INTERSECT_ALL if every else Rule.INTERSECT
    raise TypeError(f"{type(node).__name__} is no set operator")


class SetRows:
    """Counts every row on both sides and, at each instant, sends the difference in how often it is in the answer.

    Hammad et al. (2003), Algorithms 4.1 and 4.3. Counts take the place of their lists of copies: what a snapshot query
    would say depends on nothing else. With `renewing`, as in Algorithm 4.1, a row in the answer ends with the copy
    it stands for, and at that instant the copy that ends last takes its place: <d, [7, 10]> in Figure 5.
    """

    def __init__(
        self,
        rule: Rule,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        renewing: bool = False,
        waiting: Waiting | None = None,
    ) -> None:
        self._rule, self._renewing, self._waiting = rule, renewing, waiting
        side = ["left", "right", "shown", "since"] + (["until", "newest", "last"] if renewing else [])
        if rule is Rule.EITHER:
            side.remove("right")
        self._table = RowTable(types, side, family, blocks, snapshot)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        changes = joined(inputs)
        sides = np.repeat(np.arange(len(inputs)), [len(part) for part in inputs])
        if self._rule is Rule.EITHER:
            sides[:] = 0
        slots = self._table.slots_of(changes.columns, len(changes))
        order = np.argsort(changes.times, kind="stable") if len(inputs) > 1 else np.arange(len(changes))
        side = self._table.side
        counts = (side["left"], side.get("right", side["left"][:0]), side["shown"], side["since"])
        renewal = tuple(side[name] for name in ("until", "newest", "last")) if self._renewing else counts[:1] * 3
        given = (changes.times, changes.since, changes.until, changes.weights)
        out = _settled(
            tuple(np.ascontiguousarray(column[order]) for column in given),
            slots[order],
            sides[order],
            counts,
            renewal,
            int(self._rule),
            self._renewing,
        )
        self._table.touch(slots)
        shown = out[:, 0]
        columns = self._table.columns_of(shown)
        times, since, until, weights = (np.ascontiguousarray(out[:, i]) for i in range(1, 5))
        self._sweep(clock)
        return Changes(times, since, until, weights, columns)

    def save(self, version: int) -> None:
        self._table.save(version)

    def snapshot(self) -> Snapshot:
        return self._table.snapshot()

    def _sweep(self, clock: int) -> None:
        """Forget rows that are on no side, and those that have waited: nothing that comes can change what was said."""
        if self._table.crowded:
            side = self._table.side
            needed = (side["left"] != 0) | (side["right"] != 0 if "right" in side else False)
            if self._waiting is not None and self._waiting.waits_us is not None:
                here = np.arange(len(self._table))
                column = self._table.columns_of(here, self._waiting.place + 1)[-1]
                instants = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
                needed[here] &= instants + self._waiting.waits_us >= clock
            self._table.sweep(needed)


@njit(cache=True, nogil=True, inline="always")
def _wanted(rule: int, left: int, right: int) -> int:
    """How often a row is in the answer."""
    if rule == 0:
        return 1 if left > 0 else 0
    if rule == 1:
        return 1 if left > 0 and right <= 0 else 0
    if rule == 2:
        return max(left - right, 0)
    if rule == 3:
        return 1 if left > 0 and right > 0 else 0
    if rule == 4:
        return min(left, right)
    if rule == 5:
        return left if right <= 0 else 0
    return left if right > 0 else 0


@njit(cache=True, nogil=True)
def _settled(
    given: tuple[np.ndarray, ...],
    slots: np.ndarray,
    sides: np.ndarray,
    counts: tuple[np.ndarray, ...],
    renewal: tuple[np.ndarray, ...],
    rule: int,
    renewing: bool,
) -> np.ndarray:
    """Count changes instant by instant; after each, compare what is in the answer with what should be."""
    times, since, until, weights = given
    left, right, shown, first = counts
    ends, newest, last = renewal
    out = np.empty((2 * slots.size, 5), np.int64)
    n = begin = 0
    while begin < slots.size:
        now = times[begin]
        stop = begin
        while stop < slots.size and times[stop] == now:
            slot = slots[stop]
            if sides[stop] == 0:
                if renewing and left[slot] == 0:
                    last[slot] = 0
                left[slot] += weights[stop]
                if renewing and weights[stop] > 0 and until[stop] >= last[slot]:
                    newest[slot], last[slot] = since[stop], until[stop]
            else:
                right[slot] += weights[stop]
            stop += 1
        for i in range(begin, stop):
            slot = slots[i]
            want = _wanted(rule, left[slot], 0 if rule == 0 else right[slot])
            end = NEVER
            if renewing and shown[slot] > 0 and ends[slot] <= now:
                shown[slot] = 0  # it has ended by itself
            if want == shown[slot]:
                continue
            if shown[slot] == 0:
                first[slot] = since[i]
                if renewing:
                    first[slot], ends[slot] = newest[slot], (last[slot] if last[slot] > now else NEVER)
            if renewing:
                end = ends[slot]
            out[n] = (slot, now, first[slot], end, want - shown[slot])
            n += 1
            shown[slot] = want
        begin = stop
    return out[:n]
