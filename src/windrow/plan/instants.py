"""The instants that an event may have and that an answer can show: those of the years 1 to 9999."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from windrow.errors import SettingsError

EARLIEST_US = -62_135_596_800_000_000
"""The first microsecond of the year 1. Python, Arrow and files of results have nothing before it."""

LATEST_US = 253_402_300_799_999_999
"""The last microsecond of the year 9999. Sums of such times and of any duration stay far within 64 bits."""


def shown_instant(time_us: int) -> datetime:
    """A time as Python has it; the first or the last one that there is, where a clock less its lateness lies beyond.

    >>> shown_instant(LATEST_US).isoformat(), shown_instant(EARLIEST_US - 5).isoformat()
    ('9999-12-31T23:59:59.999999+00:00', '0001-01-01T00:00:00+00:00')
    """
    within = min(max(time_us, EARLIEST_US), LATEST_US)
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=within)


def read_instant(time: datetime | str) -> int:
    """The microseconds since the epoch of a time, or of a text that says one; without a zone it is in UTC.

    >>> read_instant("1970-01-01 00:00:02"), read_instant("1970-01-01T02:00:00+02:00")
    (2000000, 0)
    >>> read_instant("yesterday")
    Traceback (most recent call last):
    windrow.errors.SettingsError: 'yesterday' is not a time, such as 2024-01-31 12:00:00
    """
    try:
        instant = datetime.fromisoformat(time) if isinstance(time, str) else time
        since = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - datetime.fromtimestamp(0, UTC)
    except (ValueError, AttributeError, TypeError, OverflowError):
        raise SettingsError(f"{time!r} is not a time, such as 2024-01-31 12:00:00") from None
    return since // timedelta(microseconds=1)


def shown_starts(starts: np.ndarray) -> pa.Array:
    """When windows begin; NULL, as for windows without bound, where that is before all events there can be.

    >>> shown_starts(np.array([EARLIEST_US - 1, 5])).to_pylist()
    [None, 5]
    """
    return pa.array(starts, mask=starts < EARLIEST_US)


BEFORE_ALL, AFTER_ALL = -(1 << 62), 1 << 62
"""Before and after every instant, pane and row that there can be; a range may be added without wrapping around."""
