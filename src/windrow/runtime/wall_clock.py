"""What the wall clock, which heartbeats carry, says about a stream's clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windrow.plan.timing import Timing
from windrow.runtime.payload import CLOCK, HEARTBEAT, RESET, Payload
from windrow.schedule.clocks import SynchronizedClock


def newest_event(payloads: Sequence[Payload]) -> int | None:
    """The newest event time of a batch, over all its map tasks."""
    others = (HEARTBEAT, RESET, CLOCK)
    return max((p.probe for p in payloads if p.probe is not None and p.name not in others), default=None)


class WallClock:
    """Moves the clock of a stream by the wall clock, as its timing has it.

    All shards get the same probes and heartbeats, so all have the same. A stream with an idle clock learns the delay of
    its events from each batch that brings a newer one; a batch that brings none at all moves the clock.
    """

    def __init__(
        self,
        timing: Timing,
        lateness_us: int,
        snapshot: Mapping[str, Any] | None = None,
        alpha: float | None = None,
    ) -> None:
        """`alpha` is the weight of the delay that is known already, where it is not to follow the errors."""
        self._timing, self._lateness_us, self._alpha = timing, lateness_us, alpha
        self._source = SynchronizedClock.opened(snapshot)

    def clock(self, payloads: Sequence[Payload], newest: int | None) -> int | None:
        """How far the stream has come by the wall clock of a batch; `newest` is its newest event of earlier batches."""
        now = max((p.probe for p in payloads if p.probe is not None and p.name == HEARTBEAT), default=None)
        if now is None or self._timing is Timing.EVENT:
            return None
        if self._timing is Timing.ARRIVAL:
            return now
        event = newest_event(payloads)
        if event is None:
            there = self._source.at(now)
            return None if there is None else there - self._lateness_us
        if newest is None or event > newest:
            self._source.synchronize(event, now, self._alpha)
        return None

    def snapshot(self) -> dict[str, Any] | None:
        """What has been learnt of the delay, if it is needed."""
        return self._source.snapshot() if self._timing is Timing.IDLE else None
