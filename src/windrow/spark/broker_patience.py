"""How long a broker that does not answer is waited for: a first start is told at once, one that goes on waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, place_of

T = TypeVar("T")
Say = Callable[[str], None]

LOGGER = logging.getLogger("windrow")
WAITED_SECONDS = 300.0
"""So long a job that goes on waits for a broker, in all: who supervises it learns then that it has ended."""

_PAUSE_SECONDS = 2.0


class BrokerAwayError(SettingsError):
    """A broker that does not answer: it may later, which is not so of a topic that it lacks, or of a wrong password."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    until: float
    say: Say
    is_stopped: Callable[[], bool]
    now: Callable[[], float]
    sleep: Callable[[float], None]


_WAITING: ContextVar[_Waiting | None] = ContextVar("waiting for brokers", default=None)


@contextmanager
def going_on_from(
    checkpoint: AnyPlace,
    say: Say = LOGGER.warning,
    is_stopped: Callable[[], bool] = lambda: False,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Wait for brokers that do not answer within the block, where `checkpoint` has a batch: the job ran before.

    Its addresses were right then, and nobody may sit there to start it again. Where it waits, it says so.
    """
    if not _has_run(checkpoint) or _WAITING.get() is not None:
        yield
        return
    token = _WAITING.set(_Waiting(now() + WAITED_SECONDS, say, is_stopped, now, sleep))
    try:
        yield
    finally:
        _WAITING.reset(token)


def answered(ask: Callable[[], T]) -> T:
    """What a broker answers; where it does not, it is asked again, if somebody waits for it."""
    waiting = _WAITING.get()
    while True:
        try:
            return ask()
        except BrokerAwayError as error:
            if waiting is None or waiting.is_stopped() or waiting.now() >= waiting.until:
                raise
            left = max(1, round(waiting.until - waiting.now()))
            first = str(error).partition("\n")[0]
            waiting.say(f"{first}: the job has run before, and the broker is asked again for {left} seconds")
            waiting.sleep(_PAUSE_SECONDS)


def _has_run(checkpoint: AnyPlace) -> bool:
    place = place_of(checkpoint)
    try:
        folders = [place.at(entry) for entry in place.listed() if entry.is_folder] if place.exists() else []
        return any((folder / "spark" / "commits").exists() for folder in folders)
    except OSError:  # the start says so
        return False
