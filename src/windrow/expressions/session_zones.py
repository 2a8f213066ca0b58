"""The time zone of a session: which functions ask for it, and what they are given.

All functions read the clock of UTC. Under another zone, those that read a clock are given what the clock of the zone
shows, as if it were UTC, and what they make of it is read back; those that need the zone itself are told its name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, values
from .zone_clocks import from_utc, offsets_at, to_utc

UTC = "UTC"
_ZONES_OF_UTC = (UTC, "Etc/UTC", "GMT", "Z", "+00:00")
_CLOCKED = (types.DATE, types.TIMESTAMP_NTZ)
"""What shows a clock without a zone."""


def is_utc(zone: str) -> bool:
    return zone in _ZONES_OF_UTC


def shown(instants: pa.Array, zone: str) -> pa.Array:
    """What the clock of a zone shows at instants, as if it were UTC.

    >>> shown(pa.array([0], types.TIMESTAMP), "+01:00").view(types.BIGINT).to_pylist()
    [3600000000]
    """
    if is_utc(zone) or instants.type != types.TIMESTAMP:
        return instants
    return column(from_utc(values(instants), zone), missing(instants), types.TIMESTAMP)


def read_back(clock: pa.Array, zone: str, before: pa.Array | None = None) -> pa.Array:
    """When the clock of a zone shows that.

    A clock that is put back shows an hour twice. What was `before` is then in the same of the two, where the answer is
    less than a day from it: the hour or the day that it is in began by the same clock. Any other is in the first.
    """
    if is_utc(zone) or clock.type != types.TIMESTAMP:
        return clock
    return column(_read_back(values(clock), zone, before), missing(clock), types.TIMESTAMP)


def _read_back(clock: np.ndarray, zone: str, before: pa.Array | None) -> np.ndarray:
    first = to_utc(clock, zone)
    if before is None:
        return first
    ahead = offsets_at(values(before), zone)
    likewise = clock - ahead
    near = np.abs(likewise - values(before)) < types.DAY_US
    kept: np.ndarray = np.where(near & (from_utc(likewise, zone) == clock), likewise, first)
    return kept


def moved(instants: pa.Array, clock: np.ndarray, zone: str) -> pa.Array:
    """Instants that were moved by whole days or months on the `clock` of a zone; the offset stays where it can."""
    likewise = clock - offsets_at(values(instants), zone)
    when = np.where(from_utc(likewise, zone) == clock, likewise, to_utc(clock, zone))
    return column(when, missing(instants), types.TIMESTAMP)


def refuse_mixed(name: str, kinds: Sequence[pa.DataType], zone: str) -> None:
    """Values that meet in one type would ask for the zone where one is an instant and the other a clock or a text."""
    if is_utc(zone) or types.TIMESTAMP not in kinds:
        return
    other = next((kind for kind in kinds if kind in (*_CLOCKED, types.STRING)), None)
    if other is not None:
        raise NotSupportedYet(f"replay does not evaluate {name} of TIMESTAMP and {types.sql_name(other)} in {zone}")
