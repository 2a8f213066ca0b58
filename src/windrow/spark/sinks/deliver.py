"""A batch's results to their sinks: one Spark job for all that tasks write, and one each for the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.places.place import Place
from windrow.plan.catalog import REJECTED_ROWS
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.spark.sinks.blame import blamed_on
from windrow.spark.sinks.costs import Costs
from windrow.spark.sinks.covered import Coverage
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.forgotten import roll_forgotten
from windrow.spark.sinks.index_files import IndexSink
from windrow.spark.sinks.keep_answers import Keeping
from windrow.spark.sinks.outlets import (
    TOLD_DDL,
    AnyOutlet,
    Finishing,
    Outlet,
    RejectedOutlet,
    Told,
    clock_told,
    counts_told,
    queries_of,
    through,
    told_in,
)
from windrow.spark.sinks.rejected import REJECTED_SCHEMA, rejected_rows
from windrow.spark.sinks.results import typed_results
from windrow.spark.sinks.rolling import RollingSink
from windrow.spark.sinks.staged_files import StagedFile
from windrow.spark.sinks.writers import AnyWriter, WrittenBySpark
from windrow.spark.stages.slide import KEPT, TOLD_ROWS
from windrow.storage.columns import decode

AT_ONCE = 4
"""So many sinks are written by Spark at a time: most of what a small one costs is waiting for Spark to begin."""

Staging = dict[FileSink, list[StagedFile]]
"""What waits to be shown, by sink."""


class Delivery:
    """The sinks of the queries over one stream, batch by batch."""

    def __init__(
        self,
        spark: SparkSession,
        queries: Sequence[QueryPlan | ChangePlan],
        writers: Mapping[str, AnyWriter],
        rejected: Mapping[str, AnyWriter],
        may_commit: Callable[[], None],
        keeping: Keeping | None = None,
        covered: Coverage | None = None,
    ) -> None:
        """`rejected` are the writers of rejected events, by stream; `may_commit` raises if another job took over.

        `keeping` is who keeps current answers, if anybody does.
        """
        self._may_commit, self._keeping = may_commit, keeping
        self._finishing: Finishing | None = None
        self.counts: list[dict[str, Any]] = []
        """What each shard has counted in the last batch, where its tasks tell it."""
        self._clock_us: int | None = None
        self.costs = Costs()
        """What each query and each sink took in the last batch."""
        self._outlets: list[tuple[AnyOutlet, AnyWriter]] = []
        self._by_spark: list[tuple[QueryPlan | ChangePlan, AnyWriter]] = []
        self._rejected_by_spark: list[tuple[str, AnyWriter]] = []
        everyone = [*writers.values(), *rejected.values()]
        self._files = list(dict.fromkeys(writer for writer in everyone if isinstance(writer, FileSink)))
        self._sharers = {
            sink: [name for name, writer in writers.items() if writer is sink]
            if all(writer is not sink for writer in rejected.values())
            else []
            for sink in self._files
        }
        self._asked = frozenset(writers)
        self._indexes = [sink for sink in self._files if isinstance(sink, IndexSink)]
        self._goes_on = False
        covered = covered or Coverage(spark)
        for query in queries:
            writer = writers[query.name]
            if isinstance(writer, WrittenBySpark):
                writer.check_rows(spark, partial(covered.shown, query))
            schema = writer.why if isinstance(writer, WrittenBySpark) else covered.schema(query)
            files = schema if isinstance(schema, str) else writer.by_tasks(schema)
            if isinstance(files, str) or isinstance(schema, str):
                self._by_spark.append((query, writer))
            else:
                # what is ranked is so over all shards, and therefore in the driver
                outlet = Outlet(query, schema, None if query.compares_rows else files, covered.zone)
                self._outlets.append((outlet, writer))
        for stream, writer in rejected.items():
            if isinstance(writer, WrittenBySpark):
                writer.check_rows(spark, lambda: REJECTED_SCHEMA)
            files = writer.by_tasks(REJECTED_SCHEMA)
            if isinstance(files, str):
                self._rejected_by_spark.append((stream, writer))
            else:
                self._outlets.append((RejectedOutlet(stream, files), writer))

    def __getstate__(self) -> dict[str, object]:
        """Where it goes to another process, it begins with no costs."""
        return {**vars(self), "costs": None}

    def use(self, spark: SparkSession) -> None:
        """Have the sinks ask this session for settings."""
        for sink in self._files:
            sink.use(spark)

    def begin(self) -> None:
        """Be ready for a batch that an earlier run may have begun: it replaces what it finds of itself."""
        self._goes_on = False

    def in_slide(self, whole: bool) -> Finishing | None:
        """Who finishes rows in the tasks that slide, if answers are `whole` there: no row then crosses to the JVM.

        Which rows are asked for beside their sinks, tasks are told by a property of the thread, which Spark's jobs only
        have where threads of Python are those of the JVM.
        """
        outlets = tuple(outlet for outlet, _ in self._outlets)
        passes = frozenset([REJECTED_ROWS] if self._rejected_by_spark else [])
        whole = whole and os.environ.get("PYSPARK_PIN_THREAD", "true").lower() == "true"
        self._finishing = Finishing(outlets, passes=passes) if whole and outlets else None
        return self._finishing

    @property
    def leaves_to_spark(self) -> bool:
        """Whether Spark finishes or writes rows of some sink."""
        return bool(self._by_spark or self._rejected_by_spark)

    @property
    def rolls(self) -> bool:
        """Whether the instants of batches matter."""
        return any(isinstance(sink, RollingSink) for sink in self._files)

    @property
    def sees_the_end(self) -> bool:
        """Whether it matters that the input has ended."""
        return self.rolls or bool(self._indexes)

    def stopped(self, folder: Place, committed: int, spark: SparkSession) -> None:
        """Show what waits in the `folder` of the stream, of batches up to the last that Spark has `committed`."""
        for sink in self._files:
            if isinstance(sink, RollingSink):
                sink.roll_all(committed)
        self.forget_others(folder, committed, spark)

    def forget_others(self, folder: Place, committed: int, spark: SparkSession) -> None:
        """Show what waits there for sinks that roll no more."""
        roll_forgotten(folder, self._files, committed, spark)

    def write(self, batch: DataFrame, number: int, instant_us: int = 0, *, flushed: bool = False) -> dict[str, int]:
        """Write each query's rows; the batch is computed once, whoever reads it.

        `instant_us` is when the batch began, `flushed` whether it says that the input has ended. Tells how many rows
        each query has; those that Spark finishes are not counted.
        """
        self._may_commit()
        self.costs = Costs()
        if not self._goes_on:
            for sink in self._files:
                with blamed_on(self._sharers[sink]):
                    sink.clear(number)
        staged: Staging = {}
        counted = self._stage(batch, number, staged)
        self._may_commit()  # computing the batch may have taken long
        for sink in self._files:
            if isinstance(sink, RollingSink):
                with self._writing(sink):
                    sink.turn(instant_us, flushed=flushed)
        for index in self._indexes:
            with self._writing(index):
                clock = None if flushed else self._clock_us  # windows of others end far behind the last event
                index.commit(staged.pop(index, []), number, clock)
        for sink, files in staged.items():
            with self._writing(sink):
                sink.show(files, number)
        if self._keeping is not None:
            self._keeping.commit(number, self._clock_us)
        self._goes_on = True
        return counted

    @contextmanager
    def _writing(self, sink: FileSink) -> Iterator[None]:
        """Let those whose rows are in the files of a sink answer for what goes wrong, and for the time it takes."""
        sharers = self._sharers[sink]
        with blamed_on(sharers), self.costs.writing(_called(sharers)):
            yield

    def _stage(self, batch: DataFrame, number: int, staged: Staging) -> dict[str, int]:
        kept = {} if self._keeping is None else self._keeping.outlets()
        kept_by_spark = [] if self._keeping is None else self._keeping.left_to_spark()
        left = len(self._by_spark) + len(self._rejected_by_spark) + len(kept_by_spark)
        if not self._outlets and len(self._by_spark) == 1 == left and not kept and not self._indexes:
            query, writer = self._by_spark[0]
            with blamed_on([query.name]), self.costs.writing(query.name):  # whatever fails, it is the only one
                _leave(typed_results(batch, query), number, writer, staged)
            return {}
        if left:
            batch = batch.persist()
        try:
            told = self._told(batch, number, tuple(kept.values()), left)
            self.counts = counts_told(told)
            self._clock_us = clock_told(told)
            counted = self._take(told, number, staged)
            self._leave_to_spark(
                batch, number, {row.query for row in told if row.took_us is None and row.query is not None}, staged
            )
            self._keep(kept, told, number)
            for query in kept_by_spark:
                assert self._keeping is not None
                with blamed_on([query.name]):
                    self._keeping.take_from_spark(batch, query, number)
        finally:
            if left:
                batch.unpersist()
        return counted

    def _told(self, batch: DataFrame, number: int, kept: tuple[AnyOutlet, ...], left: int) -> Sequence[Told]:
        """Have the batch computed, and the rows finished that are not by then; what the tasks tell of it.

        Whatever is asked of the batch besides, Spark analyses and plans anew each time: where all of it is `left` to
        nobody, it is asked for as it is.
        """
        own = tuple(outlet for outlet, _ in self._outlets)
        if self._finishing is not None:
            asked = json.dumps(sorted({outlet.packed for outlet in kept}))
            batch.sparkSession.sparkContext.setLocalProperty(KEPT, asked)
            if not kept:
                told = f"query IS NULL OR query = '{TOLD_ROWS}'"
                return told_in((batch.where(told) if left else batch).collect())
            own = ()
        rows = batch.select("query", "rows", *([] if self._finishing else ["clock"]))
        finishing = Finishing((*own, *kept), len(self._outlets) - len(own))
        return [Told(*row) for row in rows.mapInArrow(through(finishing, number), TOLD_DDL).collect()]

    def _take(self, told: Iterable[Told], number: int, staged: Staging) -> dict[str, int]:
        """Note what the tasks have written, and take what they have sent; tells how many rows each query has."""
        counted: dict[str, int] = {}
        by_outlet: dict[int, list[Told]] = {}
        for row in told:
            if row.outlet is not None:
                by_outlet.setdefault(row.outlet, []).append(row)
            elif row.took_us is not None and row.query in self._asked:
                self.costs.query(row.query, row.took_us)
        for place, (outlet, writer) in enumerate(self._outlets):
            rows = by_outlet.get(place, [])
            if outlet.files is None:
                with blamed_on(queries_of(outlet)), self.costs.writing(_called(queries_of(outlet))):
                    sent = _whole(outlet, rows) if rows else outlet.schema.empty_table()
                    count = sent.num_rows
                    files = writer.stage(sent, number) if isinstance(writer, FileSink) and rows else []
                    if not isinstance(writer, FileSink) and (rows or writer.takes_empty):
                        writer.take(sent, number)
            else:
                count = sum(row.counted for row in rows if row.counted is not None)
                written = [row for row in rows if row.files is not None]
                files = [StagedFile(*file) for row in written for file in zip(row.files or (), row.folders or ())]
                self.costs.sink(self._sink_of(outlet, writer), sum(row.took_us or 0 for row in written))
            if files and isinstance(writer, FileSink):
                staged.setdefault(writer, []).extend(files)
            if isinstance(outlet, Outlet):
                counted[outlet.packed] = counted.get(outlet.packed, 0) + count
        return counted

    def _sink_of(self, outlet: AnyOutlet, writer: AnyWriter) -> str:
        return _called(self._sharers[writer] if isinstance(writer, FileSink) else queries_of(outlet))

    def _keep(self, kept: Mapping[str, AnyOutlet], told: Iterable[Told], number: int) -> None:
        """Put aside what tasks have sent of current answers."""
        sent: dict[int, list[Told]] = {}
        for row in told:
            if row.outlet is not None and row.outlet >= len(self._outlets):
                sent.setdefault(row.outlet - len(self._outlets), []).append(row)
        for place, (name, outlet) in enumerate(kept.items()):
            if place in sent and self._keeping is not None:
                with blamed_on(queries_of(outlet)):
                    self._keeping.take(name, _whole(outlet, sent[place]), number)

    def _leave_to_spark(self, batch: DataFrame, number: int, present: set[str], staged: Staging) -> None:
        due = [(query, writer) for query, writer in self._by_spark if query.name in present or writer.takes_empty]

        def write(pair: tuple[QueryPlan | ChangePlan, AnyWriter]) -> None:
            query, writer = pair
            with blamed_on([query.name]), self.costs.writing(query.name):
                _leave(typed_results(batch, query), number, writer, staged)

        at_once = [pair for pair in due if not pair[1].takes_empty]
        with ThreadPoolExecutor(min(AT_ONCE, max(1, len(at_once)))) as pool:
            list(pool.map(write, at_once))
        for pair in due:
            if pair[1].takes_empty:
                write(pair)
        for stream, writer in self._rejected_by_spark:
            _leave(rejected_rows(batch, stream), number, writer, staged)


def _called(sharers: Sequence[str]) -> str:
    """The sink of some queries, by the first of them, which is called as the sink is; rejected events are of none."""
    return sharers[0] if sharers else "rejected"


def _leave(rows: DataFrame, number: int, writer: AnyWriter, staged: Staging) -> None:
    """Have Spark write rows, or stage them where others join them."""
    if isinstance(writer, FileSink):
        staged.setdefault(writer, []).extend(writer.stage_by_spark(rows, number))
    else:
        writer.write(rows, number)


def _whole(outlet: AnyOutlet, rows: Sequence[Told]) -> pa.Table:
    return outlet.whole(pa.Table.from_batches([decode(bytes(row.rows)) for row in rows if row.rows is not None]))
