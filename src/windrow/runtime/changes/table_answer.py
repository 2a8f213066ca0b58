"""The answer of a query over tables alone: its plan runs once, over all of their rows at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.operators.row_wise import true_rows
from windrow.plan.nodes.changes import Node, Scan
from windrow.plan.nodes.joins import TableJoin, TableQuery
from windrow.plan.nodes.regrouped import Leaf
from windrow.storage.blocks import MemoryBlocks

Tables = Mapping[str, pa.Table]


def tables_of_joins(plan: Node, tables: Tables, user: Mapping[str, type]) -> dict[str, pa.Table]:
    """The tables that a plan joins, by the names that joins have for them and their columns."""
    found = {}
    if isinstance(plan, TableJoin):
        prefix, _, name = plan.table.partition(":")
        table = tables[name] if plan.made is None else _made(plan.made, _Read(plan.made, tables), tuple(user.items()))
        found[plan.table] = table.rename_columns([f"{prefix}_{column}" for column in table.column_names])
    for child in plan.children:
        found.update(tables_of_joins(child, tables, user))
    return found


class _Read:
    """The tables that a query reads: the same ones are equal, others are not, whatever rows they have."""

    def __init__(self, query: TableQuery, tables: Tables) -> None:
        self.tables = {name: tables[name] for name in query.tables}
        self._own = tuple((name, id(table)) for name, table in self.tables.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Read) and self._own == other._own

    def __hash__(self) -> int:
        return hash(self._own)


@lru_cache(maxsize=8)
def _made(query: TableQuery, read: _Read, user: tuple[tuple[str, type], ...]) -> pa.Table:
    """The answer of a query: made once for all shards of a process, however often they are opened."""
    return table_answer(query, read.tables, dict(user))


def table_answer(query: TableQuery, tables: Tables, user: Mapping[str, type]) -> pa.Table:
    """The rows that a query over `tables` has; `user` are users' aggregates."""
    static = tables_of_joins(query.plan, tables, user)
    pipeline = Pipeline({"answer": query.plan}, evaluate_text, MemoryBlocks(), tables=static, user=user)
    arrivals: dict[str | Leaf, Arrivals | Changes] = {
        scan: _rows_of(scan, tables[scan.stream]) for scan in _scans(query.plan)
    }
    changes = pipeline.advance(arrivals, 1, ended=True)["answer"]
    rows = changes.take(np.repeat(np.arange(len(changes)), changes.weights))
    return pa.table(dict(zip(query.plan.names, rows.columns)), schema=query.plan.schema)


def _rows_of(scan: Scan, table: pa.Table) -> Arrivals:
    held = table.combine_chunks()
    if scan.where is not None:
        held = held.filter(pa.array(true_rows(evaluate_text(scan.where, held))))
    columns = {column.name: evaluate_text(text, held) for column, text in zip(scan.read, scan.texts)}
    return Arrivals(np.zeros(held.num_rows, np.int64), pa.table(columns))


def _scans(plan: Node) -> list[Scan]:
    if isinstance(plan, Scan):
        return [plan]
    return [scan for child in plan.children for scan in _scans(child)]
