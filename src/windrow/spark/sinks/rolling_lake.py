"""Tables of lakes that get the batches of a while in one commit: their rows wait in the checkpoint until then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.places.place import AnyPlace, Place
from windrow.plan.sink import Sink
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.lake import LakeCommits, lake_format
from windrow.spark.sinks.lake_tables import files_of, table_of
from windrow.spark.sinks.rolling import Note, RollingSink
from windrow.spark.sinks.staged_files import StagedFile, StagedFiles


class RollingLake(RollingSink):
    """Shows the rows of a while by one commit, which notes the last of its batches.

    The table itself says which batches it has: parts of these that still wait are dropped, whoever was killed where.
    """

    def __init__(self, sink: Sink, mark: str, prefix: str, spark: SparkSession, home: AnyPlace) -> None:
        """`mark` is the name under which batches are noted, `home` where rows wait."""
        table, place = table_of(spark, sink, mark)
        super().__init__(files_of(sink, place), prefix, spark, home, place)
        self._commits, self._declared, self._mark = LakeCommits(table, sink), sink, mark

    def form(self, schema: pa.Schema) -> FileFormat | str:
        return lake_format(super().form(schema), self._commits)

    def by_tasks(self, schema: pa.Schema) -> StagedFiles:
        self._commits.check(schema)
        return super().by_tasks(schema)

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        self._commits.check(to_arrow_schema(rows.schema, timezone="UTC"))
        return super().stage_by_spark(rows, batch)

    def clear(self, batch: int) -> None:
        self.keep_home()
        self._recover(batch - 1)
        if batch > self._commits.last_batch():
            FileSink.clear(self, batch)
        else:  # its files stay: it had said that the input has ended, and the table has them
            self._tidy(batch)

    def _own_note(self) -> list[Any]:
        return [self._declared.format, list(self._declared.options), self._mark]

    def _finish(self, note: Note) -> None:
        """Carry out what a note says, unless the table has its batches."""
        super()._finish(note if note.shown else note._replace(shown=note.last <= self._commits.last_batch()))

    def _roll(self, name: str) -> None:
        done = self._commits.last_batch()
        self._drop(name, lambda batch: batch <= done)
        super()._roll(name)

    def _show_rolled(self, staged: Sequence[StagedFile], note: Note) -> None:
        begins = f"{self.prefix}-{note.first:09d}-{note.last:09d}"
        shown = self._move(staged, begins)
        self._commits.commit(self._folder, shown, self._columns(self._home / note.folder), note.last)

    def _columns(self, waiting: Place) -> pa.Schema:
        """The columns of rows that wait: all have the same, since the mark tells queries apart."""
        with min(waiting.entries(), key=lambda part: part.name).open() as part:
            return pq.read_schema(part).remove_metadata()
