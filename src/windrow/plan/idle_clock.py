"""An idle clock: how it learns the delay of events, and how often it is looked at while none come."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.errors import SettingsError
from windrow.language import duration_sql, parse_duration
from windrow.language.durations import LEAST_BEAT_US, short_beat


@dataclass(frozen=True, slots=True)
class IdleClock:
    """What is said of an idle clock; None is what there is unless somebody says otherwise.

    `alpha` is the weight of the delay that is known already beside that of the newest event (Salehi, Riahi, Michel,
    Aberer, 2009, section VI-D, formula 1): without it, the weight follows the errors. `beat_us` is how often the clock
    is looked at: without it, ten times a slide, but at least a second apart and at most ten.
    """

    alpha: float | None = None
    beat_us: int | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0 <= self.alpha < 1:
            raise SettingsError(
                f"alpha={self.alpha!r} is no weight of an idle clock"
                "\nhint: from 0, which believes the newest event alone, to below 1, such as 0.9"
            )
        if self.beat_us is not None and self.beat_us < LEAST_BEAT_US:
            raise SettingsError(f"{short_beat(self.beat_us)}\nhint: such as '1 second'")

    def __str__(self) -> str:
        told = [] if self.alpha is None else [f"alpha {self.alpha:g}"]
        told += [] if self.beat_us is None else [f"a beat each {duration_sql(self.beat_us)}"]
        return f" ({', '.join(told)})" if told else ""


USUAL_CLOCK = IdleClock()
"""Nobody has said anything of it."""


def idle_clock(*, alpha: float | None = None, beat: str | None = None) -> IdleClock:
    """An idle clock for `session.stream(..., idle_clock=...)` and `replay`: see `IdleClock`.

    >>> idle_clock(alpha=0.8, beat="2 seconds")
    IdleClock(alpha=0.8, beat_us=2000000)
    """
    return IdleClock(alpha, read_beat(beat))


def read_beat(beat: str | None) -> int | None:
    """How often idle clocks are looked at, as users say it."""
    return None if beat is None else parse_duration(beat)
