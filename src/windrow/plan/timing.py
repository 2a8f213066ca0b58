"""How the events of a stream are timed, and what moves its clock on."""

from __future__ import annotations

from enum import Enum


class Timing(Enum):
    """Where a stream's clock comes from.

    EVENT    from the events alone: the newest time of an event, less the lateness
    IDLE     from the events, and while none come from the wall clock, less the delay that events have had
    ARRIVAL  from the wall clock alone: an event happens when its batch begins
    """

    EVENT = "event"
    IDLE = "idle"
    ARRIVAL = "arrival"

    @property
    def has_heartbeat(self) -> bool:
        """Whether the clock goes on although no event comes.

        >>> [timing.name for timing in Timing if timing.has_heartbeat]
        ['IDLE', 'ARRIVAL']
        """
        return self is not Timing.EVENT
