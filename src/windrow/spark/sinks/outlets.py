"""What tasks do with the rows of a batch by themselves: finish them, and write them to files or send them on.

A sink that Spark writes is a Spark job of its own, which costs more than a small batch. So the tasks that slide write
files too, and the driver only moves them into place.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import JobError
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
from windrow.spark.stages.slide import TOLD_ROWS
from windrow.storage.columns import decode, encode_batch

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


def as_declared(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of `schema`: to cast what needs none takes longer than to finish a few rows."""
    return rows if rows.schema.equals(schema) else rows.cast(schema)


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
        return finish_part(as_declared(rows, self.query.emitted), self.query, self.zone)

    def whole(self, parts: pa.Table) -> pa.Table:
        return finish_whole(parts, self.query, self.zone).cast(self.schema)


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


class Told(NamedTuple):
    """What a task tells the driver: see TOLD_DDL."""

    outlet: int | None = None
    query: str | None = None
    files: list[str] | None = None
    folders: list[str] | None = None
    rows: bytes | None = None
    counted: int | None = None
    took_us: int | None = None


def sharing(outlets: Sequence[AnyOutlet]) -> list[int]:
    """For each outlet the first one whose files it shares: rows of the same columns, on their way to the same place."""
    first: dict[tuple[Staged, pa.Schema], int] = {}
    return [
        number if outlet.files is None else first.setdefault((outlet.files, outlet.schema), number)
        for number, outlet in enumerate(outlets)
    ]


@dataclass(frozen=True, slots=True)
class Finishing:
    """Finishes rows in the task that has them: the outlets, the number of the first, and whose rows go on as they are.

    A name in `passes` is that of rows which somebody else finishes too.
    """

    outlets: tuple[AnyOutlet, ...]
    first: int = 0
    passes: frozenset[str] = frozenset()

    @property
    def takes(self) -> frozenset[str]:
        """Under which names rows come that nobody else asks for."""
        return frozenset(outlet.packed for outlet in self.outlets) - self.passes

    def told(self, packed: Mapping[str, Sequence[pa.RecordBatch]], batch: int, spent: Counter[str]) -> list[Told]:
        """Finish the rows of `batch`, by name; of those without an outlet it is told that there are some.

        What queries took is added to `spent`, and told.
        """
        shared, known = sharing(self.outlets), {outlet.packed for outlet in self.outlets}
        told = [Told(query=name) for name in packed if name not in known]
        filed: dict[int, list[pa.Table]] = {}
        for number, (outlet, first) in enumerate(zip(self.outlets, shared)):
            if outlet.packed in packed:
                began = time.perf_counter_ns()
                with blamed_on(queries_of(outlet)):
                    rows = outlet.finish(pa.Table.from_batches(packed[outlet.packed]))
                    shown = rows if outlet.files is None else as_declared(rows, outlet.schema)
                if rows.num_rows and outlet.files is not None:
                    filed.setdefault(first, []).append(shown)
                    told.append(Told(self.first + number, outlet.packed, counted=rows.num_rows))
                elif rows.num_rows:
                    told += [
                        Told(self.first + number, outlet.packed, rows=encode_batch(part), counted=part.num_rows)
                        for part in rows.to_batches()
                    ]
                spent.update(dict.fromkeys(queries_of(outlet), (time.perf_counter_ns() - began) // 1000))
        sharers: dict[int, list[str]] = {}
        for outlet, first in zip(self.outlets, shared):
            sharers.setdefault(first, []).extend(queries_of(outlet))
        for first, tables in filed.items():
            files = self.outlets[first].files
            assert files is not None
            began = time.perf_counter_ns()
            with blamed_on(sharers[first]):
                staged = files.write(pa.concat_tables(tables), batch, first)
            took = (time.perf_counter_ns() - began) // 1000
            paths, folders = [file.path for file in staged], [file.folder for file in staged]
            told.append(Told(self.first + first, files=paths, folders=folders, took_us=took))
        return told + [Told(query=query, took_us=took) for query, took in spent.items() if took]

    def packed_told(
        self, packed: Mapping[str, Sequence[pa.RecordBatch]], batch: int, spent: Counter[str], counts: Mapping[str, Any]
    ) -> bytes:
        """The same as bytes, for a row of its own among those that go on; and what the shard has counted."""
        clock = None if counts["clock"] == NO_PROBE else counts["clock"]
        counted = Told(rows=json.dumps(counts, default=int).encode(), counted=clock)
        return encode_batch(_as_batch([counted, *self.told(packed, batch, spent)]), compress=False)


def through(finishing: Finishing, batch: int) -> Callable[[Batches], Batches]:
    """What a task does with packed rows of `batch` that were not finished where they were made."""

    def run(batches: Batches) -> Batches:
        packed: dict[str, list[pa.RecordBatch]] = {}
        clocks: list[int] = []
        spent = Counter[str]()
        for name, part in unpacked(_noting(batches, clocks, spent)):
            if name == TOLD_ROWS:
                yield part
            else:
                packed.setdefault(name, []).append(part)
        told = [Told(counted=max(clocks))] if clocks else []
        told += finishing.told(packed, batch, spent)
        if told:
            yield _as_batch(told)
        set_loaded_aside()

    return run


def told_in(rows: Iterable[Any]) -> list[Told]:
    """What tasks tell that have finished their rows where they were made: from `query` and `rows`."""
    told, shards = list[Told](), 0
    for row in rows:
        if row.query == TOLD_ROWS:
            shards -= 1
            told += (Told(**said) for said in decode(bytes(row.rows)).to_pylist())
        elif row.query is None:
            shards += 1
    if shards:
        raise JobError("some shards have not finished their rows: start the job again, it goes on from its checkpoint")
    return told


def counts_told(told: Iterable[Told]) -> list[dict[str, Any]]:
    """What the shards of a batch have counted, as far as their tasks tell it."""
    return [json.loads(row.rows) for row in told if row.outlet is None and row.query is None and row.rows is not None]


def _as_batch(told: Sequence[Told]) -> pa.RecordBatch:
    columns = zip(*told) if told else [[] for _ in _NAMES]
    return pa.record_batch([pa.array(part, kind) for part, kind in zip(columns, _TYPES)], names=_NAMES)


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
