"""The current answer of a query that emits changes, as a table of a lake whose files are replaced in one commit."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import JobError
from windrow.places.place import AnyPlace
from windrow.plan.sink import Sink
from windrow.spark.sinks.answer_files import AnswerSink
from windrow.spark.sinks.lake import LakeCommits, LakeSink
from windrow.spark.sinks.lake_tables import files_of, table_of


class AnswerLake(AnswerSink):
    """Adds up the changes of each batch, and commits the answer in place of the one before, with the batch noted.

    Readers of the table see the one or the other; which they saw before is there until it expires. A batch that the
    table has is passed over. A job on another checkpoint replaces whatever there is.
    """

    def __init__(self, sink: Sink, mark: str, prefix: str, spark: SparkSession, home: AnyPlace, leading: int) -> None:
        """`mark` is the name under which batches are noted, `prefix` begins the names of files."""
        table, place = table_of(spark, sink, mark)
        self._commits, files = LakeCommits(table, sink), files_of(sink, place)
        self._files = LakeSink(files, prefix, spark, place, self._commits, replaces=True)
        super().__init__(files, home, leading, place)

    def check_rows(self, spark: SparkSession, shown: Callable[[], pa.Schema]) -> None:
        columns = shown()
        self._commits.check(pa.schema([columns.field(number) for number in range(self._leading, len(columns))]))

    def _check_alone(self) -> None:
        """A table's folder has other files, which its log knows."""

    def _show(self, rows: DataFrame, batch: int) -> None:
        schema = to_arrow_schema(self._schema(rows), timezone="UTC")
        self._files.use(rows.sparkSession)
        staging = self._files.by_tasks(schema)
        if isinstance(staging, str):
            raise JobError(f"the answer cannot be written to its table: {staging}")
        self._files.clear(batch)
        if batch > self._commits.last_batch():
            with self._place(batch).open() as kept:
                answer = pq.read_table(kept).cast(schema)
            staged = staging.put(answer, batch, f"answer-{uuid.uuid4().hex[:8]}") if answer.num_rows else []
            self._files.show(staged, batch)
