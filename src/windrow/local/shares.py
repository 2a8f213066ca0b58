"""Shares of rows that replay takes of each batch, as a job would that is delayed: there is no clock that decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.errors import SettingsError
from windrow.plan.nodes.shed import MOST_HALVINGS, halvings_of

Shares = float | Sequence[float]


def read_shares(shares: Shares | None) -> Callable[[int], int]:
    """How often the share of each batch, by its number, is halved; the last one holds for all that follow.

    >>> halvings = read_shares([1, 0.25])
    >>> [halvings(batch) for batch in range(3)]
    [0, 2, 2]
    """
    listed = [1.0] if shares is None else [shares] if isinstance(shares, int | float) else list(shares)
    found = [halvings_of(share) for share in listed]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        wrong = next((share for share, one in zip(listed, found) if one is None), shares)
        raise SettingsError(
            f"shares: {wrong!r} is no share of rows that can be taken"
            f"\nhint: 1, 1/2, 1/4, ..., down to 1/{1 << MOST_HALVINGS}"
        )
    return lambda batch: known[min(batch, len(known) - 1)]
