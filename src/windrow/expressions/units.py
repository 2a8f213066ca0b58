"""TIMESTAMPADD and TIMESTAMPDIFF: times moved by units, and units between times."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.errors import NotSupportedYet

from . import types
from .casts import DAY_US
from .columns import column, integral_column, missing, only, values
from .intervals import UNIT_MONTHS, UNIT_US
from .months import months_later
from .registry import INTEGRAL, PATTERN, TIMESTAMP, function


def _unit(name: str, unit: pa.Array) -> str:
    written = str(only(unit)).upper()
    if written not in UNIT_US and written not in UNIT_MONTHS:
        raise NotSupportedYet(f"replay does not evaluate {name} in {written}")
    return written


@function("timestampadd", takes=[PATTERN, INTEGRAL, TIMESTAMP])
def timestamp_add(unit: pa.Array, count: pa.Array, instants: pa.Array) -> pa.Array:
    name, since, absent = _unit("timestampadd", unit), values(instants), missing(instants) | missing(count)
    if name in UNIT_MONTHS:
        moved = months_later(since // DAY_US, values(count) * UNIT_MONTHS[name]) * DAY_US + since % DAY_US
        return column(moved, absent, types.TIMESTAMP)
    exact = since.astype(object) + values(count).astype(object) * UNIT_US[name]
    return integral_column(exact, absent, types.BIGINT).view(types.TIMESTAMP)


@function("timestampdiff", takes=[PATTERN, TIMESTAMP, TIMESTAMP])
def timestamp_difference(unit: pa.Array, start: pa.Array, end: pa.Array) -> pa.Array:
    """Whole units from one time to another."""
    name, absent = _unit("timestampdiff", unit), missing(start) | missing(end)
    begin, until = values(start), values(end)
    if name not in UNIT_MONTHS:
        length = until - begin
        whole = np.sign(length) * (np.abs(length) // UNIT_US[name])
        return column(whole, absent, types.BIGINT)
    months = _month(until) - _month(begin)
    # The last month is whole only if the day and the time of day have been reached again.
    rest, first_rest = _in_month(until), _in_month(begin)
    months = months - ((months > 0) & (rest < first_rest)) + ((months < 0) & (rest > first_rest))
    return column(np.sign(months) * (np.abs(months) // UNIT_MONTHS[name]), absent, types.BIGINT)


def _month(since: np.ndarray) -> np.ndarray:
    return (since // DAY_US).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _in_month(since: np.ndarray) -> np.ndarray:
    start = (since // DAY_US).astype("datetime64[D]").astype("datetime64[M]").astype("datetime64[D]")
    return since - start.astype(np.int64) * DAY_US
