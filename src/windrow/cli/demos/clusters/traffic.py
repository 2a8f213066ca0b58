"""The traffic of a small town on a morning that is the same each time: cars, and congestions that hold them up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.cli.demos.clusters.roads import lanes
from windrow.cli.demos.live_files import SECOND_US

REPORT_SECONDS = 30
"""Each car says where it is so often."""

STANDSTILL = 0.06
"""What is left of a car's speed in the midst of a congestion."""

BIRTH_SECONDS = (5, 16)
"""A congestion comes up so many seconds after the one before."""


@dataclass(frozen=True, slots=True)
class Congestion:
    """A stretch of a lane where cars crawl: it grows, creeps along the lane by `drift` m/s, and dissolves.

    >>> jam = Congestion(lane=0, born=0, life=100, start=500.0, drift=-2.0, reach=60.0)
    >>> jam.place(50), [round(jam.strength(second), 2) for second in (0, 10, 50, 95, 200)]
    (400.0, [0.0, 0.5, 1.0, 0.2, 0.0])
    """

    lane: int
    born: int
    life: int
    start: float
    drift: float
    reach: float

    def place(self, second: int) -> float:
        """Where its middle is, in metres along the lane."""
        return self.start + self.drift * (second - self.born)

    def strength(self, second: int) -> float:
        """From 0, there is none, to 1."""
        age = second - self.born
        return max(0.0, min(1.0, age / 20, 4 * (1 - age / self.life)))

    def hold_up(self, second: int, along: np.ndarray) -> np.ndarray:
        """What it leaves of the speeds of cars that are `along` metres down the lane."""
        strength = self.strength(second)
        inside = np.clip(1.6 - np.abs(along - self.place(second)) / max(1.0, self.reach * strength), 0.0, 1.0)
        return 1.0 - (1.0 - STANDSTILL) * strength * inside


class Traffic:
    """Cars that go up and down the lanes, second by second; one that leaves the map comes in again at the other end.

    >>> reports = Traffic(cars=300, seed=7).reports(0, 30 * SECOND_US)
    >>> reports.num_rows, reports.schema.names
    (300, ['ts', 'vehicle', 'x', 'y', 'speed'])
    """

    def __init__(self, cars: int = 1_600, seed: int = 5) -> None:
        self._random = np.random.default_rng(seed)
        self._lanes = lanes()
        lengths = np.array([lane.length for lane in self._lanes])
        self._lane = self._random.choice(len(lengths), cars, p=lengths / lengths.sum())
        self._lengths = lengths[self._lane]
        self._along = self._random.uniform(0, self._lengths)
        self._wish = np.clip(self._random.normal(52, 6, cars), 40, 75)
        self._speed = self._wish.copy()
        self._aside = self._random.normal(0, 2.5, (2, cars))
        self._second: int | None = None
        self._congestions: list[Congestion] = []
        self._next_birth = 0

    def reports(self, begin_us: int, end_us: int) -> pa.Table:
        """What the cars say in [begin, end), a second after another."""
        seconds = range(-(-begin_us // SECOND_US), -(-end_us // SECOND_US))
        parts = []
        for second in seconds:
            self._step(second)
            parts.append(self._reports_of(second))
        return pa.concat_tables(parts) if parts else self._reports_of(0).slice(0, 0)

    def _step(self, second: int) -> None:
        if self._second is None:
            self._next_birth = second
        self._second = second
        self._begin_and_end(second)
        self._speed = self._wish.copy()
        for jam in self._congestions:
            cars = np.flatnonzero(self._lane == jam.lane)
            self._speed[cars] *= jam.hold_up(second, self._along[cars])
        self._along = (self._along + self._speed / 3.6) % self._lengths

    def _begin_and_end(self, second: int) -> None:
        self._congestions = [jam for jam in self._congestions if second < jam.born + jam.life]
        while second >= self._next_birth:
            self._congestions.append(self._congestion(second))
            self._next_birth = second + int(self._random.integers(*BIRTH_SECONDS))

    def _congestion(self, second: int) -> Congestion:
        """A new one: every other time ahead of one that stands, so that it creeps back until the two are one."""
        random = self._random
        standing = [jam for jam in self._congestions if jam.drift > -0.5 and second < jam.born + jam.life / 2]
        ahead = bool(standing) and random.random() < 0.5
        if ahead:
            other = standing[int(random.integers(len(standing)))]
            lane, start = other.lane, other.place(second) + random.uniform(130, 200)
        else:
            lane = int(random.integers(len(self._lanes)))
            start = random.uniform(0.2, 0.85) * self._lanes[lane].length
        drift = -1.8 if ahead else random.choice([-1.4, -0.7, 0.0])
        life = int(random.integers(80, 200))
        return Congestion(lane, second, life, start, float(drift), float(random.uniform(9, 20)))

    def _reports_of(self, second: int) -> pa.Table:
        """The cars whose turn it is."""
        cars = np.arange(second % REPORT_SECONDS, len(self._lane), REPORT_SECONDS)
        x, y = np.empty(len(cars)), np.empty(len(cars))
        for lane in np.unique(self._lane[cars]):
            on = self._lane[cars] == lane
            x[on], y[on] = self._lanes[lane].places(self._along[cars[on]])
        times = second * SECOND_US + np.linspace(0, SECOND_US, len(cars), endpoint=False).astype(np.int64)
        return pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                "vehicle": pa.array(cars, pa.int32()),
                "x": np.round(x + self._aside[0][cars], 1),
                "y": np.round(y + self._aside[1][cars], 1),
                "speed": np.round(self._speed[cars], 1),
            }
        )
