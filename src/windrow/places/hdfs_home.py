"""Files in HDFS, by its HTTP interface (WebHDFS): written beside, and renamed over what is there in one step."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO

from windrow.places.home import Entry
from windrow.places.local_home import hidden_beside

_PATIENCE = (5.0, 120.0)
"""So many seconds a name node or data node has to take a connection, and to say something."""


@dataclass(frozen=True, slots=True)
class HdfsHome:
    """HDFS behind its name nodes, of which one is active. Paths begin with a slash.

    A file is created in one step where it is not there, and a rename replaces what is there: both are the name node's.
    """

    authority: str
    nodes: tuple[tuple[str, int], ...]
    user: str | None = None
    https: bool = False
    kerberos: bool = False

    def address(self, path: str) -> str:
        return f"hdfs://{self.authority}{path}"

    def for_spark(self, path: str) -> str:
        return self.address(path)

    def join(self, path: str, name: str) -> str:
        return f"{path.rstrip('/')}/{name}" if name else path

    def read(self, path: str) -> bytes:
        with self._reached() as files:
            content: bytes = files._call("OPEN", path=path).content
            return content

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path))

    def write(self, path: str, content: bytes) -> None:
        hidden = hidden_beside(path)
        self.create(hidden, content)
        self.move(hidden, path)

    def create(self, path: str, content: bytes) -> bool:
        with self._reached() as files:
            told = files._call("CREATE", "put", path, redirect=False, overwrite="false", permission="600")
            body = {"content-type": "application/octet-stream"}
            done = files.session.put(files._apply_proxy(told.headers["Location"]), data=content, headers=body)
            if (done.status_code == 403 and "AlreadyExists" in done.text) or "AlreadyBeingCreated" in done.text:
                return False
            if done.status_code >= 400:
                raise OSError(errno.EIO, _message(done))
            return True

    def entries(self, path: str) -> list[Entry]:
        with self._reached() as files, suppress(FileNotFoundError):
            if files.info(path)["type"] == "directory":
                return [
                    Entry(info["name"], info["type"] == "directory", info["size"])
                    for info in files.ls(path, detail=True)
                ]
        return []

    def files_below(self, path: str) -> list[Entry]:
        found = []
        for entry in self.entries(path):
            found += self.files_below(entry.path) if entry.is_folder else [entry]
        return found

    def exists(self, path: str) -> bool:
        return self._kind(path) is not None

    def is_file(self, path: str) -> bool:
        return self._kind(path) == "file"

    def is_folder(self, path: str) -> bool:
        return self._kind(path) == "directory"

    def _kind(self, path: str) -> str | None:
        with self._reached() as files, suppress(FileNotFoundError):
            return str(files.info(path)["type"])
        return None

    def make_folder(self, path: str) -> None:
        if not self.is_folder(path):
            with self._reached() as files:
                files._call("MKDIRS", "put", path, permission="700")

    def make_folders(self, path: str) -> None:
        with self._reached() as files:
            files._call("MKDIRS", "put", path)

    def modified(self, path: str) -> datetime:
        with self._reached() as files:
            return datetime.fromtimestamp(files.info(path)["modificationTime"] / 1000, UTC)

    def move(self, path: str, to: str) -> None:
        with self._reached() as files:
            files._call("RENAME", "put", path, destination=to, renameoptions="OVERWRITE")

    def delete(self, path: str) -> None:
        with self._reached() as files:
            files._call("DELETE", "delete", path, recursive="false")

    def delete_folder(self, path: str) -> None:
        with self._reached() as files:
            files._call("DELETE", "delete", path, recursive="true")

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        try:
            yield self._active()
        except OSError:
            raise
        except Exception as error:
            raise OSError(errno.EIO, str(error).splitlines()[0] if str(error) else type(error).__name__) from error

    def _client(self, host: str, port: int) -> Any:
        """fsspec's client, which keeps one for each process and thread, and which would wait for ever."""
        from fsspec.implementations.webhdfs import WebHDFS

        client = WebHDFS(host, port, user=self.user, use_https=self.https, kerberos=self.kerberos)
        if not isinstance(client.session.request, partial):
            client.session.request = partial(client.session.request, timeout=_PATIENCE)
        return client

    def _active(self) -> Any:
        """The client of the name node that is active; of one alone it is not asked."""
        clients = (self._client(host, port) for host, port in self.nodes)
        if len(self.nodes) == 1:
            return next(clients)
        failed: Exception | None = None
        for client in clients:
            try:
                client.info("/")
            except Exception as error:
                failed = error
            else:
                return client
        raise OSError(errno.EHOSTUNREACH, f"no name node of {self.authority} is active: {failed}")


def _message(answer: Any) -> str:
    try:
        return str(answer.json()["RemoteException"]["message"]).splitlines()[0]
    except (ValueError, KeyError):
        return f"{answer.status_code} {answer.reason}"
