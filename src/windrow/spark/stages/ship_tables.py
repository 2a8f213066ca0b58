"""Tables on their way to the map tasks: each is sent to a worker once, and hashed there once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from pyspark import Broadcast, TaskContext
from pyspark.sql import SparkSession

from windrow.expressions.columns import normal
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.pipeline import StreamPlan
from windrow.runtime.answers.look_up import LookUps
from windrow.runtime.slice.joined_chunks import TableChunks
from windrow.runtime.slice.table_rows import TableRows

_HELD: OrderedDict[str, TableChunks] = OrderedDict()
"""The tables that this worker has hashed, by what they hold and what is asked of them."""

_HELD_MOST = 8


@dataclass(frozen=True, slots=True)
class Edition:
    """A table as it was read, for the batches from number `first` on; `version` is a name for what it holds."""

    table: str
    version: str
    first: int
    rows: pa.Table = field(compare=False, repr=False)


def version_of(rows: pa.Table) -> str:
    """A name for what a table holds: equal tables have equal ones."""
    return hashlib.sha256(as_file(rows)).hexdigest()[:16]


def as_file(rows: pa.Table) -> bytes:
    """The table as the bytes of an Arrow file, the same for the same rows however they came."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return bytes(sink.getvalue())


def as_read(plan: StreamPlan) -> list[Edition]:
    """The tables of a plan as they were read for it, for all batches."""
    return [Edition(name, version_of(rows), 0, rows) for name, rows in plan.static]


class ShippedTables:
    """The tables that a plan joins, as broadcasts. A task takes the editions of its own batch.

    So a batch that runs again joins with the rows it had before, though the table has been read anew since.
    """

    def __init__(self, spark: SparkSession, plan: StreamPlan, editions: Sequence[Edition]) -> None:
        self._plan = replace(plan, static=())
        self._asked = repr([(rows, plan.texts_of(rows)) for rows in plan.joined])
        self._types = {
            f"{step.name}.{column.name}": normal(pa.nulls(0, column.type)).type
            for rows in plan.joined
            for step in rows.steps
            for column in next(edition.rows.schema for edition in editions if edition.table == step.table)
        }
        self._editions = sorted((edition.table, edition.first, edition.version) for edition in editions)
        self._sent: dict[tuple[str, str], Broadcast[pa.Table]] = {
            (edition.table, edition.version): spark.sparkContext.broadcast(edition.rows) for edition in editions
        }

    def type_of(self, column: str) -> pa.DataType:
        """The type of a column of a table, by the name that expressions have for it."""
        return self._types[column]

    def hashed(self) -> dict[JoinedRows, TableRows]:
        """In a map task: the tables of each join."""
        joins = self.joins()
        return {rows: joins.hashed(rows) for rows in self._plan.joined}

    def look_ups(self) -> LookUps:
        """In a task behind a shard: what tables add to answers."""
        return LookUps(self._plan, self.joins().hashed)

    def joins(self) -> TableChunks:
        """In a map task: the tables as its batch has them, hashed once for all tasks of this worker."""
        batch = _batch()
        chosen = {table: version for table, first, version in self._editions if first <= batch}
        own = repr((self._asked, sorted(chosen.items())))
        if own not in _HELD:
            while len(_HELD) >= _HELD_MOST:
                _HELD.popitem(last=False)
            _HELD[own] = TableChunks(self._plan, {table: self._sent[table, v].value for table, v in chosen.items()})
        _HELD.move_to_end(own)
        return _HELD[own]


def _batch() -> int:
    """The number of the micro-batch that this task is of."""
    context = TaskContext.get()
    number = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    return 0 if number is None else int(number)
