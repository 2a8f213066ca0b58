"""When a stream must be looked at although no event comes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

from windrow.language.durations import LEAST_BEAT_US as LEAST_US
from windrow.plan.timing import Timing

EXPIRY_US = 500_000
"""Where answers change whenever a row expires, and no window says when, beats are so far apart."""

_IDLE_LEAST_US, _IDLE_MOST_US = 1_000_000, 10_000_000
"""Between these a quiet stream beats, ten times a slide if it can."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Instants at every multiple of `period_us`, plus `offset_us`, since the epoch."""

    period_us: int
    offset_us: int = 0

    def last(self, now_us: int) -> int:
        """The newest of them at `now_us`."""
        return now_us - (now_us - self.offset_us) % self.period_us

    def holds(self, other: Beat) -> bool:
        """Whether each instant of `other` is one of these."""
        return other.period_us % self.period_us == 0 == (other.offset_us - self.offset_us) % self.period_us


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One timer for all windows of a stream (Salehi, Riahi, Michel, Aberer, 2009, section VI-C).

    The paper's timer ticks with the greatest common divisor of the slides, and each tick asks who slides. Here the
    ticks at which no window ends are left out: slides of 7 and 8 seconds have a divisor of 1 second, and 14 instants in
    56 seconds at which one ends. A beat is named by its instant, so that the beats of all streams of a job, and of one
    started again with other queries, fall together: one clock serves all, and there is nothing to agree on.

    >>> heartbeat = Heartbeat.of(Timing.ARRIVAL, [(7_000_000, 0), (8_000_000, 0), (56_000_000, 0)])
    >>> [beat.period_us for beat in heartbeat.beats], heartbeat.tick_us
    ([7000000, 8000000], 1000000)
    >>> [heartbeat.last(second * 1_000_000) // 1_000_000 for second in (6, 7, 8, 13, 14, 15, 16)]
    [0, 7, 8, 8, 14, 14, 16]
    """

    beats: tuple[Beat, ...]

    @classmethod
    def of(cls, timing: Timing, slides: Iterable[tuple[int, int]], beat_us: int | None = None) -> Heartbeat:
        """The heartbeat for windows that end at the multiples of each slide, plus its offset.

        A stream timed by arrival beats where a window ends. A quiet one cannot: its windows close a delay later that
        only the shards know. It beats ten times a slide, but not more often than each second, nor less than every ten,
        unless `beat_us` says how often.

        >>> Heartbeat.of(Timing.IDLE, [(60_000_000, 0), (90_000_000, 0)]).beats
        (Beat(period_us=6000000, offset_us=0),)
        """
        ends = [Beat(slide, offset % slide) for slide, offset in sorted(set(slides))]
        if not ends:
            return cls(())
        if timing is Timing.IDLE and beat_us is not None:
            return cls((Beat(beat_us),))
        if timing is Timing.IDLE:
            shortest = ends[0].period_us
            return cls((Beat(max(LEAST_US, min(shortest, _IDLE_LEAST_US), min(shortest // 10, _IDLE_MOST_US))),))
        roots: list[Beat] = []
        for end in ends:
            if not any(root.holds(end) for root in roots):
                roots.append(end)
        return cls(tuple(roots))

    @property
    def tick_us(self) -> int:
        """The greatest distance that divides the distances between all beats: the paper's timer.

        >>> Heartbeat.of(Timing.ARRIVAL, [(86_400, 0), (86_400, 21_600)]).tick_us
        21600
        """
        first = self.beats[0].offset_us
        return gcd(*(number for beat in self.beats for number in (beat.period_us, beat.offset_us - first)))

    def last(self, now_us: int) -> int | None:
        """The newest beat at `now_us`; None where no window ends by time."""
        if not self.beats:
            return None
        if self.tick_us < LEAST_US:  # beats might be too close: look only at every so many
            now_us -= now_us % LEAST_US
        return max(beat.last(now_us) for beat in self.beats)
