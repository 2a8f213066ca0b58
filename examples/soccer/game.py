"""Makes up a game of soccer by the schema of the DEBS 2013 challenge, with the truth beside it.

python examples/soccer/game.py readings --minutes 5

Sixteen players with a sensor at each foot, goalkeepers with two more in their gloves, a referee: 200 readings a second
of each sensor. One ball in play and three that lie beside the pitch: 2,000 a second of each; 15,600 together. Players
run along smooth paths, up and down the pitch with the game. The ball is led, passed, shot at the goal from near it,
caught by the goalkeeper, misses the goal, and goes out: until it is back it lies still beside the pitch. `truth.json`
has the hits, the shots, who had the ball, and the interruptions.
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
from runners import HALF, PLAYERS, TEAM, WIDTH, Runners

BEGIN_US = 1_372_500_000_000_000
KICK_OFF_PS = 10_753_295_594_424_116
"""When the game begins, and what the sensors' own clock says then, in picoseconds: as in the challenge."""
SECOND = 1_000_000
POSTS, BAR = (22.5785, 29.8985), 2.44
BALLS, REFEREE, GLOVES, FEET = (4, 8, 10, 12), (105, 106), (97, 98, 99, 100), 200
"""The foot f of player p has the sensor FEET + 2 p + f; players 0 to 7 are team A, which shoots at y = HALF."""
RATE, BALL_RATE, RADIUS = 200, 2000, 0.11
REACH, CATCHES = 34.0, 1.2
"""Shots come from within so many metres of the goal; a goalkeeper's gloves are so high."""
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
`ts` is the picoseconds as a time."""


@dataclass(slots=True)
class Truth:
    """What happened: seconds since the beginning, and players by number. A possession is [from, to, player],
    an interruption [from, to]."""

    seconds: int
    hits: list[tuple[float, int]] = field(default_factory=list)
    possessions: list[tuple[float, float, int]] = field(default_factory=list)
    shots: list[tuple[float, int]] = field(default_factory=list)
    interruptions: list[tuple[float, float]] = field(default_factory=list)


class Game(Runners):
    """A game as functions of time: where players run, and what becomes of the ball."""

    def __init__(self, seconds: int, seed: int = 1) -> None:
        super().__init__(np.random.default_rng(seed))
        self.truth = Truth(seconds)
        self._ball = np.zeros((seconds * BALL_RATE, 6))
        self._hard = np.zeros(seconds * BALL_RATE)
        self._play()

    def _play(self) -> None:
        """Who has the ball, and what he does with it, until the time is over."""
        draw, t = self.random, 0.5
        player = next(p for p in draw.permutation(PLAYERS).tolist() if self._alone(p, t))
        self._still(0.0, t, self._led(player, np.array([t]))[0])
        while t < self.truth.seconds - LONGEST:
            began = t
            self._hit(t, player)
            for _ in range(int(draw.integers(0, 3))):  # he leads it, and touches it now and then
                end = t + draw.uniform(0.5, 1.5)
                if not self._alone(player, end):
                    break
                self._lead(t, end, player)
                t = end
                self._hit(t, player)
            over, t, after = self._kick(t, player)
            self.truth.possessions.append((began, over, player))
            player = after
        self._hit(t, player)
        self.truth.possessions.append((t, float(self.truth.seconds), player))
        self._still(t, float(self.truth.seconds), self._led(player, np.array([t]))[0])

    def _kick(self, t: float, player: int) -> tuple[float, float, int]:
        """What becomes of the ball: until when he had it, when the next hit is, and whose."""
        goal = np.array([WIDTH / 2, HALF if player < TEAM else -HALF])
        near = float(np.hypot(*(goal - self.where(player, t)))) < REACH
        ways = (self._pass, self._shot, self._caught, self._missed, self._out)
        chosen = self.random.choice(len(ways), p=(0.46, 0.16, 0.2, 0.15, 0.03) if near else (0.97, 0, 0, 0, 0.03))
        return ways[int(chosen)](t, player)

    def _alone(self, player: int, t: float) -> bool:
        """Whether no other foot or glove is near the ball that a player has: a hit is his then, and of nobody else."""
        ball = self._led(player, np.array([t]))[0][:2]
        return all(np.hypot(*(self.where(p, t) - ball)) > 1.5 for p in range(PLAYERS) if p != player)

    def _led(self, player: int, t: np.ndarray) -> np.ndarray:
        at = self.where(player, t)
        return np.column_stack([at[:, 0] - 0.15, at[:, 1] + 0.3, np.full(len(at), RADIUS)])

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
            if self._alone(other, end) and not _at_goal(start, goal, player):
                break
        part = np.linspace(0, 1, self._at(end) - self._at(t))[:, None]
        self._put(t, end, start + part * (goal - start))
        return end, end, other

    def _shot(self, t: float, player: int) -> tuple[float, float, int]:
        """At the opponents' goal, and in: it curves, so that it may first fly beside a post."""
        draw = self.random
        aim = self._between_posts(player, draw.uniform(0.4, POSTS[1] - POSTS[0] - 0.4), draw.uniform(0.4, 1.8))
        over = self._fly(t, player, aim, curve=draw.uniform(-0.4, 0.4))
        self.truth.shots.append((t, player))
        return over, *self._away(over, aim, player)

    def _caught(self, t: float, player: int) -> tuple[float, float, int]:
        """At the opponents' goal, and into the gloves of their goalkeeper, who has it then."""
        keeper, over = TEAM if player < TEAM else 0, t
        for _ in range(6):
            aim = np.array([*self.glove(keeper, over), CATCHES])
            over = t + self._flight(t, player, aim, 23.5)
        self._fly(t, player, aim, speed=23.5)
        self.truth.shots.append((t, player))
        return over, over, keeper

    def _missed(self, t: float, player: int) -> tuple[float, float, int]:
        """Beside a post, or over the bar."""
        draw, beside = self.random, self.random.uniform(0.4, 1.6)
        wide = POSTS[1] - POSTS[0]
        aim = self._between_posts(player, draw.choice([-beside, wide + beside]), draw.uniform(0.4, 1.8))
        if draw.random() < 0.5:
            aim = self._between_posts(player, draw.uniform(0, wide), BAR + beside)
        over = self._fly(t, player, aim)
        return over, *self._away(over, aim, player)

    def _between_posts(self, player: int, along: float, height: float) -> np.ndarray:
        """A place in the plane of the opponents' goal, so many metres from the first post."""
        return np.array([POSTS[0] + along, HALF if player < TEAM else -HALF, height])

    def _flight(self, t: float, player: int, aim: np.ndarray, speed: float) -> float:
        """How long the ball flies at some speed."""
        start = self._led(player, np.array([t]))[0]
        return max(0.4, float(np.hypot(*(aim - start)[:2])) / speed)

    def _fly(self, t: float, player: int, aim: np.ndarray, curve: float = 0.0, speed: float | None = None) -> float:
        """Through the air, as gravity and a spin have it; when it is there."""
        start = self._led(player, np.array([t]))[0]
        flight = self._flight(t, player, aim, speed or float(self.random.uniform(20, 27)))
        s = np.arange(self._at(t + flight) - self._at(t)) / BALL_RATE
        rise = (aim[2] - start[2]) / flight + GRAVITY * flight / 2
        path = start + (s / flight)[:, None] * (aim - start)
        path[:, 0] += curve * np.sin(np.pi * s / flight)
        path[:, 2] = start[2] + rise * s - GRAVITY * s**2 / 2
        self._put(t, t + flight, path)
        return t + flight

    def _out(self, t: float, player: int) -> tuple[float, float, int]:
        """Over the side line."""
        start = self._led(player, np.array([t]))[0]
        goal = np.array([-3.0 if start[0] < WIDTH / 2 else WIDTH + 3, start[1], RADIUS])
        end = t + max(0.3, float(abs(goal[0] - start[0])) / 9)
        part = np.linspace(0, 1, self._at(end) - self._at(t))[:, None]
        self._put(t, end, start + part * (goal - start))
        crossed = t + (end - t) * ((0 if goal[0] < 0 else WIDTH) - start[0]) / (goal[0] - start[0])
        back, other = self._away(end, goal, player)
        self.truth.interruptions[-1] = (float(crossed), self.truth.interruptions[-1][1])
        return float(crossed), back, other

    def _away(self, begin: float, where: np.ndarray, player: int) -> tuple[float, int]:
        """The ball lies outside; after some seconds one of the other team has it again: when, and who.

        Behind the goal line it is their goalkeeper.
        """
        back = begin + self.random.uniform(3, 5)
        behind = abs(where[1]) >= HALF
        beyond = 2 * float(np.sign(where[1])) if behind else 0.0
        self._still(begin, back, np.array([where[0], where[1] + beyond, RADIUS]))
        others = np.arange(TEAM) + (TEAM if player < TEAM else 0)
        free = [p for p in self.random.permutation(others).tolist() if self._alone(p, back + 0.3)]
        other = int(others[0]) if behind or not free else free[0]
        self._still(back, back + 0.3, self._led(other, np.array([back + 0.3]))[0])
        self.truth.interruptions.append((begin, back))
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
        gloves = [np.column_stack([self.glove(TEAM * side, t), np.full(len(t), CATCHES)]) for side in (0, 1)]
        parts += [self._reading(sid, t, gloves[i // 2]) for i, sid in enumerate(GLOVES)]
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
        columns = {
            "ts": pa.array(us).cast(SCHEMA.field("ts").type),
            "sid": np.full(len(t), sid),
            "ps": KICK_OFF_PS + (us - BEGIN_US) * SECOND,
        }
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
