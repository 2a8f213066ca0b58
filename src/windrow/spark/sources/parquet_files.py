"""Reads Parquet files as Spark would: only wanted columns, in their declared types, some row groups at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """The rows of one file: `wanted` are the names and types of columns, of which those that it lacks are NULL."""

    def __init__(self, path: str, wanted: Mapping[str, pa.DataType]) -> None:
        self.path, self._wanted = path, wanted
        try:
            self._file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
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

    def groups_between(self, start: int, end: int) -> list[int]:
        """The row groups whose middle lies between two places in the file: each is in one of the parts of a file."""
        return [i for i in range(self.metadata.num_row_groups) if start <= self._middle(i) < end]

    def _middle(self, group: int) -> int:
        row_group = self.metadata.row_group(group)
        columns = [row_group.column(i) for i in range(row_group.num_columns)]
        if not columns:
            return 0
        first = min(column.dictionary_page_offset or column.data_page_offset for column in columns)
        return first + sum(column.total_compressed_size for column in columns) // 2

    def read(self, groups: Sequence[int], names: Sequence[str]) -> Iterator[Read]:
        """The rows of some row groups, in order, with the columns `names`."""
        there = [name for name in names if name in self._places]
        if not there:
            for group in groups:
                rows = self.metadata.row_group(group).num_rows
                yield rows, {name: pa.nulls(rows, self._wanted[name]) for name in names}
            return
        columns = [self._places[name] for name in there]
        try:
            for batch in self._file.iter_batches(ROWS, groups, columns, use_threads=False):
                rows = batch.num_rows
                yield (
                    rows,
                    {
                        name: converted(batch.column(self._places[name]), self._wanted[name])
                        if name in self._places
                        else pa.nulls(rows, self._wanted[name])
                        for name in names
                    },
                )
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable() from error

    def _unreadable(self) -> JobError:
        return JobError(f"the file {as_uri(self.path)} cannot be read; remove it or mend it, and start the job again")


def _holds_days(type: pa.DataType) -> bool:
    if pa.types.is_nested(type):
        return any(_holds_days(type.field(i).type) for i in range(type.num_fields))
    return pa.types.is_date(type) or pa.types.is_timestamp(type)


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
