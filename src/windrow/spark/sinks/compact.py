"""Small files of a sink's folder merged into larger ones, while jobs write beside them and readers read."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windrow.errors import SettingsError
from windrow.spark.job.checkpoint import read_back, write_whole
from windrow.spark.sinks.merge_files import check_alike, merge_into
from windrow.spark.sinks.staged_files import STAGING, not_written

_NAME = re.compile(r"(?P<prefix>\w+-[0-9a-f]{8})-(?P<first>\d{9})(?:-(?P<last>\d{9}))?-\d{5}(?P<ends>\.[a-z0-9.]+)")
_JOURNAL, _LOCK, _MERGED = "compact.json", "compact.lock", "merged-"


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a sink as its name has it: of which job and sink, and of which batches."""

    path: Path
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
    def into(self) -> Path:
        """A name that no file has: the first and the last batch, and a number."""
        some = self.files[0]
        first, last = min(file.first for file in self.files), max(file.last for file in self.files)
        number = 0
        while True:
            place = some.path.parent / f"{some.prefix}-{first:09d}-{last:09d}-{number:05d}{some.ends}"
            if not place.exists():
                return place
            number += 1


def compact(folder: Path, most_bytes: int, header: bool | None, say: Callable[[str], None]) -> tuple[int, int]:
    """Merge files into ones of at most about `most_bytes`; returns how many went, and how many came.

    The files of the newest batch of each job stay: a job that was killed in it runs it again, and replaces them. Each
    merge is noted in a journal before it is shown, so that a run after a crash finishes what was begun.
    """
    if not folder.is_dir():
        raise SettingsError(f"there is no folder {folder}\nhint: name the folder that a sink writes to")
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


def shown_files(folder: Path) -> list[ShownFile]:
    """The files of sinks in a folder and those below it, in the order of their batches."""
    found = []
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        for name in names:
            told = _NAME.fullmatch(name)
            if told is not None:
                path, first = Path(above, name), int(told["first"])
                last = first if told["last"] is None else int(told["last"])
                found.append(ShownFile(path, told["prefix"], first, last, told["ends"], path.stat().st_size))
    return sorted(found, key=lambda file: (str(file.path.parent), file.prefix, file.ends, file.first, file.path.name))


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


def _kind(file: ShownFile) -> tuple[Path, str, str]:
    return file.path.parent, file.prefix, file.ends


def _carry_out(merge: Merge, hidden: Path, header: bool) -> None:
    """Merge: never is a row missing; in the instant between the two steps of `_show` a reader finds it twice."""
    into = merge.into
    merged = hidden / f"{_MERGED}{into.name}"
    try:
        merge_into(merged, [file.path for file in merge.files], header)
    except OSError as error:
        merged.unlink(missing_ok=True)
        raise not_written(str(merged), error) from error
    journal = {"merged": str(merged), "into": str(into), "from": [str(file.path) for file in merge.files]}
    write_whole(str(hidden / _JOURNAL), journal)
    _show(journal, hidden)


def _show(journal: dict[str, Any], hidden: Path) -> None:
    """Show the merged file, and remove those it is made of; may be done again from any point."""
    if os.path.exists(journal["merged"]):
        os.replace(journal["merged"], journal["into"])
        _sync(os.path.dirname(journal["into"]))
    if os.path.exists(journal["into"]):
        for path in journal["from"]:
            Path(path).unlink(missing_ok=True)
    (hidden / _JOURNAL).unlink()


def _recover(hidden: Path) -> bool:
    """Finish the merge that a run before has noted, and remove what it had not come to note."""
    begun = (hidden / _JOURNAL).exists()
    if begun:
        _show(read_back(str(hidden / _JOURNAL), lambda content: {name: content[name] for name in _NOTED}), hidden)
    for left in (*hidden.glob(f"{_MERGED}*"), *hidden.glob(f"{_JOURNAL}.*")):
        left.unlink()
    return begun


_NOTED = ("merged", "into", "from")


@contextmanager
def _alone(hidden: Path) -> Iterator[None]:
    """Only one run at a time; the lock ends with its process."""
    hidden.mkdir(exist_ok=True)
    file = os.open(hidden / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingsError(f"{hidden.parent} is being compacted already\nhint: wait until that is done") from None
        yield
    finally:
        os.close(file)


def _sync(folder: str) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
