"""TIMESTAMPADD and TIMESTAMPDIFF: times moved by units, and units between times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, only, values
from .intervals import UNIT_MONTHS, UNIT_US, time_on
from .months import months_on
from .registry import INTEGRAL, PATTERN, TIMESTAMP, function
from .types import DAY_US


def _unit(name: str, unit: pa.Array) -> str:
    written = str(only(unit)).upper()
    if written not in UNIT_US and written not in UNIT_MONTHS:
        raise NotSupportedYet(f"replay does not evaluate {name} in {written}")
    return written


@function("timestampadd", takes=[PATTERN, INTEGRAL, TIMESTAMP], zoned=True)
def timestamp_add(unit: pa.Array, count: pa.Array, instants: pa.Array, zone: str) -> pa.Array:
    name, absent = _unit("timestampadd", unit), missing(instants) | missing(count)
    instants = column(values(instants), absent, types.TIMESTAMP)
    if name in UNIT_MONTHS:
        return months_on(instants, values(count) * UNIT_MONTHS[name], zone)
    return time_on(instants, values(count).astype(object) * UNIT_US[name], zone)


@function("timestampdiff", takes=[PATTERN, TIMESTAMP, TIMESTAMP], clock=True)
def timestamp_difference(unit: pa.Array, start: pa.Array, end: pa.Array) -> pa.Array:
    """Whole units from one time to another."""
    name, absent = _unit("timestampdiff", unit), missing(start) | missing(end)
    begin, until = values(start), values(end)
    if name not in UNIT_MONTHS:
        length = until - begin
        whole = np.sign(length) * (np.abs(length) // UNIT_US[name])
        return column(whole, absent, types.BIGINT)
    # The last day is whole only if the time of day has been reached again, and the last month if the day has.
    first, last = begin // DAY_US, until // DAY_US
    early, late = until % DAY_US < begin % DAY_US, until % DAY_US > begin % DAY_US
    last = last - ((last > first) & early) + ((last < first) & late)
    days = _months_of_32_days(last) - _months_of_32_days(first)
    months = np.sign(days) * (np.abs(days) // 32)
    return column(np.sign(months) * (np.abs(months) // UNIT_MONTHS[name]), absent, types.BIGINT)


def _months_of_32_days(days: np.ndarray) -> np.ndarray:
    """A day counted as if all months were longer than any is, so that a month is whole from a day to the same day."""
    dates = days.astype("datetime64[D]")
    month = dates.astype("datetime64[M]")
    counted: np.ndarray = month.astype(np.int64) * 32 + (dates - month.astype("datetime64[D]")).astype(np.int64)
    return counted
