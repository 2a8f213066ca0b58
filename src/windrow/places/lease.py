"""A lease on a folder elsewhere: one holder at a time, by files that are created once and renewed."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from windrow.places.place import Place
from windrow.places.reach import written_now

RENEWED_SECONDS = 10.0
EXPIRES_SECONDS = 30.0
LEASES = "lock.leases"
"""No stream has a folder with a dot in its name."""

_NAME = re.compile(r"(\d{12})\.json")


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose a lease is: its number, and what the holder says of itself."""

    number: int
    said: dict[str, Any]

    @property
    def is_released(self) -> bool:
        return bool(self.said.get("released"))


class Lease:
    """The right to write to a folder, for as long as it is renewed.

    Leases are numbered files. Who wants one creates the file of the next number, which only one can: the highest number
    holds. Its holder writes the file again each 10 seconds. One that has not been written for 30 seconds, by the clock
    of the place itself, has expired, and whoever comes creates the next. A holder that was only slow finds a higher
    number when it `check`s before it commits, and gives up. Nothing is compared between the clocks of two machines.
    """

    def __init__(self, folder: Place, oneself: dict[str, Any], sleep: Callable[[float], None] = time.sleep) -> None:
        self._folder, self._sleep = folder / LEASES, sleep
        self._oneself = {**oneself, "token": uuid.uuid4().hex}
        self._number: int | None = None
        self._ended = threading.Event()

    def take(self) -> Holder | None:
        """Hold the lease; gives who else does, if anybody.

        Where it is unclear whether the holder lives, this waits until it renews the lease, or until it has expired.
        """
        other = waited(self._folder, self._sleep)
        while other is None or other.is_released or other.number < 0:
            number = 1 if other is None else abs(other.number) + 1
            if (self._folder / f"{number:012d}.json").create(self._content()):
                self._number = number
                self._tidy()
                return None
            other = waited(self._folder, self._sleep)
        return other

    def keep(self) -> None:
        """Renew the lease every 10 seconds, in a thread of its own, until it is released."""
        self._ended = threading.Event()
        threading.Thread(target=self._go_on, args=(self._ended,), name="windrow lease", daemon=True).start()

    def renew(self) -> None:
        """Say that the holder lives. Where that fails it is tried again later; meanwhile the lease may expire."""
        number = self._number
        if number is not None:
            with suppress(OSError):
                (self._folder / f"{number:012d}.json").write(self._content())

    def check(self) -> Holder | None:
        """Who has taken the lease over, if anybody; asked before each commit."""
        return None if self._number is None else taken_over(self._folder, self._number)

    @property
    def number(self) -> int | None:
        """The number that holds, if it is held."""
        return self._number

    def release(self) -> None:
        """Let others have it at once. The file stays: numbers only grow, so that no two ever hold the same."""
        if self._number is not None:
            self._ended.set()
            number, self._number = self._number, None
            with suppress(OSError):  # it expires
                (self._folder / f"{number:012d}.json").write(self._content(released=True))

    def _go_on(self, ended: threading.Event) -> None:
        while not ended.wait(RENEWED_SECONDS):
            self.renew()

    def _content(self, released: bool = False) -> bytes:
        return json.dumps({**self._oneself, "released": released, "renewal": uuid.uuid4().hex}).encode()

    def _tidy(self) -> None:
        """Delete leases that nobody asks for: all but this one and the one before."""
        assert self._number is not None
        for place in self._folder.entries():
            told = _NAME.fullmatch(place.name)
            if told is not None and int(told[1]) < self._number - 1:
                with suppress(OSError):
                    place.delete()


def taken_over(folder: Place, number: int) -> Holder | None:
    """Who holds a lease in a folder of leases that came after that of a number, if anybody does."""
    newest = _newest(folder)
    return _read(folder, newest) if newest is not None and newest > number else None


def waited(folder: Place, sleep: Callable[[float], None] = time.sleep) -> Holder | None:
    """Who holds the newest lease in a folder of leases; with a number below zero if it has expired.

    A holder that may have died is waited for: it either renews, and lives, or the lease expires.
    """
    seen: dict[str, Any] | None = None
    while True:
        newest = _newest(folder)
        if newest is None:
            return None
        holder = _read(folder, newest)
        if holder.is_released:
            return holder
        age = _age(folder, newest)
        if age >= EXPIRES_SECONDS:
            return Holder(-newest, holder.said)
        if seen is not None and holder.said != seen:
            return holder
        seen = holder.said
        sleep(min(1.0, max(0.05, EXPIRES_SECONDS - age)))


def _newest(folder: Place) -> int | None:
    told = (_NAME.fullmatch(name) for name in folder.names())
    return max((int(name[1]) for name in told if name is not None), default=None)


def _read(folder: Place, number: int) -> Holder:
    """A lease as it is; one that is just being written says nothing yet."""
    try:
        said = json.loads((folder / f"{number:012d}.json").read())
    except (OSError, ValueError):
        said = {}
    return Holder(number, said if isinstance(said, dict) else {})


def _age(folder: Place, number: int) -> float:
    """How many seconds ago a lease was written, by the clock of the place."""
    try:
        written = (folder / f"{number:012d}.json").modified()
    except FileNotFoundError:
        return 0.0
    return (written_now(folder) - written).total_seconds()
