"""Streams that follow a Delta table: Spark notes how far it was read, and what it reads are names of files, or rows.

Spark needs no jar for it: the source is one of Python's (`pyspark.sql.datasource`). Names and rows are noted alike in a
checkpoint, so a job may be stopped where rows came through Spark, and go on by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from windrow.errors import JobError, SettingsError
from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.spark.connect import is_connect
from windrow.spark.sources.delta_log import DeltaFile, DeltaVersions, Position, library, unfit_column, unknown_feature
from windrow.spark.sources.file_options import BATCH_BYTES
from windrow.spark.sources.missing_files import vanished
from windrow.spark.sources.named_files import LENGTH, PATH, NamedFiles, unlike_settings
from windrow.spark.sources.parquet_files import ParquetRows, as_uri
from windrow.spark.sources.source import Opened

_FORMAT = "windrow_delta"
_DECLARED, _NAMES = "declared", "names"
_OPTIONS = ("path", "startingversion", "maxfilespertrigger", "maxbytespertrigger")


@dataclass
class _Files(InputPartition):
    """Some files that one task reads."""

    files: list[DeltaFile]


class DeltaSource(DataSource):
    """The source as Spark knows it; with the option `names`, its rows are names of files."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return DeltaReader(dict(self.options), schema)


class DeltaReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Gives what a table has at first, and then what each version adds, a limited part of it in each batch."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        declared = StructType.fromJson(json.loads(options[_DECLARED]))
        self._declared = to_arrow_schema(declared, timezone="UTC")
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._names = options.get(_NAMES) == "true"
        self._versions = DeltaVersions(options["path"], self._declared)
        self._starting = _whole_number(options, "startingversion")
        self._most_files = _whole_number(options, "maxfilespertrigger")
        self._most_bytes = _whole_number(options, "maxbytespertrigger")
        self._until: int | None = None

    def initialOffset(self) -> dict[str, Any]:
        return self._versions.first(self._starting)._asdict()

    def getDefaultReadLimit(self) -> ReadLimit:
        if self._most_files is not None:
            return ReadMaxFiles(self._most_files)
        return ReadMaxBytes(BATCH_BYTES if self._most_bytes is None else self._most_bytes)

    def prepareForTriggerAvailableNow(self) -> None:
        self._until = self._versions.newest()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        newest = self._versions.newest() if self._until is None else self._until
        allowed = {} if isinstance(limit, ReadAllAvailable) else self._allowed(limit)
        return self._versions.after(Position.read(start), newest, **allowed)._asdict()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        files = self._versions.between(Position.read(start), Position.read(end))
        if self._names:
            return [_Files(files)] if files else []
        return [_Files([file]) for file in files]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, _Files)
        if self._names:
            apart = self._schema.names[2:]
            return iter([(file.path, file.size, *(file.values[name] for name in apart)) for file in partition.files])
        return (batch for file in partition.files for batch in self._rows(file))

    def _rows(self, file: DeltaFile) -> Iterator[pa.RecordBatch]:
        """The rows of a file, with the columns that are in the log."""
        kinds = {field.name: field.type for field in self._schema}
        wanted = {name: kind for name, kind in kinds.items() if name not in file.values}
        try:
            opened = ParquetRows(file.path, wanted)
        except FileNotFoundError as error:
            raise JobError(vanished([as_uri(file.path)])) from error
        with opened:
            for count, columns in opened.read(range(opened.metadata.num_row_groups), list(wanted)):
                told = {n: pa.repeat(pa.scalar(file.values[n], kinds[n]), count) for n in kinds if n in file.values}
                yield pa.record_batch([(columns | told)[name] for name in kinds], schema=self._schema)

    @staticmethod
    def _allowed(limit: ReadLimit) -> dict[str, int]:
        if isinstance(limit, ReadMaxFiles):
            return {"most_files": limit.max_files}
        return {"most_bytes": limit.max_bytes} if isinstance(limit, ReadMaxBytes) else {}


def open_delta(spark: SparkSession, options: Mapping[str, str], ddl: str | None) -> Opened:
    """A stream that follows the table at the option `path`; without `ddl` it has the columns of the table."""
    given = {name.lower(): value for name, value in options.items()}
    path = _checked_path(spark, given)
    table = _table(path)
    known = pa.schema(table.schema().to_arrow())
    try:
        declared = from_arrow_schema(known) if ddl is None else cast(StructType, StructType.fromDDL(ddl))
    except PySparkException as error:
        raise SettingsError(f"the columns of a stream of delta cannot be read: {str(error).splitlines()[0]}") from None
    wrong = unfit_column(to_arrow_schema(declared, timezone="UTC"), known)
    if wrong is not None:
        raise SettingsError(f"the table {path} does not fit the stream: {wrong}\nhint: declare columns as it has them")
    starting = _whole_number(given, "startingversion")
    if starting is not None and starting > table.version() + 1:
        raise SettingsError(
            f"startingVersion '{starting}' is not there yet: the table {path} is at {table.version()}"
            "\nhint: leave it out to begin with the table as it is"
        )
    spark.dataSource.register(DeltaSource)
    passed = {name: value for name, value in given.items() if name in _OPTIONS}
    passed |= {"path": path, _DECLARED: declared.json()}
    reader = spark.readStream.format(_FORMAT).options(**passed)
    frame = reader.schema(declared).load()
    apart = [name for name in table.metadata().partition_columns if name in declared.names]
    named = StructType().add(PATH, "string").add(LENGTH, "long")
    for name in apart:
        named.add(declared[name])
    names = reader.option(_NAMES, "true").schema(named).load()
    unlike = unlike_settings(spark)
    if unlike is None and any(name.lower() in (PATH, LENGTH) for name in apart):
        unlike = "a partition is called as what is told of files"
    files = NamedFiles(names, tuple(apart), to_arrow_schema(frame.schema, timezone="UTC"), (("path", path),))
    return Opened(frame, None, files if unlike is None else unlike)


def _checked_path(spark: SparkSession, options: Mapping[str, str]) -> str:
    path = options.get("path")
    if path is None:
        raise SettingsError("a stream of delta needs a path\nhint: OPTIONS (path 'lake/ticks')")
    if scheme_of(path) != FILE:
        raise SettingsError(f"the table at {path} is elsewhere, and only local ones are followed")
    if is_connect(spark):
        raise SettingsError("a stream of delta is not followed behind Spark Connect\nhint: a stream of files")
    for name in ("maxfilespertrigger", "maxbytespertrigger"):
        if _whole_number(options, name) == 0:
            raise SettingsError(f"{name} '0' reads nothing\nhint: a number that is greater")
    return os.path.abspath(local_path(path))


def _table(path: str) -> Any:
    """The table at a path, whose features are known."""
    deltalake = library()
    if not deltalake.DeltaTable.is_deltatable(path):
        raise SettingsError(f"there is no Delta table at {path}\nhint: its folder has one called _delta_log")
    table = deltalake.DeltaTable(path)
    wrong = unknown_feature(table.protocol().reader_features)
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        wrong = "has columns that its files call otherwise (delta.columnMapping.mode), which is not known here"
    if wrong is not None:
        raise SettingsError(f"the table {path} {wrong}")
    return table


def _whole_number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is not None and not text.isdigit():
        raise SettingsError(f"{name} {text!r} is no whole number")
    return None if text is None else int(text)
