"""Rows numbered within their partitions, in an order, of which all are told or the first ones: ROW_NUMBER, RANK."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.changes import NEVER, Changes, nothing
from windrow.operators.row_table import RowTable
from windrow.operators.sort_ranks import differ, in_order, ranks_of
from windrow.plan.nodes.changes import Expire, Node, Project, Ranked, Scan, Select
from windrow.plan.nodes.joins import Join, TableJoin
from windrow.plan.windows.slide_ends import SlideEnds
from windrow.storage.blocks import Blocks, Snapshot

ALL = 2**62
"""A limit that no number reaches."""

FUNCTIONS = ("row_number", "rank", "dense_rank")


class RankRows:
    """Keeps the rows of each partition and, at each instant, sends the differences in who is among the first ones.

    A batch is worked off at once: all rows of the partitions that it touches, those that come with it too, are put in
    order, once. Then rows come and go at their places, and after each instant the first ones of a partition are those
    that are found from its beginning. Ties are in the order of the whole row, so that the answer does not depend on how
    rows were cut into batches. Where no row is ever taken back, those behind the limit are forgotten. Where nobody asks
    but at the `ends` of windows, all that comes and goes from one to the next is one instant.
    """

    def __init__(
        self, node: Ranked, family: str, blocks: Blocks, snapshot: Snapshot | None = None, ends: SlideEnds | None = None
    ) -> None:
        snapshot = snapshot or {"rows": None, "partitions": None}
        self._node, self._ends = node, ends
        names = node.child.names
        self._types = node.child.types
        self._by = [names.index(name) for name in node.partition]
        self._order = [(names.index(key.column), key.descending, key.nulls_first) for key in node.order]
        self._partitions = RowTable(
            [self._types[place] for place in self._by], (), f"{family}.partitions", blocks, snapshot["partitions"]
        )
        self._rows = RowTable(self._types, ("n", "partition", "since"), f"{family}.rows", blocks, snapshot["rows"])
        self._forgets = node.limit is not None and not takes_back(node.child)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._partitions.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if not len(changes):
            return nothing(self._node.types)
        slots = self._rows.slots_of(changes.columns, len(changes))
        partitions = self._partitions.slots_of([changes.columns[place] for place in self._by], len(changes))
        side = self._rows.side
        side["partition"][slots] = partitions
        gone = np.flatnonzero(side["n"][slots] == 0)[::-1]  # of several that come the first is the last that is written
        side["since"][slots[gone]] = changes.since[gone]
        here, ties, begins = self._in_order(partitions)
        places = np.empty(len(self._rows), np.int64)
        places[here] = np.arange(len(here))
        weights = side["n"][here]
        limit = ALL if self._node.limit is None else self._node.limit
        out = _settled(
            (changes.times if self._ends is None else self._ends.of(changes.times), places[slots], changes.weights),
            (weights, ties, begins),
            FUNCTIONS.index(self._node.function),
            limit,
            self._node.number is not None,
        )
        if self._forgets:
            _forget(weights, ties, begins, FUNCTIONS.index(self._node.function), limit)
        side["n"][here] = weights
        self._rows.touch(here)
        told = self._told(out, here)
        self._sweep()
        return told

    def save(self, version: int) -> None:
        self._partitions.save(version)
        self._rows.save(version)

    def snapshot(self) -> Snapshot:
        return {"rows": self._rows.snapshot(), "partitions": self._partitions.snapshot()}

    def _in_order(self, partitions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of some partitions in order; of each, a number that ties share, and where its partition begins."""
        touched = np.zeros(len(self._partitions), bool)
        touched[partitions] = True
        own = self._rows.side["partition"][: len(self._rows)]
        here = np.flatnonzero(touched[own])
        columns = self._rows.columns_of(here)
        keys = [ranks_of(columns[place], *how) for place, *how in self._order]
        order = in_order([own[here], *keys])
        apart = differ([own[here], *keys], order)
        if not apart.all():  # ties are in the order of the whole row
            order = in_order([own[here], *keys, *map(ranks_of, columns)])
            apart = differ([own[here], *keys], order)
        starts = differ([own[here]], order)
        begins = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
        return here[order], np.cumsum(apart), begins

    def _told(self, out: np.ndarray, here: np.ndarray) -> Changes:
        times, places, numbers, weights = (np.ascontiguousarray(out[:, i]) for i in range(4))
        columns = self._rows.columns_of(here[places])
        if self._node.number is not None:
            columns = (*columns, pa.array(numbers, pa.int32()))
        since = self._rows.side["since"][here[places]]  # a `-` has that of its `+`: groups above tell values by it
        return Changes(times, since, np.full(len(times), NEVER), weights, columns)

    def _sweep(self) -> None:
        if self._rows.crowded:
            self._rows.sweep(self._rows.side["n"] != 0)
        if self._partitions.crowded:
            used = np.zeros(len(self._partitions), bool)
            used[self._rows.side["partition"][: len(self._rows)]] = True
            kept = self._partitions.sweep(used)
            if kept is not None:
                numbers = np.full(len(used), -1)
                numbers[kept] = np.arange(len(kept))
                own = self._rows.side["partition"]
                own[: len(self._rows)] = numbers[own[: len(self._rows)]]
                self._rows.touch(np.arange(len(self._rows)))


def takes_back(node: Node) -> bool:
    """Whether a `-` may come from `node`, so that rows behind the first ones may be wanted again."""
    if isinstance(node, Scan):
        return node.range_us is not None
    if isinstance(node, Expire) or (isinstance(node, Join) and (node.kind == "inner" or node.final)):
        return any(map(takes_back, node.children))
    if isinstance(node, Project | Select | TableJoin):
        return takes_back(node.child)
    return True


@njit(cache=True, nogil=True)
def _first_ones(
    state: tuple[np.ndarray, ...], begin: int, function: int, limit: int, found: np.ndarray
) -> tuple[int, np.ndarray]:
    """The rows of the partition at `begin` whose number is within the limit: places, numbers and how often."""
    weights, ties, begins = state
    size, before, number, dense, last = 0, 0, 0, 0, -1
    place = begin
    while place < weights.size and begins[place] == begin:
        often = weights[place]
        if often > 0:
            if ties[place] != last:
                last, dense, number = ties[place], dense + 1, before + 1
            if function == 0:
                for copy in range(often):
                    if before + copy + 1 > limit:
                        break
                    if size == len(found):
                        found = np.concatenate((found, np.empty_like(found)))
                    found[size, 0], found[size, 1], found[size, 2] = place, before + copy + 1, 1
                    size += 1
            else:
                own = number if function == 1 else dense
                if own > limit:
                    break
                if size == len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                found[size, 0], found[size, 1], found[size, 2] = place, own, often
                size += 1
            before += often
            if before >= limit and function == 0:
                break
        place += 1
    return size, found


@njit(cache=True, nogil=True)
def _settled(
    given: tuple[np.ndarray, ...], state: tuple[np.ndarray, ...], function: int, limit: int, numbered: bool
) -> np.ndarray:
    """Let rows come and go instant by instant; after each, compare the first ones of touched partitions."""
    times, places, changed = given
    weights, _, begins = state
    out, n = np.empty((2 * times.size + 16, 4), np.int64), 0
    old, new = np.empty((16, 3), np.int64), np.empty((16, 3), np.int64)
    touched = np.empty(times.size, np.int64)
    marked = np.zeros(begins.size, np.bool_)
    edges = np.full(begins.size, -1)
    kept = np.empty((16, 4), np.int64)
    start = 0
    while start < times.size:
        stop, many = start, 0
        while stop < times.size and times[stop] == times[start]:
            begin = begins[places[stop]]
            # behind the last of the first ones nothing changes what these are
            if not marked[begin] and (edges[begin] < 0 or places[stop] <= edges[begin]):
                marked[begin] = True
                touched[many] = begin
                many += 1
            stop += 1
        # what was among the first ones before the instant, of all touched partitions
        held = 0
        for i in range(many):
            size, old = _first_ones(state, touched[i], function, limit, old)
            while held + size > len(kept):
                kept = np.concatenate((kept, np.empty_like(kept)))
            for j in range(size):
                kept[held + j, 0], kept[held + j, 1] = old[j, 0], old[j, 1]
                kept[held + j, 2], kept[held + j, 3] = old[j, 2], i
            held += size
        for i in range(start, stop):
            weights[places[i]] += changed[i]
        read = 0
        for i in range(many):
            marked[touched[i]] = False
            size, new = _first_ones(state, touched[i], function, limit, new)
            edges[touched[i]] = new[size - 1, 0] if function == 0 and size == limit and size > 0 else -1
            j = 0
            while (read < held and kept[read, 3] == i) or j < size:
                if n + 2 > len(out):
                    out = np.concatenate((out, np.empty_like(out)))
                mine = read < held and kept[read, 3] == i
                if mine and j < size and kept[read, 0] == new[j, 0] and (not numbered or kept[read, 1] == new[j, 1]):
                    if kept[read, 2] != new[j, 2]:
                        out[n] = (times[start], new[j, 0], new[j, 1], new[j, 2] - kept[read, 2])
                        n += 1
                    read += 1
                    j += 1
                elif mine and (
                    j == size or kept[read, 0] < new[j, 0] or (kept[read, 0] == new[j, 0] and kept[read, 1] < new[j, 1])
                ):
                    out[n] = (times[start], kept[read, 0], kept[read, 1], -kept[read, 2])
                    n += 1
                    read += 1
                else:
                    out[n] = (times[start], new[j, 0], new[j, 1], new[j, 2])
                    n += 1
                    j += 1
        start = stop
    return out[:n]


@njit(cache=True, nogil=True)
def _forget(weights: np.ndarray, ties: np.ndarray, begins: np.ndarray, function: int, limit: int) -> None:
    """Take out the rows behind the limit, where none before them ever goes."""
    begin, before, dense, number, last = -1, 0, 0, 0, -1
    for place in range(weights.size):
        if begins[place] != begin:
            begin, before, dense, number, last = begins[place], 0, 0, 0, -1
        if weights[place] <= 0:
            continue
        if ties[place] != last:
            last, dense, number = ties[place], dense + 1, before + 1
        often = weights[place]
        own = before + 1 if function == 0 else number if function == 1 else dense
        if own > limit:
            weights[place] = 0
        elif function == 0 and before + often > limit:
            weights[place] = limit - before
        before += often
