"""What Windrow itself keeps in a checkpoint, beside Spark's."""

from __future__ import annotations

import errno
import json
import os
import re
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from windrow.errors import SettingsError, StateError
from windrow.plan.sink import Sink

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a checkpoint fixes when it is made.

    The name that its files bear, into how many shards state is cut, and how rows expire, since operators hold other
    rows with each way.
    """

    job: str
    shards: int
    expiry: str | None = None


def kept_in(checkpoint: str, shards: int, expiry: str | None = None) -> Kept:
    """What `checkpoint` has fixed; a new one takes a new name, `shards` and `expiry`."""
    place = os.path.join(checkpoint, "windrow.json")
    try:
        make_folder(checkpoint)
        if os.path.exists(place):
            if not os.access(checkpoint, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return _as_before(read_back(place, _as_kept), expiry)
        kept = Kept(uuid.uuid4().hex[:8], shards, expiry)
        write_whole(place, asdict(kept))
    except OSError as error:
        raise not_writable(checkpoint, error) from error
    return kept


def not_writable(place: str, error: OSError) -> SettingsError:
    """Of a checkpoint, or of a place in one."""
    why = (error.strerror or str(error)).lower()
    return SettingsError(f"the checkpoint {place} cannot be written: {why}; name another folder")


def _as_kept(content: Any) -> Kept:
    kept = Kept(**content)
    if not (isinstance(kept.job, str) and re.fullmatch(r"\w{1,64}", kept.job)):  # files are named by it
        raise ValueError("job is no name")
    if type(kept.shards) is not int or kept.shards < 1:
        raise ValueError("shards is no number")
    if not isinstance(kept.expiry, str | None):
        raise ValueError("expiry is no word")
    return kept


def _as_before(kept: Kept, expiry: str | None) -> Kept:
    if kept.expiry != expiry:
        before = "without expiry" if kept.expiry is None else f"with expiry={kept.expiry!r}"
        raise SettingsError(f"the checkpoint was made {before}, and its state fits no other: go on with it as it was")
    return kept


@dataclass(frozen=True, slots=True)
class Added:
    """A query that came while a job ran; `slide_us` is what its SLIDE ABOUT was rounded to beside the others then."""

    text: str
    sink: Sink
    slide_us: int | None = None


@dataclass(slots=True)
class QueryEdits:
    """How the queries of a job differ from those it was started with.

    Of those that it is started with, the `dropped` ones do not run; the `added` ones run besides, perhaps under the
    name of a dropped one. A job that was killed and is started again runs what it ran. `forgotten` is state that is to
    be deleted as long as no query asks for it, by the folder of its stream: what only dropped queries kept.
    """

    added: dict[str, Added] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    forgotten: dict[str, list[str]] = field(default_factory=dict)

    def forget(self, folder: str, names: Iterable[str], known: Iterable[str]) -> None:
        """Have state of a stream deleted that is called `names`, and none that is `known`."""
        self.forgotten[folder] = sorted({*self.forgotten.get(folder, ()), *names} - {*known})

    @classmethod
    def read(cls, checkpoint: str) -> QueryEdits:
        place = os.path.join(checkpoint, "queries.json")
        if not os.path.exists(place):
            return cls()
        return read_back(place, cls._of)

    @classmethod
    def _of(cls, content: Any) -> QueryEdits:
        added = {
            name: Added(_text(entry["text"]), _sink(entry["format"], entry["options"]), entry["slide_us"])
            for name, entry in content["added"].items()
        }
        if not all(isinstance(it.slide_us, int | None) for it in added.values()):
            raise ValueError("a slide is no number")
        if not isinstance(content["dropped"], list):
            raise ValueError("what was dropped is no list")
        forgotten = {folder: [_text(name) for name in names] for folder, names in content.get("forgotten", {}).items()}
        return cls(added, [_text(name) for name in content["dropped"]], forgotten)

    def write(self, checkpoint: str) -> None:
        added = {
            name: {"text": it.text, "format": it.sink.format, "options": list(it.sink.options), "slide_us": it.slide_us}
            for name, it in self.added.items()
        }
        content = {"added": added, "dropped": self.dropped, "forgotten": self.forgotten}
        write_whole(os.path.join(checkpoint, "queries.json"), content)


def _sink(format: Any, options: Any) -> Sink:
    return Sink(_text(format), tuple((_text(name), _text(value)) for name, value in options))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def make_folder(place: str) -> None:
    """Make a folder for its owner only, whatever the umask; one that is there stays as it is."""
    os.makedirs(os.path.dirname(os.path.abspath(place)), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(place, 0o700)
        os.chmod(place, 0o700)
    if not os.path.isdir(place):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def write_whole(place: str, content: Any) -> None:
    """Write a file, for its owner only, that others see whole or not at all."""
    write_bytes(place, json.dumps(content).encode())


def write_bytes(place: str, content: bytes) -> None:
    """The same for what is no plain value."""
    hidden = f"{place}.{uuid.uuid4().hex[:8]}.new"
    with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(hidden, place)


def read_back(place: str, understood: Callable[[Any], T]) -> T:
    """What `understood` makes of a file that `write_whole` has written; one that somebody else has touched is named."""
    try:
        with open(place, encoding="utf-8") as file:
            return understood(json.load(file))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = "cannot be read" if isinstance(error, OSError) else "is damaged: it is not what Windrow has written"
        raise StateError(f"{place} {what}\nhint: bring it back from a copy, or start with a new checkpoint") from error
