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
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark import TaskContext

from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.places import file_system
from windrow.spark.stages.loaded import set_loaded_aside
from windrow.spark.stages.slide import REJECTED_ROWS

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

    def folder(self, batch: int) -> str:
        return f"{self.address}-{batch:09d}-{self.run}"

    def write(self, rows: pa.Table, batch: int) -> str:
        """Write `rows` under a name that no other attempt of the task has; returns the path."""
        context = TaskContext.get()
        assert context is not None
        files, folder = file_system(self.folder(batch))
        files.create_dir(folder, recursive=True)
        name = f"{context.partitionId():05d}-{context.taskAttemptId()}{self.extension}"
        path = posixpath.join(folder, name)
        write_parquet(rows, path, files, self.compression)
        return path


def write_parquet(rows: pa.Table, path: str, files: pafs.FileSystem, compression: str) -> None:
    pq.write_table(rows, path, filesystem=files, compression=compression, store_decimal_as_integer=True)


@dataclass(frozen=True, slots=True)
class Outlet:
    """The rows of one query on their way: into `files`, or without these to the driver.

    `schema` is that of the rows as readers see them.
    """

    query: QueryPlan | ChangePlan
    schema: pa.Schema
    files: Staged | None

    @property
    def packed(self) -> str:
        """Under which name the rows come."""
        return self.query.name

    def finish(self, rows: pa.Table) -> pa.Table:
        return finish_part(rows.cast(self.query.emitted), self.query)

    def whole(self, parts: pa.Table) -> pa.Table:
        """The rows as readers see them, from what the tasks have sent."""
        return finish_whole(parts, self.query).cast(self.schema)


@dataclass(frozen=True, slots=True)
class RejectedOutlet:
    """The rejected events of one stream on their way."""

    stream: str
    schema: pa.Schema
    files: Staged | None
    packed: str = REJECTED_ROWS

    def finish(self, rows: pa.Table) -> pa.Table:
        return rows.filter(pc.equal(rows["stream"], self.stream)).select(self.schema.names).cast(self.schema)

    def whole(self, parts: pa.Table) -> pa.Table:
        return parts


AnyOutlet = Outlet | RejectedOutlet


def through(outlets: Sequence[AnyOutlet], batch: int) -> Callable[[Batches], Batches]:
    """What a task does with packed rows of `batch`; of queries without an outlet it tells that there are rows."""
    known = {outlet.packed for outlet in outlets}

    def run(batches: Batches) -> Batches:
        packed: dict[str, list[pa.Buffer]] = {}
        for part in batches:
            for name, rows in zip(part.column(0).to_pylist(), part.column(1)):
                if name is not None:
                    packed.setdefault(name, []).append(rows.as_buffer())
        told: list[tuple[int | None, str, str | None, bytes | None]] = [
            (None, name, None, None) for name in packed if name not in known
        ]
        for number, outlet in enumerate(outlets):
            if outlet.packed in packed:
                rows = outlet.finish(_unpacked(packed[outlet.packed]))
                if rows.num_rows and outlet.files is not None:
                    told.append((number, outlet.packed, outlet.files.write(rows.cast(outlet.schema), batch), None))
                elif rows.num_rows:
                    told.append((number, outlet.packed, None, as_bytes(rows)))
        if told:
            names = ["outlet", "query", "file", "rows"]
            types = [pa.int32(), pa.string(), pa.string(), pa.binary()]
            yield pa.record_batch([pa.array(column, kind) for column, kind in zip(zip(*told), types)], names=names)
        set_loaded_aside()

    return run


def as_bytes(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def read_bytes(parts: Sequence[bytes]) -> pa.Table:
    return _unpacked([pa.py_buffer(part) for part in parts])


def _unpacked(buffers: Sequence[pa.Buffer]) -> pa.Table:
    tables = []
    for buffer in buffers:
        with pa.ipc.open_stream(buffer) as reader:
            tables.append(reader.read_all())
    return pa.concat_tables(tables)
