"""The wall clock of a replay: when each batch arrives, and when the clock is looked at although nothing does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import pairwise

from windrow.errors import SettingsError

Instant = datetime | int
Arrivals = Iterable[Instant] | Callable[[int], Instant]
"""An instant for each batch, in order, or what gives it for the number of a batch, counted from 0."""

NO_ARRIVALS = "a replay reads no clock: say with arrivals=[...] when each batch arrives"


def microseconds(instant: Instant) -> int:
    """An instant in microseconds since the epoch; a datetime without a zone is in UTC.

    >>> microseconds(datetime(1970, 1, 1, 0, 0, 2)), microseconds(5)
    (2000000, 5)
    """
    if isinstance(instant, int):
        return instant
    since = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - datetime.fromtimestamp(0, UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def wall_clock(batches: int, arrivals: Arrivals, heartbeats: Iterable[Instant] = ()) -> list[tuple[int, int | None]]:
    """Instants in order, each with the number of the batch that arrives then, or None for a heartbeat.

    At one instant, the batch comes first: events that are there are not passed over.

    >>> wall_clock(2, [10, 20], heartbeats=[5, 20, 30])
    [(5, None), (10, 0), (20, 1), (20, None), (30, None)]
    """
    given = map(arrivals, range(batches)) if callable(arrivals) else iter(arrivals)
    instants = [microseconds(instant) for _, instant in zip(range(batches), given)]
    if len(instants) < batches:
        raise SettingsError(f"there are {batches} batches and {len(instants)} arrivals: each batch needs an instant")
    if any(later < earlier for earlier, later in pairwise(instants)):
        raise SettingsError("arrivals go back in time: batches arrive one after the other")
    moments: list[tuple[int, int | None]] = [(instant, number) for number, instant in enumerate(instants)]
    moments += [(microseconds(instant), None) for instant in heartbeats]
    return sorted(moments, key=lambda moment: (moment[0], moment[1] is None, moment[1] or 0))
