"""How much of a query's answers is kept in memory."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.errors import SettingsError

ROWS, MEGABYTES, BATCHES = 10_000, 16, 240
MOST_ROWS, MOST_MEGABYTES, MOST_BATCHES = 1_000_000, 1024, 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """At most so many rows and bytes of an answer, and the updates of so many batches, together as large."""

    rows: int = ROWS
    bytes: int = MEGABYTES << 20
    batches: int = BATCHES


def read_limits(given: dict[str, str]) -> Limits:
    """The limits that options of a sink ask for, by the names keepRows, keepMB and keepBatches in any case.

    >>> read_limits({"keepRows": "50", "path": "out"})
    Limits(rows=50, bytes=16777216, batches=240)
    """
    named = {name.lower(): value for name, value in given.items()}
    rows = _number(named, "keepRows", ROWS, MOST_ROWS)
    megabytes = _number(named, "keepMB", MEGABYTES, MOST_MEGABYTES)
    return Limits(rows, megabytes << 20, _number(named, "keepBatches", BATCHES, MOST_BATCHES))


def _number(named: dict[str, str], option: str, otherwise: int, most: int) -> int:
    value = named.get(option.lower())
    if value is None:
        return otherwise
    if not value.strip().isdecimal() or not 1 <= int(value) <= most:
        raise SettingsError(
            f"{option} {value!r} is not a whole number from 1 to {most:,}\nhint: {option} '{otherwise}'"
        )
    return int(value)
