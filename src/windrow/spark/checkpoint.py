"""What Windrow itself keeps in a checkpoint, beside Spark's."""

from __future__ import annotations

import errno
import json
import os
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from windrow.errors import SettingsError
from windrow.plan.sink import Sink


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
        os.makedirs(checkpoint, exist_ok=True)
        if os.path.exists(place):
            if not os.access(checkpoint, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            with open(place) as file:
                return _as_before(Kept(**json.load(file)), expiry)
        kept = Kept(uuid.uuid4().hex[:8], shards, expiry)
        write_whole(place, asdict(kept))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise SettingsError(f"the checkpoint {checkpoint} cannot be written: {why}; name another folder") from error
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
class Changes:
    """How the queries of a job differ from those it was started with.

    Of those that it is started with, the `dropped` ones do not run; the `added` ones run besides, perhaps under the
    name of a dropped one. A job that was killed and is started again runs what it ran.
    """

    added: dict[str, Added] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, checkpoint: str) -> Changes:
        place = os.path.join(checkpoint, "queries.json")
        if not os.path.exists(place):
            return cls()
        with open(place) as file:
            kept = json.load(file)
        added = {
            name: Added(entry["text"], Sink(entry["format"], tuple(map(tuple, entry["options"]))), entry["slide_us"])
            for name, entry in kept["added"].items()
        }
        return cls(added, kept["dropped"])

    def write(self, checkpoint: str) -> None:
        added = {
            name: {"text": it.text, "format": it.sink.format, "options": list(it.sink.options), "slide_us": it.slide_us}
            for name, it in self.added.items()
        }
        write_whole(os.path.join(checkpoint, "queries.json"), {"added": added, "dropped": self.dropped})


def write_whole(place: str, content: Any) -> None:
    """Write a file that others see whole or not at all."""
    hidden = f"{place}.{uuid.uuid4().hex[:8]}.new"
    with open(hidden, "w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(hidden, place)
