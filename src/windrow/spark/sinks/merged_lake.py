"""The current answer of a query that emits changes, as a table of a lake into which the changes are merged by key."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from windrow.errors import JobError, SettingsError
from windrow.plan.sink import Sink, check_key
from windrow.spark.sinks.answer_files import UNKNOWN
from windrow.spark.sinks.lake import LakeCommits
from windrow.spark.sinks.net_changes import net_changes
from windrow.spark.sinks.staged_files import Staged


class MergedLake:
    """Takes away rows that went and puts in those that came, by their keys, in one commit, with the batch noted.

    Nothing of the answer is kept elsewhere: only files in which a row changes are written anew. A batch that the table
    has is passed over. A job on another checkpoint begins by replacing whatever there is.
    """

    takes_empty = False

    def __init__(self, sink: Sink, commits: LakeCommits, leading: int, columns: Sequence[str]) -> None:
        """The first `leading` columns of a change say how and when it came, `columns` are those of the answer."""
        check_key(sink, columns)
        if any(name.lower() == "compression" for name, _ in sink.options):
            raise SettingsError(
                "files into which rows are merged are compressed as the library of the table does it"
                "\nhint: leave out compression, or key"
            )
        self._commits, self._leading, self._key = commits, leading, sink.key

    def by_tasks(self, schema: pa.Schema) -> Staged | str | None:
        """Refuse rows that do not fit; they come to the driver."""
        answer = pa.schema([schema.field(number) for number in range(self._leading, len(schema))])
        for name in self._key:
            if pa.types.is_nested(answer.field(name).type):
                raise SettingsError(f"key {name!r} is of type {answer.field(name).type}\nhint: a plain value")
        self._commits.check(answer)
        return None

    def write(self, rows: DataFrame, batch: int) -> None:
        self.take(rows.toArrow(), batch)

    def take(self, rows: pa.Table, batch: int) -> None:
        """Bring the table to the answer after `batch`, unless it is there already."""
        if rows.num_rows == 0:
            return
        done = self._commits.last_batch()
        if batch <= done:
            return
        net = net_changes(rows, self._leading, self._key)
        if done < 0 and net.went.num_rows:
            raise JobError(UNKNOWN)
        self._commits.merge(net, batch, anew=done < 0)
