"""The time of a remote source, as far as its events tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

RECENT = 0.2
"""How much the newest error counts among the recent ones."""

LEAST_WEIGHT, MOST_WEIGHT = 0.5, 0.95
"""Between these lies the weight of what is known already: a delay that has changed is believed in a few events."""


@dataclass(slots=True)
class SynchronizedClock:
    """A source's clock, kept by ours while nothing comes: our time less the delay that its events have had
    (Salehi, Riahi, Michel, Aberer, 2009, section VI-D, formula 1).

    The delay of an event is the time it arrived less the time it bears, and so is the difference of two clocks that do
    not agree. The estimate is `delay = weight * delay + (1 - weight) * newest`. The weight follows the recent errors
    (Trigg and Leach, 1967): errors of both signs are noise, and the estimate hardly moves; errors of one sign mean that
    the delay has changed, and it follows. Whoever says a weight, the paper's alpha, has that one. No clock is read in
    here: whoever calls says what time it is.

    >>> clock = SynchronizedClock()
    >>> clock.at(1_000) is None
    True
    >>> clock.synchronize(timestamp_us=940, now_us=1_000)
    >>> clock.at(1_500)
    1440
    >>> clock.synchronize(timestamp_us=1_540, now_us=1_580)
    >>> clock.delay_us, clock.at(1_600)
    (50.0, 1550)
    """

    delay_us: float | None = None
    weight: float = MOST_WEIGHT
    error_us: float = 0.0
    spread_us: float = 0.0

    def synchronize(self, timestamp_us: int, now_us: int, alpha: float | None = None) -> None:
        """Learn from an event that bears `timestamp_us` and arrived at `now_us`, with the weight `alpha` if it is said.

        >>> clock = SynchronizedClock(delay_us=60.0)
        >>> clock.synchronize(timestamp_us=1_000, now_us=1_100, alpha=0.75)
        >>> clock.delay_us
        70.0
        """
        delay = now_us - timestamp_us
        if self.delay_us is None:
            self.delay_us = float(delay)
            return
        error = delay - self.delay_us
        self.error_us += RECENT * (error - self.error_us)
        self.spread_us += RECENT * (abs(error) - self.spread_us)
        if alpha is not None:
            self.weight = alpha
        elif self.spread_us:
            one_sided = abs(self.error_us) / self.spread_us
            self.weight = min(MOST_WEIGHT, max(LEAST_WEIGHT, 1 - one_sided))
        self.delay_us = self.weight * self.delay_us + (1 - self.weight) * delay

    def at(self, now_us: int) -> int | None:
        """What the source's clock shows at `now_us`; None before the first event."""
        return None if self.delay_us is None else now_us - ceil(self.delay_us)

    def snapshot(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def opened(cls, snapshot: Mapping[str, Any] | None) -> SynchronizedClock:
        return cls(**(snapshot or {}))
