"""Nested windows: one range and slide for each level, the finest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from windrow.errors import SettingsError
from windrow.language.durations import duration_sql
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class Levels:
    """Windows that all end at the latest multiple of their own slide, each reaching further back than the one before
    (Patroumpas and Sellis, Multi-granular time-based sliding windows over data streams, 2010, section III-A). The
    widest may be without bound.

        level 0                      [------)     range 4, slide 1
        level 1              [------------- )     range 8, slide 2
        level 2      [--------------------- )     range 16, slide 4

    >>> levels = Levels.of([(4, 1), (8, 2), (16, 4)])
    >>> [levels.scope(level, 23) for level in range(3)]
    [(19, 23), (14, 22), (4, 20)]
    """

    windows: tuple[TimeWindow, ...]

    def __post_init__(self) -> None:
        if not self.windows:
            raise SettingsError("nested windows need at least one level")
        for window in self.windows:
            if window.range_us is not None and (window.range_us <= 0 or window.range_us % window.slide_us):
                raise SettingsError(
                    f"the range of each level must be a multiple of its slide, and {duration_sql(window.range_us)} is"
                    f" none of {duration_sql(window.slide_us)}"
                )
        for number, (finer, coarser) in enumerate(pairwise(self.windows), start=1):
            if coarser.slide_us < finer.slide_us or not _longer(coarser, finer):
                raise SettingsError(
                    f"level {number} must be coarser than level {number - 1}, with a longer range and no shorter slide:"
                    f" {_text(coarser)} is not coarser than {_text(finer)}"
                )

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]], offset_us: int = 0) -> Levels:
        """Levels by range and slide, the finest first."""
        return cls(tuple(TimeWindow(reach, slide, offset_us % slide) for reach, slide in pairs))

    def __len__(self) -> int:
        return len(self.windows)

    @property
    def divide(self) -> bool:
        """Whether each slide is a multiple of the one below, so that with a level all finer ones slide."""
        return all(
            coarser.slide_us % finer.slide_us == 0 and (coarser.offset_us - finer.offset_us) % finer.slide_us == 0
            for finer, coarser in pairwise(self.windows)
        )

    def reach(self, level: int) -> int:
        """The range of `level`, which has a bound."""
        return _reach(self.windows[level])

    def scope(self, level: int, now: int) -> tuple[int, int]:
        """From when to when the window of `level` reaches at `now`, the end not included."""
        window = self.windows[level]
        end = window.end(window.last_ended(now))
        return end - _reach(window), end

    def granules(self, level: int) -> Cuts:
        """Where the granules that `level` holds begin: at the edges of its own windows and of all coarser ones.

        Where slides divide each other these are just the multiples of its slide. A level without bound holds none.
        """
        return Cuts.of(window for window in self.windows[level:] if not window.grows)

    @property
    def bounded(self) -> int:
        """How many levels have a bound."""
        return sum(not window.grows for window in self.windows)


def _longer(coarser: TimeWindow, finer: TimeWindow) -> bool:
    return not finer.grows and (coarser.grows or _reach(coarser) > _reach(finer))


def _text(window: TimeWindow) -> str:
    reach = "UNBOUNDED" if window.range_us is None else duration_sql(window.range_us)
    return f"RANGE {reach} SLIDE {duration_sql(window.slide_us)}"


def _reach(window: TimeWindow) -> int:
    assert window.range_us is not None
    return window.range_us
