"""The stateful nodes of the challenge: who hits the ball, shots on goal, and who has the ball."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

SECOND = 1_000_000
HIT, SHOT, OVER, OUT = 0, 1, 2, 3
"""What happens to the ball: a hit, a shot on goal after it, the end of that shot, and that it leaves the pitch."""

FEET, PLAYERS, GLOVES = 200, 16, 97
"""The first sensors of feet, two a player, and of the gloves of two goalkeepers."""
WIDTH, HALF, POSTS, BAR, MARGIN = 52_483.0, 33_965.0, (22_578.5, 29_898.5), 2_440.0, 2_000.0
PITCH = np.array([WIDTH, HALF, POSTS[0], POSTS[1], BAR, MARGIN])


class Plays:
    """The ball hitter and the shots on goal of Paper II, section 2.3: one state, told of the ball, feet and gloves.

    A hit is an acceleration above 55 m/s^2 with a foot, or a goalkeeper's glove, less than 1 m away, more than 0.2 s
    after the last. When the ball has travelled 1 m after it, it is on goal as long as its path, by its velocity and
    gravity, meets the opponents' goal within 1.5 s; it is pending up to 2 m beside the posts.
    """

    returns = "kind INT, player INT, x DOUBLE, y DOUBLE, z DOUBLE, speed DOUBLE"

    def init(self) -> dict[str, Any]:
        return {
            **{axis: np.full(2 * PLAYERS + 4, 1e12) for axis in "xyz"},
            "ball": np.zeros(3),
            "hit_us": -(10**15),
            "player": -1,
            "shot": 0,
            "out": True,
        }

    def step_many(self, states: Mapping[str, np.ndarray], keys: np.ndarray, events: pa.RecordBatch) -> Any:
        columns = [np.asarray(events[name], np.float64) for name in ("x", "y", "z", "v", "a", "vx", "vy", "vz")]
        sids, times = events["sid"].to_numpy(), events["time_us"].to_numpy()
        where, kinds, players = (np.empty(2 * len(sids), np.int64) for _ in range(3))
        memory = tuple(states[name] for name in ("hit_us", "player", "shot", "out"))
        feet = (states["x"][0], states["y"][0], states["z"][0])
        found = _walk(feet, states["ball"][0], *memory, sids, times, np.stack(columns), PITCH, where, kinds, players)
        where, kinds, players = where[:found], kinds[:found], players[:found]
        x, y, z, v = (column[where] for column in columns[:4])
        return where, [kinds, players, x, y, z, v / 1e6]


@njit
def _walk(  # type: ignore[no-untyped-def]
    feet, ball, hit_us, player, shot, out, sids, times, columns, pitch, where, kinds, players
) -> int:
    width, half, left, right, bar, margin = pitch
    found = 0
    for i in range(sids.size):
        x, y, z, v, a, vx, vy, vz = columns[:, i]
        if sids[i] >= GLOVES:
            own = sids[i] - FEET if sids[i] >= FEET else 2 * PLAYERS + sids[i] - GLOVES
            feet[0][own], feet[1][own], feet[2][own] = x, y, z
            continue
        outside = x < 0 or x > width or y < -half or y > half
        if outside and not out[0]:
            if shot[0]:
                where[found], kinds[found], players[found] = i, OVER, player[0]
                found += 1
            where[found], kinds[found], players[found] = i, OUT, player[0]
            found += 1
            shot[0], player[0], out[0] = 0, -1, True
        if outside:
            continue
        if a > 55e6 and times[i] - hit_us[0] > 200_000:
            nearest, best = -1, 1e6  # squared millimetres: 1 m
            for foot in range(feet[0].size):
                apart = (feet[0][foot] - x) ** 2 + (feet[1][foot] - y) ** 2 + (feet[2][foot] - z) ** 2
                if apart < best:
                    own = foot // 2 if foot < 2 * PLAYERS else PLAYERS // 2 * (foot // 2 - PLAYERS)
                    nearest, best = own, apart
            if nearest >= 0:
                if shot[0]:
                    where[found], kinds[found], players[found] = i, OVER, player[0]
                    found += 1
                where[found], kinds[found], players[found] = i, HIT, nearest
                found += 1
                hit_us[0], player[0], shot[0], out[0] = times[i], nearest, 0, False
                ball[0], ball[1], ball[2] = x, y, z
                continue
        if player[0] < 0 or (x - ball[0]) ** 2 + (y - ball[1]) ** 2 + (z - ball[2]) ** 2 < 1e6:
            continue
        side = 1.0 if player[0] < PLAYERS // 2 else -1.0
        aims = pending = False
        towards = v / 1000 * vy / 10_000 * side  # millimetres a second
        if towards > 8_000:
            left_s = (half - side * y) / towards
            at_x = x + v / 1000 * vx / 10_000 * left_s
            at_z = z + v / 1000 * vz / 10_000 * left_s - 4_905 * left_s**2
            aims = left <= at_x <= right and at_z <= bar and left_s < 1.5
            pending = left - margin <= at_x <= right + margin and at_z <= bar + margin and left_s < 1.5
        if aims and not shot[0]:
            where[found], kinds[found], players[found] = i, SHOT, player[0]
            found += 1
            shot[0] = 1
        elif shot[0] and not pending:
            where[found], kinds[found], players[found] = i, OVER, player[0]
            found += 1
            shot[0] = 0
    return found


class Possession:
    """Who has the ball, and for how long: from his hit until that of another, or until the ball leaves the pitch.

    It is told by the second, so that windows know how much of it they hold.
    """

    returns = "player INT, team STRING, held_us BIGINT, hits INT"

    def init(self) -> dict[str, int]:
        return {"player": -1, "since": 0, "hits": 0}

    def step(self, state: dict[str, int], event: Any) -> Iterator[tuple[int, str, int, int]]:
        if event.kind not in (HIT, OUT) or (event.kind == HIT and event.player == state["player"]):
            state["hits"] += event.kind == HIT
            return
        yield from self._told(state, event.time_us)
        state["player"] = event.player if event.kind == HIT else -1
        state["hits"] = 1

    def wake(self, state: dict[str, int]) -> int | None:
        """Just before each second ends, so that its windows hold what belongs to it."""
        return None if state["player"] < 0 else ((state["since"] + 1) // SECOND + 1) * SECOND - 1

    def on_clock(self, state: dict[str, int], time_us: int) -> Iterator[tuple[int, str, int, int]]:
        yield from self._told(state, time_us)

    def _told(self, state: dict[str, int], until: int) -> Iterator[tuple[int, str, int, int]]:
        if state["player"] >= 0:
            team = "A" if state["player"] < PLAYERS // 2 else "B"
            yield (state["player"], team, until - state["since"], state["hits"])
        state["since"], state["hits"] = until, 0


FUNCTIONS = {"plays": Plays, "possession": Possession}
