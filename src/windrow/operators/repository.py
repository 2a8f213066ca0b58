"""The rows of one stream for all windows over it that have no slide, each row kept once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.operators.packed import row_column
from windrow.plan.change_names import node_text
from windrow.plan.name_parts import short
from windrow.plan.nodes.changes import Expire, Node, Project, Scan, Select
from windrow.plan.nodes.regrouped import Leaf, leaves_in
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.ordered_rows import OrderedRows
from windrow.storage.rows_codec import RowsCodec

TIME = "time"
"""The column with the instant at which each row came."""


def shared_name(node: Node, spread: Mapping[Leaf, Sequence[str]]) -> str | None:
    """The name of the rows that an Expire has in common with those of other ranges; None where it has them alone.

    Above a stream, and what is done to each row of it, all that differs by range is when a row ends. Scans whose rows
    are `spread` over the shards by other columns have other rows in a shard.
    """
    range_us = range_of(node)
    if range_us is None:
        return None
    (child,) = node.children
    (leaf,) = leaves_in(child)
    by = ", ".join(spread.get(leaf, ()))
    return f"changes.rows-{short(f'{node_text(_with_range(child, 0))} by {by}')}"


def range_of(node: Node) -> int | None:
    """How long each row that comes to an Expire is there, if that is the same for all, and nothing else ends any."""
    below = node.children[0] if isinstance(node, Expire) else node
    while isinstance(below, Select | Project):
        below = below.child
    return below.range_us if isinstance(node, Expire) and isinstance(below, Scan) else None


def _with_range(node: Node, range_us: int) -> Node:
    if isinstance(node, Scan):
        return replace(node, range_us=range_us)
    return node.with_children([_with_range(child, range_us) for child in node.children])


class Repository:
    """Rows in order of time, which windows of different ranges leave one after the other.

    All windows are told the same rows, batch by batch; whoever is told first adds them. A window that is not among
    those that run is kept as long as nothing has come since: it may be called back until then.
    """

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        snapshot = snapshot or {"next": 0, "rows": None}
        self._width, self._next = len(types), int(snapshot["next"])
        self._schema = pa.schema([(TIME, pa.int64()), *((row_column(i), type) for i, type in enumerate(types))])
        numbers = [block[0] for block in (snapshot["rows"] or {"blocks": []})["blocks"]]
        codec = RowsCodec(self._schema, blocks.pays)
        self._kept = KeptBlocks(family, blocks, codec, self._distances, dict.fromkeys(numbers, 0))
        self._rows = OrderedRows(TIME, self._kept, self._number, snapshot["rows"])
        self._told: dict[str, int] = {}

    def join(self, window: str) -> None:
        """A window runs over these rows, from where it was, or from now on."""
        self._rows.positions.setdefault(window, self._rows.end)
        self._told[window] = self._rows.end

    def add(self, window: str, changes: Changes) -> None:
        """Rows that a window is told of."""
        known = self._rows.end - self._told[window]
        self._told[window] += len(changes)
        if known >= len(changes):
            return
        for gone in self._rows.positions.keys() - self._told.keys():
            self._rows.leave(gone)
        columns = [pa.array(changes.times), *changes.columns]
        self._rows.add(pa.RecordBatch.from_arrays(columns, schema=self._schema).slice(known))

    def take(self, window: str, until: int) -> list[tuple[np.ndarray, tuple[pa.Array, ...]]]:
        """The rows that a window leaves, those that came up to `until`: when they came, and their columns."""
        return [(piece.column(0).to_numpy(), tuple(piece.columns[1:])) for piece in self._rows.take(window, until)]

    def next_time(self, window: str) -> int | None:
        """When the oldest row of a window came."""
        return self._rows.next_of(window)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def save(self, version: int) -> None:
        self._kept.save(version)

    def snapshot(self) -> Snapshot:
        return {"next": self._next, "rows": self._rows.snapshot()}

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def _distances(self) -> dict[int, float]:
        return self._rows.distances()


class SharedWindow:
    """The rows of one window in the repository that it shares: each is there for `range_us`."""

    def __init__(self, rows: Repository, name: str, range_us: int) -> None:
        self._rows, self._name, self._range = rows, name, range_us
        rows.join(name)

    def add(self, changes: Changes) -> None:
        """Rows that have come."""
        if len(changes):
            self._rows.add(self._name, changes)

    def take(self, clock: int) -> list[Changes]:
        """The rows whose time is over at `clock`, as they came, in order."""
        parts = []
        for times, columns in self._rows.take(self._name, clock - self._range):
            parts.append(Changes(times, times, times + self._range, np.ones(len(times), np.int64), columns))
        return parts

    @property
    def next_due(self) -> int | None:
        """The next instant at which a row expires."""
        came = self._rows.next_time(self._name)
        return None if came is None else came + self._range
