"""What every kind of place can do: read, write whole, create once, list, move and delete."""

from __future__ import annotations

from datetime import datetime
from typing import BinaryIO, NamedTuple, Protocol


class Entry(NamedTuple):
    """What a listing says of a file or folder: its path in its home."""

    path: str
    is_folder: bool
    size: int


class Home(Protocol):
    """A kind of place, with what it takes to reach it. Paths are the home's own; what cannot be done is an `OSError`.

    `write` and `move` show a file whole or not at all, over one that was there. `create` makes a file that is not
    there, and says whether it did: of several that try at once, one does. Folders need not be made before their files.
    """

    def address(self, path: str) -> str:
        """The path as a user reads it."""

    def for_spark(self, path: str) -> str:
        """The path as Spark has to be told it."""

    def join(self, path: str, name: str) -> str: ...

    def read(self, path: str) -> bytes: ...

    def open(self, path: str) -> BinaryIO:
        """A file to read some of."""

    def write(self, path: str, content: bytes) -> None: ...

    def create(self, path: str, content: bytes) -> bool: ...

    def entries(self, path: str) -> list[Entry]:
        """What is directly in a folder; nothing where there is no folder."""

    def files_below(self, path: str) -> list[Entry]:
        """All files in a folder and the folders in it."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""

    def is_file(self, path: str) -> bool: ...

    def is_folder(self, path: str) -> bool: ...

    def make_folder(self, path: str) -> None:
        """Make a folder for its owner only, and those above it; one that is there stays as it is."""

    def make_folders(self, path: str) -> None:
        """Make a folder for whoever may read the one above it."""

    def modified(self, path: str) -> datetime:
        """When a file was last written, by the clock of the home."""

    def move(self, path: str, to: str) -> None: ...

    def delete(self, path: str) -> None:
        """Delete a file; one that is gone already is none."""

    def delete_folder(self, path: str) -> None:
        """Delete a folder with all that is in it; one that is gone already is none."""
