"""What tasks do with the rows of a batch by themselves: finish them, and write them to files or send them on.

A sink that Spark writes is a Spark job of its own, which costs more than a small batch. So the tasks that slide write
files too, and the driver only moves them into place.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

from windrow.plan.catalog import REJECTED_ROWS
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.places import file_system
from windrow.spark.sinks.packed import unpacked
from windrow.spark.sinks.rejected import REJECTED_SCHEMA, rejected_of
from windrow.spark.stages.loaded import set_loaded_aside
from windrow.storage.columns import encode_batch

TOLD_DDL = "outlet INT, query STRING, file STRING, rows BINARY"
"""What a task tells the driver: a file that it has written for an outlet, or rows, or that a query has some."""

Batches = Iterator[pa.RecordBatch]


class Staged(Protocol):
    """Where a task puts rows; the driver is told under which name they are there."""

    def write(self, rows: pa.Table, batch: int) -> str: ...


class Nowhere:
    """Rows that nobody wants: they are finished all the same."""

    def write(self, rows: pa.Table, batch: int) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """Parquet files in a hidden folder beside those that readers see."""

    address: str
    run: str
    compression: str
    extension: str

    def write(self, rows: pa.Table, batch: int) -> str:
        """Write `rows` under a name that no other attempt of the task has."""
        context = TaskContext.get()
        assert context is not None
        return self.put(rows, batch, f"{context.partitionId():05d}-{context.taskAttemptId()}")

    def put(self, rows: pa.Table, batch: int, name: str) -> str:
        """Write `rows`; returns the path."""
        files, folder = file_system(f"{self.address}-{batch:09d}-{self.run}")
        files.create_dir(folder, recursive=True)
        path = posixpath.join(folder, f"{name}{self.extension}")
        pq.write_table(rows, path, filesystem=files, compression=self.compression, store_decimal_as_integer=True)
        return path


class AnyOutlet(Protocol):
    """Rows of one kind on their way: into `files`, or without these to the driver."""

    @property
    def packed(self) -> str:
        """Under which name the rows come."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """The columns as readers see them."""
        ...

    @property
    def files(self) -> Staged | None: ...

    def finish(self, rows: pa.Table) -> pa.Table:
        """What one task can make of its rows."""
        ...

    def whole(self, parts: pa.Table) -> pa.Table:
        """The rows as readers see them, from what all tasks have sent."""
        ...


@dataclass(frozen=True, slots=True)
class Outlet:
    """The rows of one query on their way."""

    query: QueryPlan | ChangePlan
    schema: pa.Schema
    files: Staged | None

    @property
    def packed(self) -> str:
        return self.query.name

    def finish(self, rows: pa.Table) -> pa.Table:
        return finish_part(rows.cast(self.query.emitted), self.query)

    def whole(self, parts: pa.Table) -> pa.Table:
        return finish_whole(parts, self.query).cast(self.schema)


@dataclass(frozen=True, slots=True)
class RejectedOutlet:
    """The rejected events of one stream on their way."""

    stream: str
    files: Staged | None
    schema: pa.Schema = REJECTED_SCHEMA
    packed: str = REJECTED_ROWS

    def finish(self, rows: pa.Table) -> pa.Table:
        return rejected_of(rows, self.stream)

    def whole(self, parts: pa.Table) -> pa.Table:
        return parts


def through(outlets: Sequence[AnyOutlet], batch: int) -> Callable[[Batches], Batches]:
    """What a task does with packed rows of `batch`; of queries without an outlet it tells that there are rows."""
    known = {outlet.packed for outlet in outlets}

    def run(batches: Batches) -> Batches:
        packed: dict[str, list[pa.RecordBatch]] = {}
        for name, part in unpacked(batches):
            packed.setdefault(name, []).append(part)
        told: list[tuple[int | None, str, str | None, bytes | None]] = [
            (None, name, None, None) for name in packed if name not in known
        ]
        for number, outlet in enumerate(outlets):
            if outlet.packed in packed:
                rows = outlet.finish(pa.Table.from_batches(packed[outlet.packed]))
                if rows.num_rows and outlet.files is not None:
                    told.append((number, outlet.packed, outlet.files.write(rows.cast(outlet.schema), batch), None))
                elif rows.num_rows:
                    told += [(number, outlet.packed, None, encode_batch(part)) for part in rows.to_batches()]
        if told:
            names = ["outlet", "query", "file", "rows"]
            types = [pa.int32(), pa.string(), pa.string(), pa.binary()]
            yield pa.record_batch([pa.array(column, kind) for column, kind in zip(zip(*told), types)], names=names)
        set_loaded_aside()

    return run
