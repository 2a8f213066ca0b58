"""What makes an event a duplicate, as users say it."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.errors import SettingsError
from windrow.language import parse_duration
from windrow.plan.catalog import Unique


def read_unique(by: str | Sequence[str] | None, within: str | None, time: str | None) -> Unique | None:
    """By what events are told apart, and for how long a duplicate is known; None where nobody asks for it.

    >>> read_unique("id", "1 hour", "ts")
    Unique(by=('id',), within_us=3600000000)
    """
    if by is None and within is None:
        return None
    if by is None or within is None or not by:
        raise SettingsError("deduplicate_by and within go together: deduplicate_by='id', within='1 hour'")
    if time is None:
        raise SettingsError("streams timed by arrival are not deduplicated: say with time=... when events happened")
    within_us = parse_duration(within)
    if within_us <= 0:
        raise SettingsError(f"within={within!r} is no time in which a duplicate could come")
    return Unique((by,) if isinstance(by, str) else tuple(by), within_us)
