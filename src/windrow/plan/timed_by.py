"""When the events of a stream happened, how late they may come, which are duplicates, how long answers change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.language import parse_duration
from windrow.plan.ahead import read_ahead
from windrow.plan.catalog import Stream, Unique
from windrow.plan.idle_clock import USUAL_CLOCK, IdleClock


@dataclass(frozen=True, slots=True)
class TimedBy:
    """What is declared of a stream's time: `time` is an expression over its columns, or None for its arrival."""

    time: str | None
    lateness_us: int = 0
    idle_clock: bool = False
    ahead_us: int | None = None
    unique: Unique | None = None
    correct_us: int = 0
    shed_us: int | None = None
    clock: IdleClock = USUAL_CLOCK

    def __post_init__(self) -> None:
        if self.correct_us and self.time is None:
            raise SettingsError("streams timed by arrival have no late events to correct answers for: say time=...")
        if self.correct_us and self.unique is not None:
            raise SettingsError(
                "a stream that is deduplicated cannot correct answers: which event is the first of its id, a late one"
                " would change\nhint: leave out CORRECT FOR (correct_for), or DEDUPLICATE BY"
            )
        if self.shed_us is not None and (self.unique is not None or self.correct_us):
            what, way = ("deduplicated", "DEDUPLICATE BY") if self.unique is not None else ("corrected", "CORRECT FOR")
            raise SettingsError(
                f"a stream that sheds rows cannot be {what}: what has been left out is not known any more"
                f"\nhint: leave out SHED ABOVE (shed_above), or {way}"
            )

    @classmethod
    def read(
        cls,
        time: str | None,
        lateness: str,
        idle_clock: bool | IdleClock,
        ahead: str | None,
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        correct_for: str | None = None,
        shed_above: str | None = None,
    ) -> TimedBy:
        """What users say in words.

        >>> TimedBy.read("ts", "2 seconds", False, "1 hour", "id", "1 minute").unique
        Unique(by=('id',), within_us=60000000)
        """
        lateness_us = parse_duration(lateness)
        if lateness_us < 0:
            raise SettingsError(f"lateness={lateness!r} is less than nothing: events cannot come before they happen")
        unique = _read_unique(deduplicate_by, within, time)
        correct_us = 0 if correct_for is None else parse_duration(correct_for)
        if correct_for is not None and correct_us <= 0:
            raise SettingsError(
                f"correct_for={correct_for!r} is no time in which an answer could be corrected: leave it out"
            )
        shed_us = None if shed_above is None else parse_duration(shed_above)
        if shed_us is not None and shed_us <= 0:
            raise SettingsError(f"shed_above={shed_above!r} is no delay: say one such as '10 seconds', or leave it out")
        idle = idle_clock is not False
        clock = idle_clock if isinstance(idle_clock, IdleClock) else USUAL_CLOCK
        return cls(time, lateness_us, idle, read_ahead(ahead), unique, correct_us, shed_us, clock)

    @property
    def denied(self) -> str | None:
        """What is asked for that a stream which is timed by arrival cannot have, if anything."""
        if self.time is not None:
            return None
        late = "lateness" if self.lateness_us else None
        return "idle clock" if self.idle_clock else "limit ahead" if self.ahead_us is not None else late

    def beating(self, beat_us: int | None) -> TimedBy:
        """The same with the beat of all streams of a job, where this one says none."""
        if beat_us is None or self.clock.beat_us is not None:
            return self
        return replace(self, clock=replace(self.clock, beat_us=beat_us))

    def stream(self, name: str, schema: pa.Schema) -> Stream:
        """The stream, as queries know it."""
        limits = (self.lateness_us, self.idle_clock, self.ahead_us)
        told = Stream(name, schema, self.time, *limits, unique=self.unique, correct_us=self.correct_us)
        return replace(told, shed_us=self.shed_us, clock=self.clock)


def _read_unique(by: str | Sequence[str] | None, within: str | None, time: str | None) -> Unique | None:
    """By what events are told apart, and for how long a duplicate is known; None where nobody asks for it."""
    if by is None and within is None:
        return None
    if by is None or within is None or not by:
        raise SettingsError("deduplicate_by and within go together: deduplicate_by='id', within='1 hour'")
    if time is None:
        raise SettingsError("streams timed by arrival are not deduplicated: say with time=... when events happened")
    within_us = parse_duration(within)
    if within_us <= 0:
        raise SettingsError(f"within={within!r} is no time in which a duplicate could come")
    return Unique((by,) if isinstance(by, str) else tuple(by), within_us)
