"""How late events may come, as users say it."""

from __future__ import annotations

from windrow.errors import SettingsError
from windrow.language import parse_duration


def read_lateness(text: str) -> int:
    """The microseconds that `text` says.

    >>> read_lateness("2 seconds")
    2000000
    """
    lateness = parse_duration(text)
    if lateness < 0:
        raise SettingsError(f"lateness={text!r} is less than nothing: events cannot come before they happen")
    return lateness
