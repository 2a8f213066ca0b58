"""Makes up a game of soccer by the schema of the DEBS 2013 challenge, with the truth beside it.

python examples/soccer/game.py readings --minutes 5

Sixteen players with a sensor at each foot, goalkeepers with two more in their gloves, a referee: 200 readings a second
of each sensor. One ball in play and three that lie beside the pitch: 2,000 a second of each; 15,600 together. Players
run along smooth paths. The ball is led, passed, shot at the goal, and goes out for a throw-in, during which it lies
still. `truth.json` has the hits, the shots and who had the ball.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BEGIN_US = 1_372_500_000_000_000
SECOND = 1_000_000
WIDTH, HALF = 52.483, 33.965
"""The pitch in metres: x from 0 to WIDTH, y from -HALF to HALF, where the goals are."""
POSTS, BAR = (22.5785, 29.8985), 2.44
PLAYERS, TEAM = 16, 8
BALLS, REFEREE, GLOVES, FEET = (4, 8, 10, 12), (105, 106), (97, 98, 99, 100), 200
"""The foot f of player p has the sensor FEET + 2 p + f; players 0 to 7 are team A, which shoots at y = HALF."""
RATE, BALL_RATE, RADIUS = 200, 2000, 0.11
LONGEST = 15
"""Within so many seconds the ball is in play again, whatever is done with it."""
HIT, GRAVITY = 55.0, 9.81

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", tz="UTC")), ("sid", pa.int32()), ("ps", pa.int64())]
    + [(name, pa.int32()) for name in ("x", "y", "z")]
    + [(name, pa.int64()) for name in ("v", "a")]
    + [(name, pa.int32()) for name in ("vx", "vy", "vz", "ax", "ay", "az")]
)
"""As in the challenge: picoseconds, millimetres, micrometres a second (and its square), and directions times 10,000.
`ts` are the picoseconds as a time."""


@dataclass(slots=True)
class Truth:
    """What happened: seconds since the beginning, and players by number. A possession is [from, to, player]."""

    seconds: int
    hits: list[tuple[float, int]] = field(default_factory=list)
    possessions: list[tuple[float, float, int]] = field(default_factory=list)
    shots: list[tuple[float, int]] = field(default_factory=list)


class Game:
    """A game as functions of time: where players run, and what becomes of the ball."""

    def __init__(self, seconds: int, seed: int = 1) -> None:
        self.random, self.truth = np.random.default_rng(seed), Truth(seconds)
        self._paths(PLAYERS + 1)
        self._ball = np.zeros((seconds * BALL_RATE, 6))
        self._hard = np.zeros(seconds * BALL_RATE)
        self._play()

    def _paths(self, count: int) -> None:
        """Homes on both halves, and waves around them; the referee is the last."""
        draw = self.random
        columns, rows = np.arange(count) % 4, np.arange(count) // 4
        self._home = np.stack([10 + 10.8 * columns, -22 + 14.5 * (rows % 4)], 1)
        self._sizes = draw.uniform(0.5, 2.2, (count, 4, 2))  # together less than 10 m: nobody leaves the pitch
        self._speeds = draw.uniform(0.1, 1.3, (count, 4, 2))
        self._phases = draw.uniform(0, 2 * np.pi, (count, 4, 2))

    def where(self, player: int, t: np.ndarray | float) -> np.ndarray:
        """Where a player is at some instants, in metres."""
        angle = np.multiply.outer(np.asarray(t, float), self._speeds[player]) + self._phases[player]
        return np.asarray(self._home[player] + (self._sizes[player] * np.sin(angle)).sum(axis=-2))

    def foot(self, player: int, foot: int, t: np.ndarray | float) -> np.ndarray:
        """A foot is beside the body, and before or behind it by turns."""
        swing = 0.2 * np.sin(2 * np.pi * 1.4 * np.asarray(t, float) + np.pi * foot)
        return self.where(player, t) + np.stack([np.full_like(swing, 0.15 * (2 * foot - 1)), swing], -1)

    def _play(self) -> None:
        """Who has the ball, and what he does with it, until the time is over."""
        draw, t = self.random, 0.5
        player = int(draw.integers(PLAYERS))
        self._still(0.0, t, self._led(player, np.array([t]))[0])
        while t < self.truth.seconds - LONGEST:
            began = t
            self._hit(t, player)
            for _ in range(int(draw.integers(0, 3))):  # he leads it, and touches it now and then
                end = t + draw.uniform(0.5, 1.5)
                self._lead(t, end, player)
                t = end
                self._hit(t, player)
            kind = draw.choice(["pass", "shot", "out"], p=[0.88, 0.09, 0.03])
            over, t, after = {"pass": self._pass, "shot": self._shot, "out": self._out}[kind](t, player)
            self.truth.possessions.append((began, over, player))
            player = after
        self._hit(t, player)
        self.truth.possessions.append((t, float(self.truth.seconds), player))
        self._still(t, float(self.truth.seconds), self._led(player, np.array([t]))[0])

    def _led(self, player: int, t: np.ndarray) -> np.ndarray:
        at = self.foot(player, 0, t)
        return np.column_stack([at[:, 0], at[:, 1] + 0.3, np.full(len(at), RADIUS)])

    def _at(self, t: float) -> int:
        return min(round(t * BALL_RATE), len(self._ball))

    def _put(self, begin: float, end: float, where: np.ndarray) -> None:
        low, high = self._at(begin), self._at(end)
        self._ball[low:high, :3] = where[: high - low]
        self._ball[low:high, 3:] = np.gradient(where, 1 / BALL_RATE, axis=0)[: high - low] if len(where) > 1 else 0

    def _times(self, begin: float, end: float) -> np.ndarray:
        return np.arange(self._at(begin), self._at(end)) / BALL_RATE

    def _still(self, begin: float, end: float, where: np.ndarray) -> None:
        self._put(begin, end, np.broadcast_to(where, (self._at(end) - self._at(begin), 3)))

    def _lead(self, begin: float, end: float, player: int) -> None:
        self._put(begin, end, self._led(player, self._times(begin, end)))

    def _hit(self, t: float, player: int) -> None:
        """A foot touches the ball: for three readings it is accelerated beyond the limit."""
        self.truth.hits.append((t, player))
        low = self._at(t)
        self._hard[low : low + 3] = self.random.uniform(80, 400)

    def _pass(self, t: float, player: int) -> tuple[float, float, int]:
        """Along the ground, to where another player will be: when it is over, when the next hit is, and whose."""
        draw = self.random
        start = self._led(player, np.array([t]))[0]
        for other in draw.permutation([p for p in range(PLAYERS) if p != player]).tolist():
            end = t
            for _ in range(6):  # the longer it rolls, the further he has run
                goal = self._led(other, np.array([end]))[0]
                end = t + max(0.5, float(np.hypot(*(goal - start)[:2])) / 11)
            if not _at_goal(start, goal, player):
                break
        part = np.linspace(0, 1, self._at(end) - self._at(t))[:, None]
        self._put(t, end, start + part * (goal - start))
        return end, end, other

    def _shot(self, t: float, player: int) -> tuple[float, float, int]:
        """Through the air at the opponents' goal; their keeper has it then."""
        side = 1 if player < TEAM else -1
        start, draw = self._led(player, np.array([t]))[0], self.random
        aim = np.array([draw.uniform(POSTS[0] + 0.4, POSTS[1] - 0.4), side * HALF, draw.uniform(0.4, 1.8)])
        flight = max(0.4, float(np.hypot(*(aim - start)[:2])) / draw.uniform(20, 27))
        s = np.arange(self._at(t + flight) - self._at(t))[:, None] / BALL_RATE
        rise = (aim[2] - start[2]) / flight + GRAVITY * flight / 2
        straight = start + s / flight * (aim - start)
        straight[:, 2] = start[2] + rise * s[:, 0] - GRAVITY * s[:, 0] ** 2 / 2
        self._put(t, t + flight, straight)
        self.truth.shots.append((t, player))
        return t + flight, *self._away(t + flight, aim + np.array([0, 2 * side, 0]), player)

    def _out(self, t: float, player: int) -> tuple[float, float, int]:
        """Over the side line."""
        start = self._led(player, np.array([t]))[0]
        goal = np.array([-3.0 if start[0] < WIDTH / 2 else WIDTH + 3, start[1], RADIUS])
        end = t + max(0.3, float(abs(goal[0] - start[0])) / 9)
        part = np.linspace(0, 1, self._at(end) - self._at(t))[:, None]
        self._put(t, end, start + part * (goal - start))
        crossed = t + (end - t) * ((0 if goal[0] < 0 else WIDTH) - start[0]) / (goal[0] - start[0])
        return float(crossed), *self._away(end, goal, player)

    def _away(self, begin: float, where: np.ndarray, player: int) -> tuple[float, int]:
        """The ball lies outside; after some seconds one of the other team has it again: when, and who."""
        back = begin + self.random.uniform(3, 5)
        self._still(begin, back, np.array([where[0], where[1], RADIUS]))
        other = int(self.random.choice([p for p in range(PLAYERS) if (p < TEAM) != (player < TEAM)]))
        self._still(back, back + 0.3, self._led(other, np.array([back + 0.3]))[0])
        return back + 0.3, other

    def readings(self, begin: int, end: int) -> pa.Table:
        """All readings from one second to another, in order of time; those of a second are the same however asked."""
        return pa.concat_tables([self._second(second) for second in range(begin, end)])

    def reader(self, seconds_a_batch: int = 10) -> pa.RecordBatchReader:
        """All readings, made as they are asked for: a whole game is never in memory."""

        def batches() -> Iterator[pa.RecordBatch]:
            for begin in range(0, self.truth.seconds, seconds_a_batch):
                table = self.readings(begin, min(begin + seconds_a_batch, self.truth.seconds))
                yield from table.combine_chunks().to_batches()

        return pa.RecordBatchReader.from_batches(SCHEMA, batches())

    def pieces(self, a_second: int, begin: int = 0) -> Iterator[pa.RecordBatch]:
        """The readings from a second on, so many pieces of each second, as they would come live."""
        for second in range(begin, self.truth.seconds):
            readings = self._second(second).combine_chunks()
            times = readings["ts"].cast(pa.int64()).to_numpy()
            cuts = BEGIN_US + second * SECOND + SECOND // a_second * np.arange(a_second + 1)
            for low, high in itertools.pairwise(np.searchsorted(times, cuts).tolist()):
                yield from readings.slice(low, high - low).to_batches()

    def _second(self, second: int) -> pa.Table:
        begin, end = second, second + 1
        t = np.arange(begin * RATE, end * RATE) / RATE
        parts = [self._reading(FEET + 2 * p + f, t, self.foot(p, f, t)) for p in range(PLAYERS) for f in (0, 1)]
        parts += [self._reading(sid, t, self.where(8 * (i // 2), t) + 0.3) for i, sid in enumerate(GLOVES)]
        parts += [self._reading(sid, t, self.where(PLAYERS, t) + 0.1 * i) for i, sid in enumerate(REFEREE)]
        t = np.arange(begin * BALL_RATE, end * BALL_RATE) / BALL_RATE
        own = slice(begin * BALL_RATE, end * BALL_RATE)
        parts.append(self._reading(BALLS[0], t, self._ball[own, :3], self._ball[own, 3:], self._hard[own]))
        for i, sid in enumerate(BALLS[1:], 1):
            parts.append(self._reading(sid, t, np.broadcast_to([-4.0, 5.0 * i, RADIUS], (len(t), 3))))
        return pa.concat_tables(parts).sort_by("ts")

    def _reading(
        self,
        sid: int,
        t: np.ndarray,
        at: np.ndarray,
        velocity: np.ndarray | None = None,
        hard: np.ndarray | None = None,
    ) -> pa.Table:
        """What a sensor says: positions with the noise of a few millimetres."""
        at = at if at.shape[1] == 3 else np.column_stack([at, np.full(len(at), 0.1)])
        velocity = np.gradient(at, t, axis=0) if velocity is None else velocity
        speed = np.linalg.norm(velocity, axis=1)
        noise = np.random.default_rng(int(sid * 1_000_003 + t[0] * 7)).normal(0, 1, (len(t), 4))
        soft = np.abs(4 + 3 * noise[:, 3])
        acceleration = soft if hard is None else np.where(hard > 0, hard, soft)
        us = BEGIN_US + np.round(t * SECOND).astype(np.int64)
        unit = velocity / np.maximum(speed, 1e-9)[:, None] * 10_000
        columns = {"ts": pa.array(us).cast(SCHEMA.field("ts").type), "sid": np.full(len(t), sid), "ps": us * SECOND}
        columns |= {name: np.round(at[:, i] * 1000 + 3 * noise[:, i]) for i, name in enumerate("xyz")}
        columns |= {"v": np.round(speed * 1e6), "a": np.round(acceleration * 1e6)}
        columns |= {f"v{name}": np.round(unit[:, i]) for i, name in enumerate("xyz")}
        columns |= {f"a{name}": np.round(unit[:, i]) for i, name in enumerate("xyz")}
        return pa.table({name: pa.array(column).cast(SCHEMA.field(name).type) for name, column in columns.items()})

    def write(self, folder: Path, seconds_a_file: int = 10) -> None:
        """A file for some seconds each, and the truth beside them."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, begin in enumerate(range(0, self.truth.seconds, seconds_a_file)):
            end = min(begin + seconds_a_file, self.truth.seconds)
            pq.write_table(self.readings(begin, end), folder / f"{number:05d}.parquet")
        (folder.parent / "truth.json").write_text(json.dumps(asdict(self.truth)))


def _at_goal(start: np.ndarray, end: np.ndarray, player: int) -> bool:
    """Whether a pass would go into the opponents' goal, or close to it, if nobody stopped it: that would be a shot."""
    ahead = (end[1] - start[1]) * (1 if player < TEAM else -1)
    if ahead <= 0:
        return False
    reach = (HALF - start[1] * (1 if player < TEAM else -1)) / ahead
    return bool(POSTS[0] - 1 <= start[0] + reach * (end[0] - start[0]) <= POSTS[1] + 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    Game(round(given.minutes * 60), given.seed).write(given.folder)
