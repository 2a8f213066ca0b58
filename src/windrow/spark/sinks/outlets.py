"""What tasks do with the rows of a batch by themselves: finish them, and write them to files or send them on.

A sink that Spark writes is a Spark job of its own, which costs more than a small batch. So the tasks that slide write
files too, and the driver only moves them into place.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.catalog import REJECTED_ROWS
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.spark.sinks.blame import blamed_on
from windrow.spark.sinks.packed import unpacked
from windrow.spark.sinks.rejected import REJECTED_SCHEMA, rejected_of
from windrow.spark.sinks.staged_files import Staged
from windrow.spark.stages.loaded import set_loaded_aside
from windrow.spark.stages.slice import NO_PROBE
from windrow.storage.columns import encode_batch

TOLD_DDL = (
    "outlet INT, query STRING, files ARRAY<STRING>, folders ARRAY<STRING>, rows BINARY, counted BIGINT, took_us BIGINT"
)
"""What a task tells the driver: files that it has written for an outlet, or rows, their number, or that it has some;
and how long that took. Nothing of it crosses a shuffle, so it may differ between two runs of a task."""

Batches = Iterator[pa.RecordBatch]


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
    zone: str

    @property
    def packed(self) -> str:
        return self.query.name

    def finish(self, rows: pa.Table) -> pa.Table:
        return finish_part(rows.cast(self.query.emitted), self.query, self.zone)

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


def queries_of(outlet: AnyOutlet) -> list[str]:
    """Whose rows they are: rejected events are of no query."""
    return [] if isinstance(outlet, RejectedOutlet) else [outlet.packed]


Told = tuple[int | None, str | None, list[str] | None, list[str] | None, bytes | None, int | None, int | None]


def sharing(outlets: Sequence[AnyOutlet]) -> list[int]:
    """For each outlet the first one whose files it shares: rows of the same columns, on their way to the same place."""
    first: dict[tuple[Staged, pa.Schema], int] = {}
    return [
        number if outlet.files is None else first.setdefault((outlet.files, outlet.schema), number)
        for number, outlet in enumerate(outlets)
    ]


def through(outlets: Sequence[AnyOutlet], batch: int) -> Callable[[Batches], Batches]:
    """What a task does with packed rows of `batch`; of queries without an outlet it tells that there are rows."""
    known = {outlet.packed for outlet in outlets}
    shared = sharing(outlets)

    def run(batches: Batches) -> Batches:
        packed: dict[str, list[pa.RecordBatch]] = {}
        clocks: list[int] = []
        spent = Counter[str]()
        for name, part in unpacked(_noting(batches, clocks, spent)):
            packed.setdefault(name, []).append(part)
        told: list[Told] = [(None, name, None, None, None, None, None) for name in packed if name not in known]
        if clocks:
            told.append((None, None, None, None, None, max(clocks), None))
        filed: dict[int, list[pa.Table]] = {}
        for number, (outlet, first) in enumerate(zip(outlets, shared)):
            if outlet.packed in packed:
                began = time.perf_counter_ns()
                with blamed_on(queries_of(outlet)):
                    rows = outlet.finish(pa.Table.from_batches(packed[outlet.packed]))
                    shown = rows if outlet.files is None else rows.cast(outlet.schema)
                if rows.num_rows and outlet.files is not None:
                    filed.setdefault(first, []).append(shown)
                    told.append((number, outlet.packed, None, None, None, rows.num_rows, None))
                elif rows.num_rows:
                    parts = ((encode_batch(part), part.num_rows) for part in rows.to_batches())
                    told += [(number, outlet.packed, None, None, *part, None) for part in parts]
                spent.update(dict.fromkeys(queries_of(outlet), (time.perf_counter_ns() - began) // 1000))
        for first, tables in filed.items():
            files = outlets[first].files
            assert files is not None
            began = time.perf_counter_ns()
            sharers = [name for outlet, own in zip(outlets, shared) if own == first for name in queries_of(outlet)]
            with blamed_on(sharers):
                staged = files.write(pa.concat_tables(tables), batch, first)
            took = (time.perf_counter_ns() - began) // 1000
            paths, folders = [file.path for file in staged], [file.folder for file in staged]
            told.append((first, None, paths, folders, None, None, took))
        told += [(None, query, None, None, None, None, took) for query, took in spent.items() if took]
        if told:
            yield pa.record_batch([pa.array(part, kind) for part, kind in zip(zip(*told), _TYPES)], names=_NAMES)
        set_loaded_aside()

    return run


def _noting(batches: Batches, clocks: list[int], spent: Counter[str]) -> Batches:
    """The same batches; the clocks that shards have reached are added to `clocks`, what queries took to `spent`."""
    for batch in batches:
        counted = batch.column(0).is_null()
        for took in batch.column(1).filter(counted).to_pylist():
            spent.update({} if took is None else json.loads(took))
        if batch.num_columns > 2:
            newest = pc.max(batch.column(2).filter(counted)).as_py()
            if newest is not None and newest != NO_PROBE:
                clocks.append(newest)
        yield batch


def clock_told(told: Iterable[Any]) -> int | None:
    """The clock that the shards of a batch have reached, as their tasks tell it; all have the same."""
    clocks = [row.counted for row in told if row.outlet is None and row.query is None and row.counted is not None]
    return max(clocks, default=None)


_NAMES = ["outlet", "query", "files", "folders", "rows", "counted", "took_us"]
_TYPES = [pa.int32(), pa.string(), pa.list_(pa.string()), pa.list_(pa.string()), pa.binary(), pa.int64(), pa.int64()]
