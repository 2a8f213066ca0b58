"""A Delta table that batches are committed to: by `deltalake`, each with an application transaction."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from windrow.errors import JobError, SettingsError
from windrow.language import parse_duration
from windrow.plan.sink import differing_columns
from windrow.spark.sinks.delta_merge import make_fewer, merge_into
from windrow.spark.sinks.lake import LakeFile
from windrow.spark.sinks.net_changes import NetChanges

LOGGER = logging.getLogger("windrow")

_HOUR_US = 3_600_000_000


class DeltaLog:
    """The log of a Delta table in a folder; `mark` is the application whose batches are noted.

    `expire` is how long a table that is made here keeps what it was before.
    """

    whole_files = False

    def __init__(
        self, path: str, mark: str, expire: str | None = None, storage: Mapping[str, str] | None = None
    ) -> None:
        """`storage` are options of `deltalake` for a table that is in a bucket."""
        self._path, self._mark, self._lake = path, mark, _library()
        self._storage = None if storage is None else dict(storage)
        self._fewest = 0
        self._made_with = {} if expire is None else _retention(parse_duration(expire))

    def last_batch(self) -> int:
        if not self._is_there():
            return -1
        noted = self._opened().transaction_version(self._mark)
        return -1 if noted is None else int(noted)

    def check(self, schema: pa.Schema, partition_by: tuple[str, ...]) -> None:
        if not self._is_there():
            return
        table = self._opened()
        known = pa.schema(table.schema().to_arrow())
        told = pa.schema(self._lake.Schema.from_arrow(schema).to_arrow())
        differ = differing_columns(told, known)
        if differ is not None:
            raise SettingsError(
                f"the rows do not fit the table {self._path}: {differ}"
                "\nhint: select its columns in its order, with CAST where types differ, or name another table"
            )
        folders = tuple(table.metadata().partition_columns)
        if folders != partition_by:
            named = ", ".join(folders)
            way = f"partitionBy '{named}'" if folders else "leave out partitionBy"
            raise SettingsError(f"the table {self._path} is partitioned by {named or 'nothing'}\nhint: {way}")

    def commit(
        self, files: Sequence[LakeFile], schema: pa.Schema, partition_by: tuple[str, ...], batch: int, *, replace: bool
    ) -> None:
        from deltalake.transaction import AddAction

        lake, own = self._lake, list(partition_by)
        now = int(time.time() * 1000)
        added = [
            AddAction(file.relative, file.size, file.values, now, True, json.dumps({"numRecords": file.rows}))
            for file in files
        ]
        with self._committing():
            kind = lake.Schema.from_arrow(schema)
            self._make(kind, own)
            mode = "overwrite" if replace else "append"
            noted = self._noted(batch)
            self._opened().create_write_transaction(added, mode, kind, own, commit_properties=noted)

    def merge(self, net: NetChanges, partition_by: tuple[str, ...], batch: int, *, anew: bool) -> None:
        with self._committing():
            self._make(self._lake.Schema.from_arrow(net.came.schema), list(partition_by))
            if anew:
                self._lake.write_deltalake(
                    self._opened(), net.came, mode="overwrite", commit_properties=self._noted(batch)
                )
            else:
                merge_into(self._opened(), net, self._noted(batch))
        try:
            self._fewest = make_fewer(self._opened(), self._fewest)
        except Exception as error:  # rows are there: to have them in fewer files is worth no stop
            LOGGER.warning("files of the table %s were not put together: %s", self._path, error)

    def expire(self, age_us: int) -> None:
        table = self._opened()
        table.vacuum(age_us // _HOUR_US, dry_run=False, enforce_retention_duration=False)
        table = self._opened()
        table.create_checkpoint()
        table.cleanup_metadata()

    def _make(self, kind: Any, partition_by: list[str]) -> None:
        """Make the table where there is none."""
        if not self._is_there():
            made = {"configuration": self._made_with, "storage_options": self._storage}
            self._lake.DeltaTable.create(self._path, kind, mode="ignore", partition_by=partition_by, **made)

    def _noted(self, batch: int) -> Any:
        """What a commit says beside its files: that it is of this batch."""
        return self._lake.CommitProperties(app_transactions=[self._lake.Transaction(self._mark, batch)])

    @contextmanager
    def _committing(self) -> Iterator[None]:
        from deltalake.exceptions import DeltaError

        try:
            yield
        except DeltaError as error:
            why = str(error).splitlines()[0]
            raise JobError(f"the table {self._path} takes no rows: {why}") from error

    def _is_there(self) -> bool:
        return bool(self._lake.DeltaTable.is_deltatable(self._path, storage_options=self._storage))

    def _opened(self) -> Any:
        return self._lake.DeltaTable(self._path, storage_options=self._storage)


def _retention(age_us: int) -> dict[str, str]:
    """The table's own settings, by which others who tidy it up keep as much."""
    kept = f"interval {max(1, age_us // _HOUR_US)} hours"
    return {"delta.logRetentionDuration": kept, "delta.deletedFileRetentionDuration": kept}


def _library() -> Any:
    try:
        import deltalake
    except ImportError:
        raise SettingsError("a sink of delta needs deltalake\nhint: pip install 'windrow[delta]'") from None
    return deltalake
