"""A file or folder, wherever it lies: a path, and the home that reaches it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.places.home import Entry, Home
from windrow.places.local_home import LocalHome


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder. It may be sent to tasks: they reach it as the driver does.

    >>> place = place_of("file:///kept") / "job.requests"
    >>> str(place), place.name, str(place.parent)
    ('/kept/job.requests', 'job.requests', '/kept')
    """

    home: Home
    path: str

    def __str__(self) -> str:
        return self.home.address(self.path)

    def __truediv__(self, name: str) -> Place:
        return Place(self.home, self.home.join(self.path, name))

    @property
    def name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> Place:
        return Place(self.home, self.path.rstrip("/").rpartition("/")[0])

    @property
    def for_spark(self) -> str:
        """The address that Spark is told."""
        return self.home.for_spark(self.path)

    @property
    def is_local(self) -> bool:
        return isinstance(self.home, LocalHome)

    def absolute(self) -> Place:
        """The same place, whatever folder a process runs in."""
        return Place(self.home, os.path.abspath(self.path)) if self.is_local else self

    def read(self) -> bytes:
        return self.home.read(self.path)

    def open(self) -> BinaryIO:
        """The file, to read some of."""
        return self.home.open(self.path)

    def write(self, content: bytes) -> None:
        """Write a file that others see whole or not at all."""
        self.home.write(self.path, content)

    def create(self, content: bytes) -> bool:
        """Make a file that is not there; False where it is. Of several that try at once, one does."""
        return self.home.create(self.path, content)

    def entries(self) -> list[Place]:
        """What is directly in a folder."""
        return [Place(self.home, entry.path) for entry in self.home.entries(self.path)]

    def names(self) -> list[str]:
        """The names of what is directly in a folder; none where there is no folder."""
        return [place.name for place in self.entries()]

    def listed(self) -> list[Entry]:
        """What is directly in a folder, with sizes, and whether it is a folder."""
        return self.home.entries(self.path)

    def files_below(self) -> list[Entry]:
        """All files in a folder and in those below it."""
        return self.home.files_below(self.path)

    def at(self, entry: Entry) -> Place:
        """The place of what a listing has found."""
        return Place(self.home, entry.path)

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        return self.home.exists(self.path)

    def is_file(self) -> bool:
        return self.home.is_file(self.path)

    def is_folder(self) -> bool:
        return self.home.is_folder(self.path)

    def make_folder(self) -> None:
        """Make a folder for its owner only; one that is there stays as it is."""
        self.home.make_folder(self.path)

    def make_folders(self) -> None:
        """Make a folder for whoever may read the one above it."""
        self.home.make_folders(self.path)

    def modified(self) -> datetime:
        """When the file was last written, by the clock of its home."""
        return self.home.modified(self.path)

    def move(self, to: Place) -> None:
        """Move a file within its home, over one that is there: a reader finds the one or the other."""
        self.home.move(self.path, to.path)

    def copy(self, to: Place) -> None:
        """Copy a file to any home; it is there whole or not at all."""
        to.write(self.read())

    def delete(self) -> None:
        """Delete a file, if it is there."""
        self.home.delete(self.path)

    def delete_folder(self) -> None:
        """Delete a folder with all that is in it, if it is there."""
        self.home.delete_folder(self.path)


AnyPlace = str | os.PathLike[str] | Place


def place_of(address: AnyPlace, settings: Mapping[str, str] | None = None) -> Place:
    """The place at an address; `settings` are Spark's `fs.*`, where credentials are."""
    if isinstance(address, Place):
        return address
    text = os.fspath(address)
    if scheme_of(text) == FILE:
        return Place(LocalHome(), local_path(text))
    from windrow.places.remote_homes import remote_home  # packages for what is elsewhere are extras

    return Place(*remote_home(text, settings or {}))
