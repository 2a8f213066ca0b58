"""An Iceberg table that batches are committed to: by `pyiceberg`, each noted in the same commit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from windrow.errors import JobError, SettingsError
from windrow.places.addresses import local_path
from windrow.plan.sink import differing_columns
from windrow.spark.sinks.lake import LakeFile

_OWN = ("table", "catalog", "path", "holds", "partitionby")


class IcebergTable:
    """A table of a catalog; `mark` is whose batches are noted.

    The number of a batch is a property of its snapshot, for people, and of the table, which is there also when old
    snapshots have expired.
    """

    def __init__(self, options: Mapping[str, str], mark: str) -> None:
        self._lake, self._mark = _library(), f"windrow.{mark}"
        named = {key.lower(): value for key, value in options.items()}
        if "table" not in named:
            raise SettingsError("a sink of iceberg needs a table\nhint: OPTIONS (catalog 'name', table 'db.alerts')")
        if "partitionby" in named:
            raise SettingsError("partitionBy is not for iceberg\nhint: leave it out: its files have all columns")
        self._name, self._path = named["table"], named.get("path")
        given = {key: value for key, value in options.items() if key.lower() not in _OWN}
        try:
            self._catalog = self._lake.catalog.load_catalog(named.get("catalog", "default"), **given)
        except Exception as error:
            raise SettingsError(f"the catalog of table {self._name} cannot be opened: {_why(error)}") from None
        self._table = self._found()

    @property
    def folder(self) -> str:
        """Where the files of the table go."""
        if self._table is None and self._path is None:
            raise SettingsError(
                f"there is no table {self._name!r}, and nothing says where its files would go"
                "\nhint: path 'lake/alerts', which makes it there, or the name of one that is there"
            )
        where = self._path if self._table is None else self._table.location()
        return f"{where}/data"

    def last_batch(self) -> int:
        self._table = self._found()
        return -1 if self._table is None else int(self._table.properties.get(self._mark, "-1"))

    def check(self, schema: pa.Schema, partition_by: tuple[str, ...]) -> None:
        if self._table is None:
            return
        known = self._lake.io.pyarrow.schema_to_pyarrow(self._table.schema(), include_field_ids=False)
        differ = differing_columns(_plain(schema), _plain(known))
        if differ is not None:
            raise SettingsError(
                f"the rows do not fit the table {self._name}: {differ}"
                "\nhint: select its columns in its order, with CAST where types differ, or name another table"
            )
        names = [field.name for field in self._table.spec().fields]
        if names:
            raise SettingsError(
                f"the table {self._name} is partitioned by {', '.join(names)}, and files here are not"
                "\nhint: name a table without partitions"
            )

    def commit(self, files: Sequence[LakeFile], schema: pa.Schema, partition_by: tuple[str, ...], batch: int) -> None:
        try:
            if self._table is None:
                self._table = self._made(schema)
            with self._table.transaction() as commit:
                commit.add_files(
                    [f"file://{file.path}" for file in files],
                    snapshot_properties={self._mark: str(batch)},
                    check_duplicate_files=False,
                )
                commit.set_properties({self._mark: str(batch)})
        except Exception as error:
            raise JobError(f"the table {self._name} takes no rows: {_why(error)}") from error

    def _found(self) -> Any:
        try:
            return self._catalog.load_table(self._name)
        except self._lake.exceptions.NoSuchTableError:
            return None
        except self._lake.exceptions.NoSuchNamespaceError:
            return None

    def _made(self, schema: pa.Schema) -> Any:
        if "." in self._name:
            self._catalog.create_namespace_if_not_exists(self._name.rsplit(".", 1)[0])
        location = f"file://{os.path.abspath(local_path(self._path or ''))}"
        return self._catalog.create_table_if_not_exists(self._name, schema, location=location)


def _plain(schema: pa.Schema) -> pa.Schema:
    """The same without the difference between short and long texts."""
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return pa.schema([pa.field(field.name, short.get(field.type, field.type)) for field in schema])


def _why(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _library() -> Any:
    try:
        import pyiceberg
        import pyiceberg.catalog
        import pyiceberg.exceptions
        import pyiceberg.io.pyarrow
    except ImportError:
        raise SettingsError("a sink of iceberg needs pyiceberg\nhint: pip install 'windrow[iceberg]'") from None
    return pyiceberg
