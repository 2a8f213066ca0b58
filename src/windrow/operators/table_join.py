"""A join of changes with a table that does not change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import plain, valid
from windrow.operators.changes import Changes, joined
from windrow.operators.operator import Evaluate, Stateless
from windrow.operators.pairs import expand
from windrow.operators.row_table import RowTable
from windrow.operators.row_wise import true_rows
from windrow.plan.nodes.joins import TableJoin
from windrow.storage.blocks import MemoryBlocks

MOST_PAIRS = 1_000_000
"""So many pairs are looked at together where rows only need a partner, and every row of the table may be one."""


class TableJoinRows(Stateless):
    """Each row with its partners in the table, which is hashed once; a pair lives as long as the row."""

    def __init__(self, node: TableJoin, evaluate: Evaluate, table: pa.Table) -> None:
        self._node, self._evaluate, self._of = node, evaluate, table
        self._places = [node.child.names.index(name) for name, _ in node.on]
        self._table = [plain(table.column(column.name)).cast(column.type) for column in node.read]
        keys = [self._table[[column.name for column in node.read].index(name)] for _, name in node.on]
        types = [node.child.columns[place].type for place in self._places]
        self._keys = RowTable(types, (), "table", MemoryBlocks())
        keys = [key.cast(type) for key, type in zip(keys, types)]
        known = _known(self._must(keys), table.num_rows)
        rows = np.flatnonzero(known)
        slots = self._keys.slots_of([key.take(pa.array(rows)) for key in keys], len(rows))
        order = np.argsort(slots, kind="stable")
        self._rows = rows[order]
        self._begins = np.append(0, np.cumsum(np.bincount(slots, minlength=len(self._keys) + 1)))

    def is_of(self, node: TableJoin, table: pa.Table) -> bool:
        """Whether it is the join of a node with these very rows, so that they need not be hashed again."""
        return self._node == node and self._of.equals(table)

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        at_once = max(MOST_PAIRS // max(len(self._rows), 1), 1)
        if self._node.on or self._node.kind not in ("semi", "anti") or len(changes) <= at_once:
            return self._process(changes)
        begins = range(0, len(changes), at_once)
        return joined([self._process(changes.part(slice(row, min(row + at_once, len(changes))))) for row in begins])

    def _process(self, changes: Changes) -> Changes:
        columns = [changes.columns[place] for place in self._places]
        known = _known(self._must(columns), len(changes))
        slots = np.where(known, self._keys.find(columns, len(changes)), -1)
        low = np.where(slots < 0, 0, self._begins[slots])
        high = np.where(slots < 0, 0, self._begins[slots + 1])
        rows, partners = expand(low, high, self._rows)
        if self._node.residual is not None and len(rows):
            pairs = self._paired(changes, rows, partners)
            holds = true_rows(self._evaluate(self._node.residual, pairs.batch(self._node.pair_names)))
            rows, partners = rows[holds], partners[holds]
        if self._node.kind in ("semi", "anti"):
            paired = np.isin(np.arange(len(changes)), rows)
            return changes.keep(paired == (self._node.kind == "semi")) if len(changes) else changes
        if self._node.kind == "left":
            alone = np.setdiff1d(np.arange(len(changes)), rows)
            rows, partners = np.concatenate([rows, alone]), np.concatenate([partners, np.full(len(alone), -1)])
            order = np.argsort(rows, kind="stable")
            rows, partners = rows[order], partners[order]
        return self._paired(changes, rows, partners)

    def _must(self, keys: Sequence[pa.Array]) -> list[pa.Array]:
        """The keys in which NULL meets nothing."""
        return [key for i, key in enumerate(keys) if i not in self._node.null_safe]

    def _paired(self, changes: Changes, rows: np.ndarray, partners: np.ndarray) -> Changes:
        alone = partners < 0
        where = pa.array(partners, mask=alone) if alone.any() else pa.array(partners)
        left = changes.take(rows)
        return left.with_columns(left.columns + tuple(column.take(where) for column in self._table))


def _known(columns: Sequence[pa.Array], rows: int) -> np.ndarray:
    """Where no key is NULL."""
    known = np.ones(rows, bool)
    for column in columns:
        not_null = valid(column)
        known &= True if not_null is None else not_null
    return known
