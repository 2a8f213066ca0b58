"""How rows of joins, set operators and windows without a slide expire: the four ways, as users say them."""

from __future__ import annotations

from enum import Enum

from windrow.errors import SettingsError


class Expiry(Enum):
    """Who notices that a row's time is over (section 3): four ways that differ in when, not in what."""

    INPUT = "input-triggered"
    PROBING = "time probing"
    NEGATIVE = "negative tuples"
    HYBRID = "hybrid"


def read_expiry(text: str | Expiry | None) -> Expiry | None:
    """The way that a user has chosen; None leaves it to what is cheapest.

    >>> read_expiry("negative tuples")
    <Expiry.NEGATIVE: 'negative tuples'>
    """
    if text is None or isinstance(text, Expiry):
        return text
    ways = {way.value: way for way in Expiry}
    if text not in ways:
        raise SettingsError(f"expiry={text!r} is none of {', '.join(ways)}")
    return ways[text]
