"""The places that a script names, tried from the driver, and what executors need to try them too."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from windrow.errors import SettingsError
from windrow.language import CreateSink, CreateStream, CreateTable, Statement
from windrow.places.addresses import FILE, scheme_of
from windrow.places.place import Place, place_of
from windrow.places.reach import reason_of

READ, WRITTEN = "read", "written"


@dataclass(frozen=True, slots=True)
class Needed:
    """A place that a job needs: its address, what it is, and whether it is read or written."""

    address: str
    what: str
    use: str


@dataclass(slots=True)
class Trial:
    """A place, what the driver found there, and the file that it left for executors to find."""

    needed: Needed
    address: str
    settings: dict[str, str]
    wrong: str | None = None
    sample: str | None = None
    token: str | None = None

    def asked(self) -> dict[str, Any]:
        """What a task is told to try."""
        return {"address": self.address, "settings": self.settings, "sample": self.sample, "token": self.token}


def places_needed(statements: Iterable[Statement], checkpoint: str | None) -> list[Needed]:
    """The places of a script, and the checkpoint.

    >>> from windrow.language import parse_script
    >>> script = parse_script("CREATE SINK s USING parquet OPTIONS (path 'out/s')")
    >>> [(place.address, place.what, place.use) for place in places_needed(script, "kept")]
    [('out/s', 'sink s', 'written'), ('kept', 'checkpoint', 'written')]
    """
    found = []
    for statement in statements:
        for kind, (word, use) in _KINDS.items():
            path = dict(statement.options).get("path") if isinstance(statement, kind) else None
            if isinstance(statement, kind) and path is not None:
                found.append(Needed(path, f"{word} {statement.name}", use))
    return found if checkpoint is None else [*found, Needed(checkpoint, "checkpoint", WRITTEN)]


_KINDS: dict[type[CreateStream | CreateTable | CreateSink], tuple[str, str]] = {
    CreateStream: ("stream", READ),
    CreateTable: ("table", READ),
    CreateSink: ("sink", WRITTEN),
}


@contextmanager
def tried_here(places: Sequence[Needed], settings: Mapping[str, str]) -> Iterator[list[Trial]]:
    """Try each place from the driver. While the block lasts, a small file is in those that are written."""
    trials: list[Trial] = []
    made: list[list[str]] = []
    try:
        for needed in places:
            trial = Trial(needed, needed.address, {})
            trials.append(trial)
            with _told(trial):
                elsewhere = scheme_of(needed.address) != FILE
                trial.settings = dict(settings) if elsewhere else {}
                place = place_of(_before_pattern(needed.address), trial.settings).absolute()
                trial.address = str(place)
                if needed.use == READ:
                    trial.sample = _sample(place)
                else:
                    made.append(_missing(place))
                    _leave_token(trial, place)
        yield trials
    finally:
        for trial in trials:
            if trial.token is not None:
                with suppress(OSError, SettingsError):
                    (place_of(trial.address, trial.settings) / trial.token).delete()
        for missing in made:
            _remove_empty(missing)


@contextmanager
def _told(trial: Trial) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        trial.wrong = reason_of(error)
    except SettingsError as error:
        trial.wrong = str(error)


def _leave_token(trial: Trial, place: Place) -> None:
    name = f".windrow-{uuid.uuid4().hex}"
    if place.is_local:
        os.makedirs(place.path, exist_ok=True)
    (place / name).write(name.encode())
    trial.token = name


def _sample(place: Place) -> str | None:
    """A file of a folder, or the file itself: what executors must be able to open. None of an empty folder."""
    if place.is_file():
        return str(place)
    if not place.exists():
        raise FileNotFoundError(2, "there is no such file or folder")
    files = [entry for entry in place.files_below() if not _hidden(entry.path)]
    return str(place.at(files[0])) if files else None


def _hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith((".", "_"))


def _before_pattern(address: str) -> str:
    """The folder in which a pattern begins.

    >>> _before_pattern("s3a://bucket/day=*/x.parquet"), _before_pattern("data/ticks")
    ('s3a://bucket', 'data/ticks')
    """
    found = re.search(r"/[^/]*[*?\[{]", address)
    return address if found is None else address[: found.start()]


def _missing(place: Place) -> list[str]:
    """The folders of this machine that are made for the trial, the innermost first."""
    missing, path = [], place.path
    while place.is_local and not os.path.exists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _remove_empty(folders: list[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)
