"""FROM_UTC_TIMESTAMP, TO_UTC_TIMESTAMP and CONVERT_TIMEZONE, with zones by their names or as offsets."""

from __future__ import annotations

import pyarrow as pa

from . import types
from .columns import column, missing, only, values
from .registry import PATTERN, TIMESTAMP, function
from .zone_clocks import from_utc, to_utc


@function("from_utc_timestamp", takes=[TIMESTAMP, PATTERN])
def from_utc_timestamp(instants: pa.Array, zone: pa.Array) -> pa.Array:
    return column(from_utc(values(instants), only(zone)), missing(instants), types.TIMESTAMP)


@function("to_utc_timestamp", takes=[TIMESTAMP, PATTERN])
def to_utc_timestamp(instants: pa.Array, zone: pa.Array) -> pa.Array:
    return column(to_utc(values(instants), only(zone)), missing(instants), types.TIMESTAMP)


@function("convert_timezone", takes=[PATTERN, PATTERN, TIMESTAMP], clock=True)
def convert_timezone(source: pa.Array, target: pa.Array, clock: pa.Array) -> pa.Array:
    """What the clock of one zone shows when that of another shows `clock`."""
    moved = from_utc(to_utc(values(clock), only(source)), only(target))
    return column(moved, missing(clock), types.TIMESTAMP_NTZ)
