"""How far back a query with levels is asked, and the stretch of time that this gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from windrow.errors import SettingsError
from windrow.language.durations import duration_sql, parse_duration
from windrow.plan.instants import shown_instant
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import NestedWindow, levels_of

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class StateAt(Generic[R]):
    """What a query with levels holds from `start_us` to `end_us`, the end not included, in microseconds since 1970.

    All events of this extent that have come are in it, and no others. It ends just after the stream's clock or, where
    newer events wait for late ones, with these, so far as they are in the granule of the clock. `rows` are those of
    the query.

    >>> StateAt(0, 90_000_000, []).horizon
    datetime.timedelta(seconds=90)
    """

    start_us: int
    end_us: int
    rows: R

    @property
    def start(self) -> datetime:
        return shown_instant(self.start_us)

    @property
    def end(self) -> datetime:
        return shown_instant(self.end_us)

    @property
    def horizon(self) -> timedelta:
        return timedelta(microseconds=self.end_us - self.start_us)


@dataclass(frozen=True, slots=True)
class Horizon:
    """A length of time that `query`, which has levels, can be asked about.

    >>> Horizon.of(object(), "5 minutes")
    Traceback (most recent call last):
    windrow.errors.SettingsError: only a query with levels in time answers for any horizon
    hint: [RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]
    """

    query: QueryPlan
    length_us: int

    @classmethod
    def of(cls, query: object, length: str) -> Horizon:
        """Refuses what cannot be answered, and says why."""
        window = query.window if isinstance(query, QueryPlan) else None
        if not isinstance(query, QueryPlan) or not isinstance(window, NestedWindow):
            raise SettingsError(
                "only a query with levels in time answers for any horizon"
                "\nhint: [RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
            )
        if query.joins_levels or query.clusters is not None:
            what = "clusters" if query.clusters is not None else "AGING" if window.aging else "RECURRING"
            raise SettingsError(f"{what} is of whole levels\nhint: ask a query without it for a horizon")
        length_us, bounded = parse_duration(length), levels_of(window, grow=False)
        if not bounded:
            raise SettingsError("the only level is without bound\nhint: add one with a RANGE")
        widest = bounded[-1].range_us
        if length_us <= 0:
            raise SettingsError(f"a horizon is longer than nothing, and {length!r} is not")
        if widest is not None and length_us > widest:
            reach = duration_sql(widest)
            raise SettingsError(f"the widest level reaches back {reach}, and a horizon of {length!r} is asked for")
        return cls(query, length_us)

    @property
    def window(self) -> NestedWindow:
        assert isinstance(self.query.window, NestedWindow)
        return self.query.window

    @property
    def level(self) -> int:
        """The finest level that reaches back so far."""
        levels = self.window.levels
        assert levels is not None
        return next(level for level in range(levels.bounded) if levels.reach(level) >= self.length_us)

    def stretch(self, clock: int, newest: int) -> tuple[int, int]:
        """From when to when it reaches at `clock`, where the newest event happened at `newest`.

        It begins with the granule of its level that the first instant after `clock - length` lies in. The finest
        granule, that of the clock itself, is still filling: it holds what has come until then, and of newer events
        those that lie in it.
        """
        levels = self.window.levels
        assert levels is not None
        end = min(levels.granules(0).edge_from(clock + 1), max(clock, newest) + 1)
        return self.granules.pane_at(clock + 1 - self.length_us), end

    @property
    def granules(self) -> Cuts:
        """Between which edges time is told apart so far back: those that its level still has, and coarser ones."""
        levels = self.window.levels
        assert levels is not None
        return levels.granules(self.level)
