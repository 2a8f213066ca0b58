"""Small files of a sink's folder merged into larger ones, while jobs write beside them and readers read."""

from __future__ import annotations

import fcntl
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from windrow.errors import SettingsError
from windrow.places.lease import Lease
from windrow.places.place import AnyPlace, Place, place_of
from windrow.spark.job.checkpoint import read_back, write_whole
from windrow.spark.sinks.merge_files import check_alike, merge_into
from windrow.spark.sinks.staged_files import STAGING, not_written

_NAME = re.compile(r"(?P<prefix>\w+-[0-9a-f]{8})-(?P<first>\d{9})(?:-(?P<last>\d{9}))?-\d{5}(?P<ends>\.[a-z0-9.]+)")
_JOURNAL, _LOCK, _MERGED = "compact.json", "compact.lock", "merged-"
_LAKES = {"_delta_log": "Delta", "metadata": "Iceberg"}
"""The folder in which a table of a lake says which files are of it."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a sink as its name has it: of which job and sink, and of which batches."""

    path: Place
    prefix: str
    first: int
    last: int
    ends: str
    size: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Some files that become one."""

    files: tuple[ShownFile, ...]

    @property
    def into(self) -> Place:
        """A name that no file has: the first and the last batch, and a number."""
        some = self.files[0]
        first, last = min(file.first for file in self.files), max(file.last for file in self.files)
        number = 0
        while True:
            place = some.path.parent / f"{some.prefix}-{first:09d}-{last:09d}-{number:05d}{some.ends}"
            if not place.is_file():
                return place
            number += 1


def compact(folder: AnyPlace, most_bytes: int, header: bool | None, say: Callable[[str], None]) -> tuple[int, int]:
    """Merge files into ones of at most about `most_bytes`; returns how many went, and how many came.

    The files of the newest batch of each job stay: a job that was killed in it runs it again, and replaces them. Each
    merge is noted in a journal before it is shown, so that a run after a crash finishes what was begun.
    """
    folder = place_of(folder)
    if not folder.is_folder():
        raise SettingsError(f"there is no folder {folder}\nhint: name the folder that a sink writes to")
    for log, kind in _LAKES.items():
        if (folder / log).is_folder():
            raise SettingsError(
                f"{folder} is a table of {kind}, which would lose its rows with its files"
                f"\nhint: a sink with roll commits less often; {kind}'s own tools merge what there is"
            )
    hidden = folder / STAGING
    with _alone(hidden):
        if _recover(hidden):
            say("finished what an earlier run had begun")
        merges = planned(shown_files(folder), most_bytes)
        for merge in merges:  # all is read before anything is changed
            check_alike([file.path for file in merge.files], header)
        went = 0
        for merge in merges:
            _carry_out(merge, hidden, header is True)
            went += len(merge.files)
            size = sum(file.size for file in merge.files)
            say(f"{merge.files[0].path.parent}: {len(merge.files)} files of {size / 1e6:.1f} MB together are one")
    return went, len(merges)


def shown_files(folder: Place) -> list[ShownFile]:
    """The files of sinks in a folder and those below it, in the order of their batches."""
    found = []
    for file in folder.files_below():
        path = folder.at(file)
        told = _NAME.fullmatch(path.name)
        above = path.parent.path[len(folder.path) :].strip("/")
        if told is not None and not any(part.startswith(("_", ".")) for part in above.split("/")):
            first = int(told["first"])
            last = first if told["last"] is None else int(told["last"])
            found.append(ShownFile(path, told["prefix"], first, last, told["ends"], file.size))
    return sorted(found, key=lambda file: (file.path.parent.path, file.prefix, file.ends, file.first, file.path.name))


def planned(files: list[ShownFile], most_bytes: int) -> list[Merge]:
    """Which files become one: of one folder, one sink and one format, none of the newest batch."""
    newest: dict[str, int] = {}
    for file in files:
        newest[file.prefix] = max(newest.get(file.prefix, -1), file.last)
    bins: list[list[ShownFile]] = []
    for file in files:
        if file.last == newest[file.prefix]:
            continue
        alike = bins and _kind(bins[-1][0]) == _kind(file)
        if not alike or sum(other.size for other in bins[-1]) + file.size > most_bytes:
            bins.append([])
        bins[-1].append(file)
    return [Merge(tuple(some)) for some in bins if len(some) > 1]


def _kind(file: ShownFile) -> tuple[str, str, str]:
    return file.path.parent.path, file.prefix, file.ends


def _carry_out(merge: Merge, hidden: Place, header: bool) -> None:
    """Merge: never is a row missing; in the instant between the two steps of `_show` a reader finds it twice."""
    into = merge.into
    merged = hidden / f"{_MERGED}{into.name}"
    try:
        merge_into(merged, [file.path for file in merge.files], header)
    except OSError as error:
        merged.delete()
        raise not_written(str(merged), error) from error
    journal = {"merged": merged.path, "into": into.path, "from": [file.path.path for file in merge.files]}
    write_whole(hidden / _JOURNAL, journal)
    _show(journal, hidden)


def _show(journal: dict[str, Any], hidden: Place) -> None:
    """Show the merged file, and remove those it is made of; may be done again from any point."""
    merged, into = Place(hidden.home, journal["merged"]), Place(hidden.home, journal["into"])
    if merged.is_file():
        merged.move(into)
        if into.is_local:
            _sync(into.parent.path)
    if into.is_file():
        for path in journal["from"]:
            Place(hidden.home, path).delete()
    (hidden / _JOURNAL).delete()


def _recover(hidden: Place) -> bool:
    """Finish the merge that a run before has noted, and remove what it had not come to note."""
    begun = (hidden / _JOURNAL).is_file()
    if begun:
        _show(read_back(hidden / _JOURNAL, lambda content: {name: content[name] for name in _NOTED}), hidden)
    for left in hidden.entries():
        if left.name.startswith((_MERGED, f".{_MERGED}", f"{_JOURNAL}.", f".{_JOURNAL}.")):
            left.delete()
    return begun


_NOTED = ("merged", "into", "from")


@contextmanager
def _alone(hidden: Place) -> Iterator[None]:
    """Only one run at a time: by a lock that ends with its process, or elsewhere by a lease."""
    taken = SettingsError(f"{hidden.parent} is being compacted already\nhint: wait until that is done")
    if not hidden.is_local:
        lease = Lease(hidden, {"host": socket.gethostname(), "process": os.getpid()})
        if lease.take() is not None:
            raise taken
        lease.keep()
        try:
            yield
        finally:
            lease.release()
        return
    hidden.make_folders()
    file = os.open((hidden / _LOCK).path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise taken from None
        yield
    finally:
        os.close(file)


def _sync(folder: str) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
