"""Objects in buckets (S3, Google Cloud Storage, Azure): a put is whole, a move is a copy and a delete."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from windrow.places.home import Entry


@dataclass(frozen=True, slots=True)
class ObjectHome:
    """A store of objects, as fsspec reaches it. Paths are `bucket/key`.

    There are no folders, only keys with slashes in them, and there is no rename. But a put shows an object whole or not
    at all, and so does a copy within the store: what is killed between the copy and the delete leaves both, and whoever
    moves a file here may do it again. `options` are fsspec's, as JSON; they may hold secrets, and are never shown.
    """

    protocol: str
    scheme: str
    spark_scheme: str
    options: str = field(default="{}", repr=False)
    host: str = ""

    def address(self, path: str) -> str:
        return self._address(self.scheme, path)

    def for_spark(self, path: str) -> str:
        return self._address(self.spark_scheme, path)

    def _address(self, scheme: str, path: str) -> str:
        if not self.host:
            return f"{scheme}://{path}"
        bucket, _, key = path.partition("/")
        return f"{scheme}://{bucket}@{self.host}/{key}"

    def join(self, path: str, name: str) -> str:
        return f"{path.rstrip('/')}/{name}" if name else path

    def read(self, path: str) -> bytes:
        with self._reached() as store:
            content: bytes = store.cat_file(path)
            return content

    def open(self, path: str) -> BinaryIO:
        with self._reached() as store:
            file: BinaryIO = store.open(path, "rb")
            return file

    def write(self, path: str, content: bytes) -> None:
        with self._reached() as store:
            store.pipe_file(path, content)

    def create(self, path: str, content: bytes) -> bool:
        try:
            with self._reached() as store:
                store.pipe_file(path, content, mode="create")
        except FileExistsError:
            return False
        except OSError as error:  # some stores tell it by a code of their own
            if "PreconditionFailed" in str(error) or "conditionNotMet" in str(error):
                return False
            raise
        return True

    def entries(self, path: str) -> list[Entry]:
        with self._reached() as store, suppress(FileNotFoundError, NotADirectoryError):
            return [*_entries(path, store.ls(path, detail=True))]
        return []

    def files_below(self, path: str) -> list[Entry]:
        with self._reached() as store, suppress(FileNotFoundError, NotADirectoryError):
            found = [*_entries(path, store.find(path, detail=True).values())]
            return [entry for entry in found if not entry.is_folder]
        return []

    def exists(self, path: str) -> bool:
        with self._reached() as store:
            return self._kind(store, path) is not None

    def is_file(self, path: str) -> bool:
        with self._reached() as store:
            return self._kind(store, path) == "file"

    def is_folder(self, path: str) -> bool:
        with self._reached() as store:
            return self._kind(store, path) == "directory"

    def _kind(self, store: Any, path: str) -> str | None:
        try:
            return str(store.info(path)["type"])
        except FileNotFoundError:
            return None

    def make_folder(self, path: str) -> None:
        """There is nothing to make: a folder is there with its first object."""

    def make_folders(self, path: str) -> None:
        """There is nothing to make here, either."""

    def modified(self, path: str) -> datetime:
        with self._reached() as store:
            when: datetime = store.modified(path)
            return when

    def move(self, path: str, to: str) -> None:
        with self._reached() as store:
            store.cp_file(path, to)
            store.rm_file(path)

    def delete(self, path: str) -> None:
        with self._reached() as store, suppress(FileNotFoundError, KeyError):
            store.rm_file(path)

    def delete_folder(self, path: str) -> None:
        with self._reached() as store, suppress(FileNotFoundError):
            store.rm(path, recursive=True)

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        """The store, by fsspec, which keeps one for each process and thread; whatever it raises is an `OSError`."""
        import fsspec

        try:
            yield fsspec.filesystem(self.protocol, **json.loads(self.options))
        except OSError:
            raise
        except Exception as error:
            raise OSError(errno.EIO, str(error) or type(error).__name__) from error


def _entries(folder: str, found: Any) -> Iterator[Entry]:
    """What a listing says, without the marks that some clients leave for empty folders."""
    own = folder.strip("/")
    for info in found:
        path = str(info["name"])
        is_folder = info["type"] == "directory"
        if path.strip("/") == own or (path.endswith("/") and not is_folder):
            continue
        yield Entry(path.rstrip("/"), is_folder, int(info.get("size") or 0))
