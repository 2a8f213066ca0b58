"""How rows of joins, set operators and windows without a slide expire, as users say it."""

from __future__ import annotations

from windrow.errors import SettingsError
from windrow.plan.nodes.changes import Expiry


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
