"""What FROM names in a query over changes, and its columns: streams through windows, tables, sub-queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from windrow.language import expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.edges import Windows
from windrow.plan.bind.typing import checked_condition
from windrow.plan.catalog import Stream
from windrow.plan.nodes.changes import Column, Computed, Node, Project, Scan
from windrow.plan.nodes.distributed import SHARD
from windrow.plan.nodes.joins import TableQuery


@dataclass(slots=True)
class Base:
    """A stream, perhaps filtered and with computed columns, of which only what is asked for is read."""

    stream: Stream
    columns: Mapping[str, exp.Expr]
    where: exp.Expr | None
    range_us: int | None
    windows: Windows | None = None
    reads: dict[str, Column] = field(default_factory=dict)
    unwindowed: bool = False
    """Whether it has no window at all, so that a join must say for how long its rows are needed."""
    by: exp.Expr | None = None
    """What says to which shards an event goes."""

    def node(self, scope: Scope) -> Node:
        reads = dict(sorted(self.reads.items()))
        where = None if self.where is None else checked_condition(self.where, self.stream.schema, scope)
        if self.by is None:
            return Scan(self.stream.name, tuple(reads.values()), self.range_us, tuple(reads), where)
        texts, columns = (*reads, expression_sql(self.by)), (*reads.values(), Column(SHARD, pa.int64()))
        return Scan(self.stream.name, columns, self.range_us, texts, where, SHARD)


@dataclass(slots=True)
class Derived:
    """The answers of a sub-query: its plan, and the column of it that each name stands for.

    `led` are the edges of its windows that its select list names, by place: they lead every result, and are columns of
    the answers without being columns of the plan.
    """

    plan: Node
    columns: Mapping[str, str]
    windows: Windows | None = None
    led: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Static:
    """A table, which does not change, or the answer of a query over tables; `one_row`: it should have one at most."""

    name: str
    schema: pa.Schema
    columns: Mapping[str, str]
    windows: None = None
    reads: dict[str, Column] = field(default_factory=dict)
    made: TableQuery | None = None
    one_row: bool = False


Source = Base | Derived | Static


def plan_column(name: str) -> exp.Column:
    """A column of a plan, which may have any name."""
    return exp.column(exp.to_identifier(name, quoted=True))


def apart(source: Derived, number: int) -> Derived:
    """The same answers under names that no other source has."""
    names = {column.name: f"d{number}_{column.name}" for column in source.plan.columns}
    outputs = tuple(
        Computed(names[column.name], expression_sql(plan_column(column.name)), column.type)
        for column in source.plan.columns
    )
    columns = {name: names[held] for name, held in source.columns.items()}
    return Derived(Project(source.plan, outputs), columns, source.windows)
