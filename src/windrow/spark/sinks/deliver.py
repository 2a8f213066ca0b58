"""A batch's results to their sinks: one Spark job for all that tasks write, and one each for the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.spark.sinks.covered import covered_schema
from windrow.spark.sinks.outlets import TOLD_DDL, AnyOutlet, Outlet, RejectedOutlet, through
from windrow.spark.sinks.rejected import rejected_rows
from windrow.spark.sinks.results import typed_results
from windrow.spark.sinks.writers import TakesTables, Writer
from windrow.storage.columns import decode

AT_ONCE = 4
"""So many sinks are written by Spark at a time: most of what a small one costs is waiting for Spark to begin."""


class Delivery:
    """The sinks of the queries over one stream, batch by batch."""

    def __init__(
        self,
        spark: SparkSession,
        queries: Sequence[QueryPlan | ChangePlan],
        writers: Mapping[str, Writer],
        rejected: Mapping[str, Writer],
    ) -> None:
        """`rejected` are the writers of rejected events, by stream."""
        self._outlets: list[tuple[AnyOutlet, TakesTables, bool]] = []
        self._by_spark: list[tuple[QueryPlan | ChangePlan, Writer]] = []
        self._rejected_by_spark: list[tuple[str, Writer]] = []
        for query in queries:
            writer = writers[query.name]
            tables = writer.tables
            schema = None if tables is None else covered_schema(query, spark)
            if tables is None or schema is None:
                self._by_spark.append((query, writer))
            else:
                # what is ranked is so over all shards, and therefore in the driver
                outlet = Outlet(query, schema, None if query.order else tables.staged)
                self._outlets.append((outlet, tables, writer.takes_empty))
        for stream, writer in rejected.items():
            if writer.tables is None:
                self._rejected_by_spark.append((stream, writer))
            else:
                rows = RejectedOutlet(stream, writer.tables.staged)
                self._outlets.append((rows, writer.tables, writer.takes_empty))

    def write(self, batch: DataFrame, number: int) -> None:
        """Write each query's rows; the batch is computed once, whoever reads it."""
        left = len(self._by_spark) + len(self._rejected_by_spark)
        if not self._outlets and len(self._by_spark) == 1 == left:
            query, writer = self._by_spark[0]
            writer.write(typed_results(batch, query), number)
            return
        if left:
            batch = batch.persist()
        try:
            run = through([outlet for outlet, _, _ in self._outlets], number)
            told = batch.select("query", "rows").mapInArrow(run, TOLD_DDL).collect()
            self._take(told, number)
            self._leave_to_spark(batch, number, {row.query for row in told})
        finally:
            if left:
                batch.unpersist()

    def _take(self, told: Iterable[Row], number: int) -> None:
        """Show what the tasks have written, and take what they have sent."""
        by_outlet: dict[int, list[Row]] = {}
        for row in told:
            if row.outlet is not None:
                by_outlet.setdefault(row.outlet, []).append(row)
        for place, (outlet, tables, takes_empty) in enumerate(self._outlets):
            rows = by_outlet.get(place, [])
            if outlet.files is not None:
                if rows:
                    tables.show([row.file for row in rows], number)
            elif rows:
                parts = pa.Table.from_batches([decode(bytes(row.rows)) for row in rows])
                tables.take(outlet.whole(parts), number)
            elif takes_empty:
                tables.take(outlet.schema.empty_table(), number)

    def _leave_to_spark(self, batch: DataFrame, number: int, present: set[str]) -> None:
        due = [(query, writer) for query, writer in self._by_spark if query.name in present or writer.takes_empty]

        def write(pair: tuple[QueryPlan | ChangePlan, Writer]) -> None:
            query, writer = pair
            writer.write(typed_results(batch, query), number)

        at_once = [pair for pair in due if not pair[1].takes_empty]
        with ThreadPoolExecutor(min(AT_ONCE, max(1, len(at_once)))) as pool:
            list(pool.map(write, at_once))
        for pair in due:
            if pair[1].takes_empty:
                write(pair)
        for stream, writer in self._rejected_by_spark:
            writer.write(rejected_rows(batch, stream), number)
