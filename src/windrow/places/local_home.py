"""Files of this machine: written beside, synced to the disk, and renamed into place."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from windrow.places.addresses import FILE
from windrow.places.home import Entry


@dataclass(frozen=True, slots=True)
class LocalHome:
    """The disk, or what is mounted as one. Files and folders that are made are for their owner only."""

    def address(self, path: str) -> str:
        return path

    def for_spark(self, path: str) -> str:
        return f"{FILE}:{os.path.abspath(path)}"

    def join(self, path: str, name: str) -> str:
        return os.path.join(path, name)

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def open(self, path: str) -> BinaryIO:
        return open(path, "rb")

    def write(self, path: str, content: bytes) -> None:
        os.replace(_written_beside(path, content), path)

    def create(self, path: str, content: bytes) -> bool:
        hidden = _written_beside(path, content)
        try:
            os.link(hidden, path)
        except FileExistsError:
            return False
        finally:
            os.remove(hidden)
        return True

    def entries(self, path: str) -> list[Entry]:
        found = []
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(path) as listed:
            for entry in listed:
                with suppress(FileNotFoundError):  # it went meanwhile
                    size = entry.stat(follow_symlinks=False).st_size
                    found.append(Entry(os.path.join(path, entry.name), entry.is_dir(), size))
        return found

    def files_below(self, path: str) -> list[Entry]:
        return [*_below(path)]

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def make_folder(self, path: str) -> None:
        """Make a folder for its owner only, whatever the umask; one that is there stays as it is."""
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))

    def make_folders(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)

    def move(self, path: str, to: str) -> None:
        os.replace(path, to)

    def delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            os.remove(path)

    def delete_folder(self, path: str) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(path)


def hidden_beside(path: str) -> str:
    """A name beside `path` that no other writer has, and that readers of the folder pass over, Spark too."""
    folder, _, name = path.rpartition("/")
    return f"{folder}{'/' if folder or path.startswith('/') else ''}.{name}.{uuid.uuid4().hex[:8]}.new"


def _written_beside(path: str, content: bytes) -> str:
    """The name of a hidden file beside `path` that has the content, and has it on the disk."""
    hidden = hidden_beside(path)
    with _exclusive(hidden) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hidden


def _exclusive(path: str) -> BinaryIO:
    """A new file that only its owner may read, whatever the umask."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.fchmod(file, 0o600)
    return os.fdopen(file, "wb")


def _below(path: str) -> Iterator[Entry]:
    for folder, _, names in os.walk(path):
        for name in names:
            place = os.path.join(folder, name)
            with suppress(FileNotFoundError):
                yield Entry(place, False, os.stat(place).st_size)
