"""Reads Parquet files as Spark would: only wanted columns, in their declared types, some row groups at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.errors import JobError
from windrow.expressions.types import sql_name
from windrow.spark.sources.parquet_types import converted, old_calendar, readable

ROWS = 1 << 20
"""So many rows are read at once."""

Read = tuple[int, dict[str, pa.Array]]
"""A number of rows, and their columns."""


class ParquetRows:
    """The rows of one file: `wanted` are the names and types of columns, of which those that it lacks are NULL.

    Columns that are `coded` come as dictionaries, as most texts lie in files.
    """

    def __init__(self, path: str, wanted: Mapping[str, pa.DataType], coded: Collection[str] = ()) -> None:
        self.path, self._wanted, self._coded = path, wanted, coded
        try:
            self._file = _opened(path, {name.lower() for name in coded})
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable() from error
        self._places: dict[str, str] = {}
        self._found()

    def __enter__(self) -> ParquetRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def metadata(self) -> pq.FileMetaData:
        return self._file.metadata

    def _found(self) -> None:
        """Find the wanted columns: Spark takes names in any case, and will not choose between two."""
        names = self._file.schema_arrow.names
        for name, declared in self._wanted.items():
            places = [i for i, known in enumerate(names) if known.lower() == name.lower()]
            if len(places) > 1:
                both = " and ".join(names[i] for i in places)
                raise JobError(f"the file {as_uri(self.path)} has several columns {name}: {both}")
            if not places:
                continue
            found = self._file.schema_arrow.field(places[0]).type
            if not readable(found, declared) or (declared == pa.int64() and self._is_int96(places[0])):
                raise JobError(
                    f"the file {as_uri(self.path)} has column {name} as {found}, and the stream declares it"
                    f" {sql_name(declared)}"
                )
            self._places[name] = names[places[0]]
        if any(_holds_days(self._wanted[name]) for name in self._places) and old_calendar(self.metadata):
            raise JobError(
                f"the file {as_uri(self.path)} has times of an old calendar, which Spark has to move: give the stream"
                " the option datetimeRebaseMode 'LEGACY', and start the job again"
            )

    def _is_int96(self, place: int) -> bool:
        name, schema = self._file.schema_arrow.names[place], self._file.schema
        leaves = (schema.column(i) for i in range(len(schema)))
        return any(leaf.path == name and leaf.physical_type == "INT96" for leaf in leaves)

    @property
    def lacking(self) -> list[str]:
        """Wanted columns that the file has not."""
        return [name for name in self._wanted if name not in self._places]

    def groups_between(self, start: int, end: int) -> list[int]:
        """The row groups whose middle lies between two places in the file: each is in one of the parts of a file."""
        return [i for i in range(self.metadata.num_row_groups) if start <= self._middle(i) < end]

    def _middle(self, group: int) -> int:
        row_group = self.metadata.row_group(group)
        columns = [row_group.column(i) for i in range(row_group.num_columns)]
        if not columns:
            return 0
        first = min(column.dictionary_page_offset or column.data_page_offset for column in columns)
        return int(first + sum(column.total_compressed_size for column in columns) // 2)

    def read(self, groups: Sequence[int], names: Sequence[str]) -> Iterator[Read]:
        """The rows of some row groups, in order, with the columns `names`."""
        columns = [self._places[name] for name in names if name in self._places]
        if not columns:
            for group in groups:
                yield self._as_declared(None, self.metadata.row_group(group).num_rows, names)
            return
        try:
            for batch in self._file.iter_batches(ROWS, groups, columns, use_threads=False):
                yield self._as_declared(batch, batch.num_rows, names)
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable() from error

    def _as_declared(self, batch: pa.RecordBatch | None, rows: int, names: Sequence[str]) -> Read:
        columns = {}
        for name in names:
            declared, coded = self._wanted[name], name in self._coded
            if batch is None or name not in self._places:
                columns[name] = pa.nulls(rows, coded_type(declared) if coded else declared)
                continue
            column = batch.column(self._places[name])
            columns[name] = _coded(column, declared) if coded else converted(column, declared)
        return rows, columns

    def _unreadable(self) -> JobError:
        return JobError(f"the file {as_uri(self.path)} cannot be read; remove it or mend it, and start the job again")


def _opened(path: str, coded: Collection[str]) -> pq.ParquetFile:
    """The file, its texts as dictionaries where their names, in small letters, are `coded`."""
    metadata = pq.read_metadata(path)
    leaves = (metadata.schema.column(i) for i in range(len(metadata.schema)))
    named = [leaf.path for leaf in leaves if leaf.path.lower() in coded and leaf.physical_type == "BYTE_ARRAY"]
    return pq.ParquetFile(path, metadata=metadata, coerce_int96_timestamp_unit="us", read_dictionary=named)


def coded_type(declared: pa.DataType) -> pa.DataType:
    """How columns of this type come as dictionaries."""
    return pa.dictionary(pa.int32(), declared)


def _coded(column: pa.Array, declared: pa.DataType) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        column = converted(column, declared).dictionary_encode()
    return column.cast(coded_type(declared))


def _holds_days(type: pa.DataType) -> bool:
    if pa.types.is_nested(type):
        return any(_holds_days(type.field(i).type) for i in range(type.num_fields))
    return bool(pa.types.is_date(type) or pa.types.is_timestamp(type))


def as_uri(path: str) -> str:
    """The file as Spark names it in what it complains of."""
    return Path(path).as_uri()


def local_path(name: str) -> str:
    """A path of this machine, from a name that Spark gives.

    >>> local_path("file:/a b/50%.parquet"), local_path("file:///x"), local_path("/x")
    ('/a b/50%.parquet', '/x', '/x')
    """
    return "/" + name.removeprefix("file:").lstrip("/")


def not_readable(paths: Iterator[str], wanted: Mapping[str, pa.DataType], most: int) -> str | None:
    """Why some of the first files that are there cannot be read as declared; a broken one is another matter."""
    for path in islice(paths, most):
        try:
            pq.read_metadata(path)
        except (OSError, pa.ArrowException):
            continue  # the job names it when its turn comes
        try:
            with ParquetRows(path, wanted):
                pass
        except FileNotFoundError:
            continue
        except JobError as error:
            return str(error)
    return None
