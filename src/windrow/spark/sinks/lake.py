"""Tables of lakes: tasks write Parquet files, and the driver commits those of a batch to the table, once."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from typing import NamedTuple, Protocol
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from windrow.errors import SettingsError
from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.places.place import Place, place_of
from windrow.plan.sink import Sink
from windrow.spark.sinks.files import FileSink, extension_of
from windrow.spark.sinks.partition_folders import NO_VALUE
from windrow.spark.sinks.staged_files import StagedFile, StagedFiles


class LakeFile(NamedTuple):
    """A file of a table: its path, whole and below the table's folder, its bytes and rows, and the folder's values."""

    path: str
    relative: str
    size: int
    rows: int
    values: dict[str, str | None]


class LakeTable(Protocol):
    """A table that files are committed to, together with the number of the batch that they are of."""

    def last_batch(self) -> int:
        """The last batch that the table says it has; -1 if none."""

    def check(self, schema: pa.Schema, partition_by: tuple[str, ...]) -> None:
        """Refuse rows that do not fit the table, where there is one."""

    def commit(self, files: Sequence[LakeFile], schema: pa.Schema, partition_by: tuple[str, ...], batch: int) -> None:
        """Add files, and note the batch, in one commit; the table is made where there is none."""


class LakeSink(FileSink):
    """Shows the files of a batch by a commit to a table.

    Files are moved into the folder of the table first, where nobody sees them before the commit. Neither kind of table
    skips what comes twice, so the table is asked for its last batch before a batch that may have run before: one that
    it has is passed over, and of one that it has not, files that are there already are removed.
    """

    def __init__(self, sink: Sink, prefix: str, spark: SparkSession, place: Place, table: LakeTable) -> None:
        """`sink` is one of Parquet files, in the folder of the table, `place`."""
        super().__init__(sink, prefix, spark, place)
        self._table = table
        self._schema: pa.Schema | None = None
        self._done = -1

    def by_tasks(self, schema: pa.Schema) -> StagedFiles | str:
        self._table.check(schema, self._sink.partition_by)
        self._schema = schema
        return super().by_tasks(schema)

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        self._schema = to_arrow_schema(rows.schema, timezone="UTC")
        self._table.check(self._schema, self._sink.partition_by)
        return super().stage_by_spark(rows, batch)

    def clear(self, batch: int) -> None:
        self._done = self._table.last_batch()
        if batch > self._done:
            super().clear(batch)
        else:
            self._tidy(batch)

    def show(self, staged: Sequence[StagedFile], batch: int) -> None:
        if batch > self._done and staged:
            assert self._schema is not None, "rows have been staged"
            files = self._in_place(staged, batch)
            self._table.commit(files, self._schema, self._sink.partition_by, batch)
            self._done = batch
        self._tidy(batch)

    def _in_place(self, staged: Sequence[StagedFile], batch: int) -> list[LakeFile]:
        files = []
        ordered = sorted(staged, key=lambda file: (file.folder, file.path))
        self._move(ordered, f"{self.prefix}-{batch:09d}")
        for number, (path, folder) in enumerate(ordered):
            name = f"{self.prefix}-{batch:09d}-{number:05d}{extension_of(posixpath.basename(path))}"
            place = self._folder / folder / name
            with place.open() as content:
                rows = pq.ParquetFile(content).metadata.num_rows
            relative = posixpath.join(folder, name)
            files.append(LakeFile(place.path, relative, os.path.getsize(place.path), rows, values_of(folder)))
        return files


def lake_place(path: str, format: str) -> Place:
    """The folder of a table, which is on this machine."""
    if scheme_of(path) != FILE:
        raise SettingsError(
            f"a table of {format} at {path} is elsewhere, and only local ones are written"
            "\nhint: a path of this machine, or a sink of parquet, which can be anywhere"
        )
    return place_of(os.path.abspath(local_path(path)))


def values_of(folder: str) -> dict[str, str | None]:
    """The values that a folder is named by.

    >>> values_of("day=2026-11-16/k=a%3Db/x=__HIVE_DEFAULT_PARTITION__")
    {'day': '2026-11-16', 'k': 'a=b', 'x': None}
    """
    parts = (part.split("=", 1) for part in folder.split("/") if part)
    return {unquote(name): None if value == NO_VALUE else unquote(value) for name, value in parts}
