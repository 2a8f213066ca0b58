"""Where players run: two formations on a pitch, each player along smooth paths about home, all with the game."""

from __future__ import annotations

import numpy as np

WIDTH, HALF = 52.483, 33.965
"""The pitch in metres: x from 0 to WIDTH, y from -HALF to HALF, where the goals are."""
PLAYERS, TEAM = 16, 8
FORMATION = ((26.24, -31.5), (11, -15), (26, -17), (41, -15), (10, -3), (42, -3), (22, 1), (28, 12))
"""Where team A's players are at home, the goalkeeper first; team B's are at home where these are seen from its goal."""


class Runners:
    """Sixteen players and the referee, who is the last, as functions of time.

    Homes are on both halves, with waves around them; the game takes all but the goalkeepers to and fro. Nobody comes
    further from home than 7 m by waves, and with the game than 2 and 9 m: that leaves nobody off the pitch.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self.random = draw = random
        own = np.array(FORMATION)
        self._home = np.concatenate([own, [WIDTH, 0] - own, [[WIDTH / 2, 0.0]]])
        count = len(self._home)
        self._sizes = draw.uniform(0.5, 1.7, (count, 4, 2))
        self._speeds = draw.uniform(0.1, 1.4, (count, 4, 2))
        self._phases = draw.uniform(0, 2 * np.pi, (count, 4, 2))
        self._follows = np.ones(count)
        self._sizes[[0, TEAM]] *= 0.3
        self._follows[[0, TEAM]] = 0
        self._tide = draw.uniform(0, 2 * np.pi, 3)

    def where(self, player: int, t: np.ndarray | float) -> np.ndarray:
        """Where a player is at some instants, in metres."""
        t = np.asarray(t, float)
        angle = np.multiply.outer(t, self._speeds[player]) + self._phases[player]
        near = self._home[player] + (self._sizes[player] * np.sin(angle)).sum(axis=-2)
        across, along, back = (np.sin(speed * t + phase) for speed, phase in zip((0.21, 0.11, 0.29), self._tide))
        return np.asarray(near + self._follows[player] * np.stack([2 * across, 6.5 * along + 2.5 * back], -1))

    def foot(self, player: int, foot: int, t: np.ndarray | float) -> np.ndarray:
        """A foot is beside the body, and before or behind it by turns."""
        swing = 0.2 * np.sin(2 * np.pi * 1.4 * np.asarray(t, float) + np.pi * foot)
        return self.where(player, t) + np.stack([np.full_like(swing, 0.15 * (2 * foot - 1)), swing], -1)

    def glove(self, player: int, t: np.ndarray | float) -> np.ndarray:
        """Both gloves of a goalkeeper are before him."""
        return self.where(player, t) + 0.3
