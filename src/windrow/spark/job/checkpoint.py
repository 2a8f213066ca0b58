"""What Windrow itself keeps in a checkpoint, beside Spark's."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from windrow.errors import SettingsError, StateError
from windrow.places.place import AnyPlace, place_of
from windrow.places.reach import check_reached, unreached
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


def kept_in(checkpoint: AnyPlace, shards: int, expiry: str | None = None) -> Kept:
    """What `checkpoint` has fixed; a new one takes a new name, `shards` and `expiry`."""
    folder = place_of(checkpoint)
    place = folder / "windrow.json"
    try:
        folder.make_folder()
        check_reached(folder, "the checkpoint")
        if place.exists():
            return _as_before(read_back(place, _as_kept), expiry)
        kept = Kept(uuid.uuid4().hex[:8], shards, expiry)
        write_whole(place, asdict(kept))
    except OSError as error:
        raise not_writable(checkpoint, error) from error
    return kept


def kept_of(checkpoint: AnyPlace) -> Kept:
    """What a checkpoint that is there has fixed."""
    return read_back(place_of(checkpoint) / "windrow.json", _as_kept)


def not_writable(place: AnyPlace, error: OSError) -> SettingsError:
    """Of a checkpoint, or of a place in one."""
    return unreached(place_of(place), "the checkpoint", error)


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
    """A query that came while a job ran; `slide_us` is what its SLIDE ABOUT was rounded to beside the others then, of
    levels a slide for each.

    `choose` is what was asked for by name, of this query alone.
    """

    text: str
    sink: Sink
    slide_us: int | tuple[int, ...] | None = None
    choose: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class QueryEdits:
    """How the queries of a job differ from those it was started with.

    Of those that it is started with, the `dropped` ones do not run; the `added` ones run besides, perhaps under the
    name of a dropped one. A job that was killed and is started again runs what it ran. `forgotten` is state that is to
    be deleted as long as no query asks for it, by the folder of its stream: what only dropped queries kept. `expiry` is
    how the rows of some queries expire, by name: those that were asked for another way than all others. `stopped` are
    queries that have failed while the others went on, each with why: they do not run until somebody brings them back.
    """

    added: dict[str, Added] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    forgotten: dict[str, list[str]] = field(default_factory=dict)
    expiry: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)

    def bring_back(self, name: str) -> bool:
        """Let a query run again that was dropped or has stopped; False if it is neither."""
        known = name in self.dropped or name in self.stopped
        self.dropped = [other for other in self.dropped if other != name]
        self.stopped.pop(name, None)
        return known

    def forget(self, folder: str, names: Iterable[str], known: Iterable[str]) -> None:
        """Have state of a stream deleted that is called `names`, and none that is `known`."""
        self.forgotten[folder] = sorted({*self.forgotten.get(folder, ()), *names} - {*known})

    @classmethod
    def read(cls, checkpoint: AnyPlace) -> QueryEdits:
        place = place_of(checkpoint) / "queries.json"
        return read_back(place, cls._of) if place.exists() else cls()

    @classmethod
    def _of(cls, content: Any) -> QueryEdits:
        added = {
            name: Added(
                _text(entry["text"]),
                _sink(entry["format"], entry["options"]),
                _slides(entry["slide_us"]),
                tuple((_text(choice), _text(wish)) for choice, wish in entry.get("choose", [])),
            )
            for name, entry in content["added"].items()
        }
        if not isinstance(content["dropped"], list):
            raise ValueError("what was dropped is no list")
        forgotten = {folder: [_text(name) for name in names] for folder, names in content.get("forgotten", {}).items()}
        expiry = {_text(name): _text(way) for name, way in content.get("expiry", {}).items()}
        stopped = {_text(name): _text(why) for name, why in content.get("stopped", {}).items()}
        return cls(added, [_text(name) for name in content["dropped"]], forgotten, expiry, stopped)

    def write(self, checkpoint: AnyPlace) -> None:
        added = {
            name: {"text": it.text, "format": it.sink.format, "options": list(it.sink.options), "slide_us": it.slide_us}
            | {"choose": list(it.choose)}
            for name, it in self.added.items()
        }
        content = {"added": added, "dropped": self.dropped, "forgotten": self.forgotten, "expiry": self.expiry}
        content["stopped"] = self.stopped
        write_whole(place_of(checkpoint) / "queries.json", content)


def _slides(written: Any) -> int | tuple[int, ...] | None:
    if not all(isinstance(slide, int | None) for slide in (written if isinstance(written, list) else [written])):
        raise ValueError("a slide is no number")
    return tuple(written) if isinstance(written, list) else written


def _sink(format: Any, options: Any) -> Sink:
    return Sink(_text(format), tuple((_text(name), _text(value)) for name, value in options))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def make_folder(place: AnyPlace) -> None:
    """Make a folder for its owner only, whatever the umask; one that is there stays as it is."""
    place_of(place).make_folder()


def write_whole(place: AnyPlace, content: Any) -> None:
    """Write a value to a file, for its owner only, that others see whole or not at all."""
    place_of(place).write(json.dumps(content).encode())


def read_back(place: AnyPlace, understood: Callable[[Any], T]) -> T:
    """What `understood` makes of a file that `write_whole` has written; one that somebody else has touched is named."""
    try:
        return understood(json.loads(place_of(place).read().decode("utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = "cannot be read" if isinstance(error, OSError) else "is damaged: it is not what Windrow has written"
        raise StateError(f"{place} {what}\nhint: bring it back from a copy, or start with a new checkpoint") from error
