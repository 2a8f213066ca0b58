"""The roads of a small town: lines on a map, and where on it so many metres along a road are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 1200.0, 700.0
"""The map, in metres."""

CORNERS = (
    ((0, 130), (420, 150), (800, 115), (1200, 140)),
    ((0, 370), (300, 345), (640, 360), (900, 395), (1200, 375)),
    ((0, 590), (380, 575), (760, 605), (1200, 580)),
    ((210, 0), (225, 240), (205, 480), (215, 700)),
    ((560, 0), (545, 230), (575, 470), (560, 700)),
    ((960, 0), (975, 260), (945, 520), (965, 700)),
    ((0, 20), (260, 60), (520, 250), (780, 480), (1010, 640), (1200, 690)),
)
"""The corners of each road, from west to east or from south to north."""

SIDE = 5.0
"""Cars keep to the right of a road's middle by so much."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One direction of a road: its corners, and how far along it each of them is.

    >>> lane = Lane.along(((0, 0), (30, 40), (30, 100)))
    >>> lane.length, lane.places(np.array([0.0, 50.0, 80.0]))[1].tolist()
    (110.0, [0.0, 40.0, 70.0])
    """

    x: np.ndarray
    y: np.ndarray
    metres: np.ndarray

    @classmethod
    def along(cls, corners: tuple[tuple[float, float], ...], side: float = 0.0) -> Lane:
        """The lane that follows `corners`, to the right of them by `side`."""
        x, y = np.array(corners, float).T
        ahead = np.stack([np.gradient(x), np.gradient(y)])
        right = np.stack([ahead[1], -ahead[0]]) / np.hypot(*ahead)
        metres = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        return cls(x + side * right[0], y + side * right[1], metres)

    @property
    def length(self) -> float:
        return float(self.metres[-1])

    def places(self, along: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and y of the points that are `along` metres from the lane's beginning."""
        return np.interp(along, self.metres, self.x), np.interp(along, self.metres, self.y)


def lanes() -> list[Lane]:
    """Both directions of every road."""
    return [Lane.along(way, SIDE) for corners in CORNERS for way in (corners, corners[::-1])]
