"""Tables on their way to the map tasks: each is sent to a worker once, and hashed there once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark import Broadcast, TaskContext
from pyspark.sql import SparkSession

from windrow.expressions.columns import normal
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.answers.look_up import LookUps
from windrow.runtime.slice.joined_chunks import TableChunks
from windrow.runtime.slice.table_rows import TableRows
from windrow.spark.connect import is_connect
from windrow.spark.stages.editions import Edition

_HELD: OrderedDict[str, TableChunks] = OrderedDict()
"""The tables that this worker has hashed, by what they hold and what is asked of them."""

_HELD_MOST = 8


@dataclass(frozen=True, slots=True)
class _Carried:
    """A table that goes with the function that asks for it: Spark Connect has no broadcasts."""

    value: pa.Table


class ShippedTables:
    """The tables that a plan joins, as broadcasts where there are any. A task takes the editions of its own batch.

    So a batch that runs again joins with the rows it had before, though the table has been read anew since.
    """

    def __init__(self, spark: SparkSession, plan: StreamPlan, editions: Sequence[Edition]) -> None:
        self._plan = replace(plan, static=())
        self._asked = _asked(plan)
        self._types = {
            f"{step.name}.{column.name}": normal(pa.nulls(0, column.type)).type
            for rows in plan.joined
            for step in rows.steps
            for column in next(edition.rows.schema for edition in editions if edition.table == step.table)
        }
        self._editions = sorted((edition.table, edition.first, edition.version) for edition in editions)
        send = _Carried if is_connect(spark) else spark.sparkContext.broadcast
        self._sent: dict[tuple[str, str], Broadcast[pa.Table] | _Carried] = {
            (edition.table, edition.version): send(edition.rows) for edition in editions
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
        batch = batch_number()
        chosen = {table: version for table, first, version in self._editions if first <= batch}
        return _held(self._plan, self._asked, chosen, lambda table: self._sent[table, chosen[table]].value)


def carried_joins(editions: Sequence[Edition], plan: StreamPlan) -> TableChunks:
    """In a task of a shard: the tables that answers are joined with where they are events, as the batch has them.

    They come with the shard's plan, since Spark's stateful step takes no broadcasts, and are hashed once for all tasks
    of this worker.
    """
    batch = batch_number()
    begun = sorted((edition for edition in editions if edition.first <= batch), key=lambda edition: edition.first)
    chosen = {edition.table: edition for edition in begun if edition.table in plan.tables}
    versions = {table: edition.version for table, edition in chosen.items()}
    return _held(plan, _asked(plan), versions, lambda table: chosen[table].rows)


def _asked(plan: StreamPlan) -> str:
    """What is asked of the tables, as text."""
    return repr([(rows, plan.texts_of(rows)) for rows in plan.joined])


def _held(plan: StreamPlan, asked: str, chosen: Mapping[str, str], rows_of: Callable[[str], pa.Table]) -> TableChunks:
    """The `chosen` versions of tables, as this worker has hashed them already or hashes them now."""
    own = repr((asked, sorted(chosen.items())))
    if own not in _HELD:
        while len(_HELD) >= _HELD_MOST:
            _HELD.popitem(last=False)
        _HELD[own] = TableChunks(plan, {table: rows_of(table) for table in chosen})
    _HELD.move_to_end(own)
    return _HELD[own]


def batch_number() -> int:
    """The number of the micro-batch that this task is of."""
    context = TaskContext.get()
    number = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    return 0 if number is None else int(number)
