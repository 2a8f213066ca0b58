"""How late events may come, and how long answers are corrected, as users say it."""

from __future__ import annotations

from windrow.errors import SettingsError
from windrow.language import parse_duration
from windrow.plan.catalog import Unique


def read_lateness(text: str) -> int:
    """The microseconds that `text` says.

    >>> read_lateness("2 seconds")
    2000000
    """
    lateness = parse_duration(text)
    if lateness < 0:
        raise SettingsError(f"lateness={text!r} is less than nothing: events cannot come before they happen")
    return lateness


def read_correction(text: str | None, time: str | None, unique: Unique | None) -> int:
    """For how many microseconds after their end windows are answered again; 0 where nobody asks for it.

    >>> read_correction("1 minute", "ts", None)
    60000000
    """
    if text is None:
        return 0
    corrects = parse_duration(text)
    if corrects <= 0:
        raise SettingsError(f"correct_for={text!r} is no time in which an answer could be corrected: leave it out")
    if time is None:
        raise SettingsError("streams timed by arrival have no late events to correct answers for: say time=...")
    if unique is not None:
        raise SettingsError(
            "a stream that is deduplicated cannot correct answers: which event is the first of its id, a late one"
            " would change\nhint: leave out CORRECT FOR (correct_for), or DEDUPLICATE BY"
        )
    return corrects
