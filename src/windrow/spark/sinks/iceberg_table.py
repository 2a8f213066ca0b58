"""An Iceberg table that batches are committed to: by `pyiceberg`, each noted in the same commit."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from windrow.errors import JobError, SettingsError
from windrow.plan.sink import differing_columns
from windrow.spark.sinks.iceberg_merge import merge_into
from windrow.spark.sinks.iceberg_storage import iceberg_address
from windrow.spark.sinks.lake import LakeFile
from windrow.spark.sinks.net_changes import NetChanges

_OWN = ("table", "catalog", "path", "holds", "key", "partitionby", "compression", "roll", "expire")


class IcebergTable:
    """A table of a catalog; `mark` is whose batches are noted.

    The number of a batch is a property of its snapshot, for people, and of the table, which is there also when old
    snapshots have expired.
    """

    whole_files = True  # pyiceberg knows partitions by the statistics of files: longer texts name no folder anyway

    def __init__(self, options: Mapping[str, str], mark: str, storage: Mapping[str, str] | None = None) -> None:
        """`storage` are properties of `pyiceberg` for tables in a bucket, where `options` do not say otherwise."""
        self._lake, self._mark = _library(), f"windrow.{mark}"
        named = {key.lower(): value for key, value in options.items()}
        if "table" not in named:
            raise SettingsError("a sink of iceberg needs a table\nhint: OPTIONS (catalog 'name', table 'db.alerts')")
        self._name, self._path = named["table"], named.get("path")
        given = {**(storage or {}), **{key: value for key, value in options.items() if key.lower() not in _OWN}}
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
        where = str(self._path if self._table is None else self._table.location())
        iceberg_address(where)  # which refuses what is nowhere
        return f"{where.rstrip('/')}/data"

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
        fields = self._table.spec().fields
        others = [field for field in fields if str(field.transform) != "identity"]
        if others:
            raise SettingsError(
                f"the table {self._name} is partitioned by {others[0].transform} of a column, and files here are not"
                "\nhint: name a table that is partitioned by whole values, or by nothing"
            )
        names = tuple(self._table.schema().find_column_name(field.source_id) for field in fields)
        if names != partition_by:
            way = f"partitionBy '{', '.join(map(str, names))}'" if names else "leave out partitionBy"
            raise SettingsError(
                f"the table {self._name} is partitioned by {', '.join(map(str, names)) or 'nothing'}\nhint: {way}"
            )

    def commit(
        self, files: Sequence[LakeFile], schema: pa.Schema, partition_by: tuple[str, ...], batch: int, *, replace: bool
    ) -> None:
        noted, data = {self._mark: str(batch)}, iceberg_address(self.folder)
        try:
            if self._table is None:
                self._table = self._made(schema, partition_by)
            with self._table.transaction() as commit:
                if replace and any(True for _ in self._table.scan().plan_files()):
                    commit.delete(self._lake.expressions.AlwaysTrue(), snapshot_properties=noted)
                if files:
                    paths = [posixpath.join(data, file.relative) for file in files]
                    commit.add_files(paths, snapshot_properties=noted, check_duplicate_files=False)
                commit.set_properties(noted)
        except Exception as error:
            raise JobError(f"the table {self._name} takes no rows: {_why(error)}") from error

    def merge(self, net: NetChanges, partition_by: tuple[str, ...], batch: int, *, anew: bool) -> None:
        noted = {self._mark: str(batch)}
        try:
            if self._table is None:
                self._table = self._made(net.came.schema, partition_by)
            with self._table.transaction() as commit:
                if not anew:
                    merge_into(self._table, commit, net, noted)
                elif any(True for _ in self._table.scan().plan_files()):
                    commit.overwrite(net.came, snapshot_properties=noted)
                elif net.came.num_rows:
                    commit.append(net.came, snapshot_properties=noted)
                commit.set_properties(noted)
        except JobError:
            raise
        except Exception as error:
            raise JobError(f"the table {self._name} takes no rows: {_why(error)}") from error

    def expire(self, age_us: int) -> None:
        """Snapshots go by a commit, and then the files that none of those which are left needs."""
        self._table = self._found()
        if self._table is None:
            return
        before = _needed_by(self._table)
        until = datetime.now(UTC) - timedelta(microseconds=age_us)
        self._table.maintenance.expire_snapshots().older_than(until.replace(tzinfo=None)).commit()
        self._table = self._found()
        for path in sorted(before - _needed_by(self._table)):
            self._table.io.delete(path)

    def _found(self) -> Any:
        try:
            return self._catalog.load_table(self._name)
        except self._lake.exceptions.NoSuchTableError:
            return None
        except self._lake.exceptions.NoSuchNamespaceError:
            return None

    def _made(self, schema: pa.Schema, partition_by: tuple[str, ...]) -> Any:
        if "." in self._name:
            self._catalog.create_namespace_if_not_exists(self._name.rsplit(".", 1)[0])
        location = iceberg_address(self._path or "")
        tidy = {"write.metadata.delete-after-commit.enabled": "true"}
        with self._catalog.create_table_transaction(self._name, schema, location=location, properties=tidy) as made:
            if partition_by:
                with made.update_spec() as spec:
                    for name in partition_by:
                        spec.add_identity(name)
        return self._catalog.load_table(self._name)


def _needed_by(table: Any) -> set[str]:
    """All files that the snapshots of a table need: of rows, and of itself."""
    needed, read = set[str](), set[str]()
    for snapshot in table.metadata.snapshots:
        needed.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            if manifest.manifest_path not in read:
                read.add(manifest.manifest_path)
                entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
                needed.update(entry.data_file.file_path for entry in entries)
    return needed | read


def _plain(schema: pa.Schema) -> pa.Schema:
    """The same without the difference between short and long texts and lists, and what a list calls its elements."""
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain_type(field.type)) for field in kind.fields])
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return short.get(kind, kind)


def _why(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _library() -> Any:
    try:
        import pyiceberg
        import pyiceberg.catalog
        import pyiceberg.exceptions
        import pyiceberg.expressions
        import pyiceberg.io.pyarrow
    except ImportError:
        raise SettingsError("a sink of iceberg needs pyiceberg\nhint: pip install 'windrow[iceberg]'") from None
    return pyiceberg
