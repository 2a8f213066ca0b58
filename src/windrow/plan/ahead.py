"""How far ahead of its batch an event may be, as users say it."""

from __future__ import annotations

from windrow.errors import SettingsError
from windrow.language import parse_duration
from windrow.language.durations import LONGEST_US

DEFAULT_US = 86_400_000_000
"""A day: more than any clock or time zone is wrong by, and little enough for a stream to recover from by itself."""

UNBOUNDED = "unbounded"


def read_ahead(text: str | None) -> int | None:
    """The microseconds that `text` says; None, for nothing said, is None.

    >>> read_ahead("1 hour"), read_ahead("unbounded") == LONGEST_US, read_ahead(None)
    (3600000000, True, None)
    """
    if text is None:
        return None
    if str(text).strip().lower() == UNBOUNDED:
        return LONGEST_US  # no event can be further ahead
    ahead = parse_duration(text)
    if ahead < 0:
        raise SettingsError(f"ahead={text!r} is less than nothing: it says how far ahead of its batch an event may be")
    return ahead


def ahead_limit(said_us: int | None, *, live: bool) -> int | None:
    """The limit that holds for a stream; None is none. Where nothing is said, only a `live` job has one.

    A job that works off what is there may well read times that somebody made up, and ends before it does harm.

    >>> ahead_limit(None, live=True), ahead_limit(None, live=False), ahead_limit(LONGEST_US, live=True)
    (86400000000, None, None)
    """
    if said_us is None:
        return DEFAULT_US if live else None
    return None if said_us >= LONGEST_US else said_us
