"""The files of a Delta table by its versions: those that it had at first, and those that each version adds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import JobError, SettingsError
from windrow.expressions.types import sql_name
from windrow.spark.sources.parquet_types import readable

_KNOWN_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening", "typeWidening-preview"}


class DeltaFile(NamedTuple):
    """A file of a table: where it is, its bytes, and the values of the table's partitions, which it does not have."""

    path: str
    size: int
    values: dict[str, Any]


class Position(NamedTuple):
    """How far a table has been read: `taken` files of `version`, and all before it.

    At version `base` these are the files of the table as it was then, or none if it is not `whole`; at a later one they
    are those that the version has added. As each position tells where the reading began, a batch that runs again finds
    the files that it had, wherever the table is by then.
    """

    base: int
    whole: bool
    version: int
    taken: int

    @classmethod
    def read(cls, offset: Mapping[str, Any]) -> Position:
        return cls(*(offset[name] for name in cls._fields))


class DeltaVersions:
    """What each version of a table has for those who follow it."""

    def __init__(self, path: str, declared: pa.Schema) -> None:
        """`declared` are the columns that the stream has of the table."""
        self._path, self._declared = path, declared
        self._files: dict[tuple[int, bool], list[DeltaFile]] = {}

    def first(self, starting: int | None) -> Position:
        """Where reading begins: with the table as it is, or with what the version `starting` has added."""
        if starting is not None:
            return Position(starting - 1, False, starting - 1, 0)
        newest = self.newest()
        return Position(newest, True, newest, 0)

    def newest(self) -> int:
        """The newest version that the log has."""
        names = (name.split(".") for name in os.listdir(os.path.join(self._path, "_delta_log")))
        return max(int(name[0]) for name in names if len(name) == 2 and name[1] == "json" and name[0].isdigit())

    def after(
        self, start: Position, newest: int, most_files: int | None = None, most_bytes: int | None = None
    ) -> Position:
        """How far a batch reads that begins at `start`: to the end of version `newest`, or as far as is allowed.

        A version is read at once where it can be: what was written together would be late, each file for the others.
        """
        at, files, size = start, 0, 0
        while True:
            own = self._own(at)
            together = size + sum(file.size for file in own)
            if (
                files
                and own
                and (files + len(own) > (most_files or sys.maxsize) or together > (most_bytes or sys.maxsize))
            ):
                return at
            while at.taken < len(own):
                if files and (files == most_files or (most_bytes is not None and size >= most_bytes)):
                    return at
                files, size = files + 1, size + own[at.taken].size
                at = at._replace(taken=at.taken + 1)
            if at.version >= newest:
                return at
            at = at._replace(version=at.version + 1, taken=0)

    def between(self, start: Position, end: Position) -> list[DeltaFile]:
        """The files of a batch. One whose beginning Spark has not noted begins where its end says."""
        if (start.base, start.whole) != (end.base, end.whole):
            start = Position(end.base, end.whole, end.base, 0)
        found = []
        for version in range(start.version, end.version + 1):
            own = self._own(end._replace(version=version))
            first = start.taken if version == start.version else 0
            found += own[first : end.taken if version == end.version else None]
        return found

    def _own(self, at: Position) -> list[DeltaFile]:
        """The files that a position counts."""
        if at.version == at.base and not at.whole:
            return []
        key = (at.version, at.version == at.base)
        if key not in self._files:
            if len(self._files) > 100:
                self._files.clear()
            self._files[key] = self._had(at.version) if key[1] else self._added(at.version)
        return self._files[key]

    def _had(self, version: int) -> list[DeltaFile]:
        """All files of the table at a version, the oldest first."""
        deltalake = library()
        try:
            table = deltalake.DeltaTable(self._path, version=version)
            actions = pa.table(table.get_add_actions()).to_pylist()
            removed = pa.table(table.deletion_vectors()).num_rows if hasattr(table, "deletion_vectors") else 0
        except Exception as error:
            raise JobError(f"version {version} of the table {self._path} cannot be read: {_line(error)}") from error
        if removed:
            raise self._stops(version, "has deletion vectors, which say that rows of a file are gone")
        actions.sort(key=lambda action: (action["modification_time"], action["path"]))
        return [self._file(action["path"], action["size_bytes"], action.get("partition") or {}) for action in actions]

    def _added(self, version: int) -> list[DeltaFile]:
        """The files that a version adds with rows that were not there before."""
        place = os.path.join(self._path, "_delta_log", f"{version:020d}.json")
        try:
            with open(place, encoding="utf-8") as log:
                actions = [json.loads(line) for line in log if line.strip()]
        except FileNotFoundError:
            raise JobError(
                f"version {version} of the table {self._path} is gone from its log, which has later ones"
                "\nhint: start with a new checkpoint, which begins with the table as it is then"
            ) from None
        except (OSError, ValueError) as error:
            raise JobError(f"{place}, the log of a Delta table, cannot be read: {_line(error)}") from error
        files = []
        for action in actions:
            told = {kind: said for kind, said in action.items() if said is not None}
            if "metaData" in told:
                self._check(version, told["metaData"])
            if "protocol" in told:
                wrong = unknown_feature(told["protocol"].get("readerFeatures"))
                if wrong is not None:
                    raise self._stops(version, wrong)
            if "remove" in told and told["remove"].get("dataChange", True):
                raise self._stops(version, f"deletes or rewrites rows: {unquote(told['remove']['path'])} is removed")
            if "add" in told and told["add"].get("dataChange", True):
                added = told["add"]
                if added.get("deletionVector"):
                    raise self._stops(version, "has deletion vectors, which say that rows of a file are gone")
                files.append(self._file(added["path"], added["size"], self._values(added["partitionValues"])))
        return files

    def _check(self, version: int, metadata: Mapping[str, Any]) -> None:
        """Refuse a version that has no longer the columns of the stream, as it declares them."""
        known = pa.schema(library().Schema.from_json(metadata["schemaString"]).to_arrow())
        wrong = unfit_column(self._declared, known)
        if wrong is not None:
            raise self._stops(version, f"does not fit the stream: {wrong}")

    def _file(self, path: str, size: int, values: Mapping[str, Any]) -> DeltaFile:
        return DeltaFile(os.path.join(self._path, unquote(path)), size, dict(values))  # the log has them as URIs

    def _values(self, texts: Mapping[str, str | None]) -> dict[str, Any]:
        kinds = {field.name: field.type for field in self._declared}
        return {name: partition_value(text, kinds[name]) for name, text in texts.items() if name in kinds}

    def _stops(self, version: int, why: str) -> JobError:
        return JobError(
            f"version {version} of the table {self._path} {why}; a stream has rows that come, and none that go"
            "\nhint: start with a new checkpoint, which begins with the table as it is then"
        )


def unfit_column(declared: pa.Schema, known: pa.Schema) -> str | None:
    """What a stream declares that a table has not, or has as another type; None if nothing.

    >>> unfit_column(pa.schema({"n": pa.int64()}), pa.schema({"n": pa.int32(), "x": pa.string()}))
    >>> unfit_column(pa.schema({"n": pa.int32()}), pa.schema({"n": pa.int64()}))
    'the table has column n as BIGINT, and the stream declares it INT'
    """
    there = {field.name.lower(): field for field in known}
    for field in declared:
        found = there.get(field.name.lower())
        if found is None:
            return f"the table has no column {field.name}; its columns: {', '.join(known.names)}"
        if not readable(found.type, field.type):
            shown = sql_name(field.type)
            return f"the table has column {found.name} as {sql_name(found.type)}, and the stream declares it {shown}"
    return None


def unknown_feature(features: list[str] | None) -> str | None:
    """A feature that readers of the table have to know, and that is not known here.

    `deletionVectors` may be allowed and not used: a file that has one is found out when its turn comes.
    """
    unknown = sorted(set(features or []) - _KNOWN_FEATURES - {"deletionVectors"})
    return f"needs {unknown[0]} of its readers, which is not known here" if unknown else None


def partition_value(text: str | None, kind: pa.DataType) -> Any:
    """The value that a log writes as a text.

    >>> partition_value("2026-01-01 00:00:00.5", pa.timestamp("us", "UTC")).isoformat(), partition_value("", pa.int32())
    ('2026-01-01T00:00:00.500000+00:00', None)
    """
    if text is None or text == "":  # Delta does not tell them apart
        return None
    if pa.types.is_string(kind):
        return text
    if pa.types.is_timestamp(kind):
        plain = pa.scalar(text.replace("T", " ").removesuffix("Z")).cast(pa.timestamp("us"))
        return (plain if kind.tz is None else pc.assume_timezone(plain, "UTC")).as_py()
    return pa.scalar(text).cast(kind).as_py()


def library() -> Any:
    """`deltalake`, or what is to be done where it is not installed."""
    try:
        import deltalake
    except ImportError:
        raise SettingsError("a stream of delta needs deltalake\nhint: pip install 'windrow[delta]'") from None
    return deltalake


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
