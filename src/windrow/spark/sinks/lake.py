"""Tables of lakes: tasks write Parquet files, and the driver commits those of a batch to the table, once."""

from __future__ import annotations

import logging
import os
import posixpath
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import SettingsError
from windrow.language import parse_duration
from windrow.places.place import Place
from windrow.plan.sink import Sink
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.net_changes import NetChanges
from windrow.spark.sinks.partition_folders import NO_VALUE
from windrow.spark.sinks.staged_files import StagedFile, StagedFiles

LOGGER = logging.getLogger("windrow")


class LakeFile(NamedTuple):
    """A file of a table: its path, whole and below the table's folder, its bytes and rows, and the folder's values."""

    path: str
    relative: str
    size: int
    rows: int
    values: dict[str, str | None]


class LakeTable(Protocol):
    """A table that files are committed to, together with the number of the batch that they are of."""

    whole_files: bool
    """Whether files have the columns that the table is partitioned by, too."""

    def last_batch(self) -> int:
        """The last batch that the table says it has; -1 if none."""

    def check(self, schema: pa.Schema, partition_by: tuple[str, ...]) -> None:
        """Refuse rows that do not fit the table, where there is one."""

    def commit(
        self, files: Sequence[LakeFile], schema: pa.Schema, partition_by: tuple[str, ...], batch: int, *, replace: bool
    ) -> None:
        """Add files, or replace all that there are, and note the batch, in one commit.

        The table is made where there is none.
        """

    def merge(self, net: NetChanges, partition_by: tuple[str, ...], batch: int, *, anew: bool) -> None:
        """Take away the rows that went and put in those that came, by their keys, and note the batch, in one commit.

        `anew` replaces all that there is by what came. The table is made where there is none.
        """

    def expire(self, age_us: int) -> None:
        """Forget what the table was longer ago than `age_us`, and remove the files that only this needed."""


class LakeCommits:
    """Commits the files of a sink to its table, and has old versions expire."""

    def __init__(self, table: LakeTable, sink: Sink) -> None:
        """`sink` is as it was declared."""
        self._table, self._partition_by = table, sink.partition_by
        self._expire_us = None if sink.expire is None else parse_duration(sink.expire)
        self._expired: float | None = None
        self.whole_files = table.whole_files

    def check(self, schema: pa.Schema) -> None:
        """Refuse rows that do not fit the table."""
        check_partitions_of(schema, self._partition_by)
        self._table.check(schema, self._partition_by)

    def last_batch(self) -> int:
        return self._table.last_batch()

    def commit(
        self, folder: Place, shown: Sequence[tuple[str, str]], schema: pa.Schema, batch: int, *, replace: bool = False
    ) -> None:
        """Commit files that are in the table's folder already: by the folder below it, and their name."""
        files = []
        for below, name in shown:
            place = folder / below / name
            with place.open() as content:
                size = content.seek(0, os.SEEK_END)
                rows = pq.ParquetFile(content).metadata.num_rows
            relative = posixpath.join(below, name)
            files.append(LakeFile(place.path, relative, size, rows, values_of(below)))
        self._table.commit(files, schema, self._partition_by, batch, replace=replace)
        self._expire()

    def merge(self, net: NetChanges, batch: int, *, anew: bool) -> None:
        """Bring a table that holds an answer from before a batch to after it; `anew` it begins with what came."""
        self._table.merge(net, self._partition_by, batch, anew=anew)
        self._expire()

    def _expire(self) -> None:
        """Have old versions expire, ten times in the time that they are kept; what goes wrong with it waits."""
        now = time.monotonic()
        if self._expire_us is None or (
            self._expired is not None and (now - self._expired) * 10_000_000 < self._expire_us
        ):
            return
        self._expired = now
        try:
            self._table.expire(self._expire_us)
        except Exception as error:  # rows are there: to remove old ones is worth no stop
            LOGGER.warning("old versions of a table have not expired: %s", error)


class LakeSink(FileSink):
    """Shows the files of a batch by a commit to a table.

    Files are moved into the folder of the table first, where nobody sees them before the commit. Neither kind of table
    skips what comes twice, so the table is asked for its last batch before a batch that may have run before: one that
    it has is passed over, and of one that it has not, files that are there already are removed.
    """

    def __init__(
        self,
        files: Sink,
        prefix: str,
        spark: SparkSession,
        place: Place,
        commits: LakeCommits,
        *,
        replaces: bool = False,
    ) -> None:
        """`files` is a sink of Parquet files in the folder of the table, `place`.

        One that `replaces` shows the files of a batch, also if there are none, instead of all that the table had.
        """
        super().__init__(files, prefix, spark, place)
        self._commits, self._replaces = commits, replaces
        self._schema: pa.Schema | None = None
        self._done = -1

    def form(self, schema: pa.Schema) -> FileFormat | str:
        return lake_format(super().form(schema), self._commits)

    def by_tasks(self, schema: pa.Schema) -> StagedFiles | str:
        self._commits.check(schema)
        self._schema = schema
        return super().by_tasks(schema)

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        self._schema = to_arrow_schema(rows.schema, timezone="UTC")
        self._commits.check(self._schema)
        if self._commits.whole_files:
            found = rows.toArrow()
            return self.stage(found, batch) if found.num_rows else []
        return super().stage_by_spark(rows, batch)

    def clear(self, batch: int) -> None:
        self._done = self._commits.last_batch()
        if batch > self._done:
            super().clear(batch)
        else:
            self._tidy(batch)

    def show(self, staged: Sequence[StagedFile], batch: int) -> None:
        if batch > self._done and (staged or self._replaces):
            assert self._schema is not None, "rows have been staged"
            shown = self._move(staged, f"{self.prefix}-{batch:09d}")
            self._commits.commit(self._folder, shown, self._schema, batch, replace=self._replaces)
            self._done = batch
        self._tidy(batch)


def lake_format(form: FileFormat | str, commits: LakeCommits) -> FileFormat | str:
    """The format of files as the table wants them."""
    return replace(form, whole=commits.whole_files) if isinstance(form, FileFormat) else form


def check_partitions_of(schema: pa.Schema, partition_by: tuple[str, ...]) -> None:
    """Refuse partitions by values that have no name: of a number with a fraction, NaN and -0.0 are not told apart."""
    for name in partition_by:
        kind = schema.field(name).type if name in schema.names else pa.null()
        if pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise SettingsError(
                f"a table is not partitioned by {name}, of type {kind}\nhint: a text, a whole number, a date, or a time"
            )


def values_of(folder: str) -> dict[str, str | None]:
    """The values that a folder is named by.

    >>> values_of("day=2026-11-16/k=a%3Db/x=__HIVE_DEFAULT_PARTITION__")
    {'day': '2026-11-16', 'k': 'a=b', 'x': None}
    """
    parts = (part.split("=", 1) for part in folder.split("/") if part)
    return {unquote(name): None if value == NO_VALUE else unquote(value) for name, value in parts}
