"""The soccer challenge: every answer of Q1 to Q4 is what numpy finds in the readings, without the generator's truth."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "soccer"
SECONDS, RANGE = 75, 60
"""Longer than a window of a minute, so that something leaves it."""
NAMES = ("running_now", "running_1", "running_game", "possession_1", "possession_game", "possession_by_player")
NAMES += ("map_16x25_1", "map_total_1", "hits", "shots")
LIMITS = {"standing": 1, "trot": 11, "low": 14, "medium": 17, "high": 24}
WIDTH, HALF, LEFT, RIGHT, BAR = 52483, 33965, 22578.5, 29898.5, 2440
HIT, SHOT, OVER, OUT = range(4)


@pytest.fixture(scope="module")
def played() -> Any:
    """The readings of a game as columns of numpy, and the answers; whoever is told of a change has its time in seconds."""
    names = ("compare", "functions", "game", "picture", "queries", "run", "runners")
    sys.path.insert(0, str(EXAMPLE))
    try:
        modules = {name: __import__(name) for name in names}
        readings = modules["game"].Game(SECONDS, seed=3).readings(0, SECONDS)
        run = modules["run"]
        answers = run.replayed(readings, {name: (run.queries() | run.HITS)[name] for name in NAMES})
        columns = {name: readings[name].to_numpy() for name in readings.column_names if name != "ts"}
        columns["us"] = (columns["ps"] - columns["ps"].min()) // 1_000_000
        for name, rows in answers.items():
            at = "window_end" if "window_end" in rows.column_names else "time"
            answers[name] = rows.append_column("at", [modules["compare"].seconds_of(rows[at])])
        yield columns, {name: rows.to_pylist() for name, rows in answers.items()}
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def running(played: Any) -> dict[tuple[int, int], tuple[str, float, float]]:
    """Of each player and second his class, his speed, and the mean speed of his feet."""
    columns, _ = played
    found = {}
    for player in range(16):
        for second in range(SECONDS):
            ways, speeds = [], []
            for sid in (200 + 2 * player, 201 + 2 * player):
                own = np.flatnonzero((columns["sid"] == sid) & (columns["us"] // 1_000_000 == second))
                ways.append([int(columns[axis][own[-1]]) - int(columns[axis][own[0]]) for axis in "xy"])
                speeds.append(columns["v"][own])
            speed = float(np.hypot(*np.mean(ways, axis=0))) / 1000 / 0.995
            kind = next((name for name, limit in LIMITS.items() if speed * 3.6 <= limit), "sprint")
            found[player, second] = (kind, speed, float(np.mean(speeds)) / 1e6)
    return found


def test_running_of_each_second(played: Any, running: Any) -> None:
    found = {(row["player"], int(row["at"])): row for row in played[1]["running_now"]}
    assert len(found) == 16 * (SECONDS - 1)
    for key, row in found.items():
        kind, speed, feet = running[key]
        assert row["intensity"] == kind
        assert (row["speed"], row["feet_speed"]) == pytest.approx((speed, feet))


@pytest.mark.parametrize(("name", "length"), [("running_1", RANGE), ("running_game", SECONDS)])
def test_running_by_intensity(played: Any, running: Any, name: str, length: int) -> None:
    """At every second, what is within the window: also when the first seconds have left it."""
    found: dict[int, dict[tuple[int, str], tuple[int, float]]] = {}
    for row in played[1][name]:
        own = found.setdefault(round(row["at"]), {})
        own[row["player"], row["intensity"]] = (row["seconds"], row["metres"])
    assert sorted(found) == list(range(1, SECONDS))
    for end, own in found.items():
        seconds, metres = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
        for (player, second), (kind, speed, _) in running.items():
            if end - length <= second < end:
                seconds[player, kind] += 1
                metres[player, kind] += speed  # type: ignore[assignment]
        assert {key: count for key, (count, _) in own.items()} == seconds
        assert {key: way for key, (_, way) in own.items()} == pytest.approx(dict(metres))


@pytest.fixture(scope="module")
def plays(played: Any) -> list[tuple[float, int, int]]:
    """When what happened, and whose it was: hits, shots, the ends of shots, and the ball out."""
    columns, _ = played
    sid, us = columns["sid"], columns["us"]
    order = np.flatnonzero(sid == 4)
    ball = {name: columns[name][order].astype(float) for name in ("x", "y", "z", "v", "a", "vx", "vy", "vz", "us")}
    gone = (ball["x"] < 0) | (ball["x"] > WIDTH) | (np.abs(ball["y"]) > HALF)
    sensors = {s: (s - 200) // 2 for s in range(200, 232)} | {97: 0, 98: 0, 99: 8, 100: 8}
    places = {s: np.flatnonzero(sid == s) for s in sensors}

    def hitter(i: int) -> int | None:
        apart = {}
        for s, own in places.items():
            last = own[np.searchsorted(own, order[i]) - 1]
            where = [columns[axis][last] - ball[axis][i] for axis in "xyz"]
            apart[s] = float(np.linalg.norm(where))
        nearest = min(apart, key=lambda s: apart[s])
        return sensors[nearest] if apart[nearest] < 1000 else None

    told: list[tuple[int, int, int]] = []
    last_us, outs = -1e18, np.flatnonzero(gone[1:] & ~gone[:-1]) + 1
    for i in sorted({*np.flatnonzero((ball["a"] > 55e6) & ~gone).tolist(), *outs.tolist()}):
        if gone[i]:
            told.append((i, OUT, told[-1][2]))
        elif ball["us"][i] - last_us > 200_000 and (player := hitter(i)) is not None:
            told.append((i, HIT, player))
            last_us = ball["us"][i]
    shots = []
    for (i, kind, player), after in zip(told, [*(at for at, _, _ in told[1:]), len(order)]):
        if kind == HIT:
            shots += [(at, what, player) for at, what in _shots(ball, i, after, player, after < len(order))]
    return [(int(us[order[i]]) / 1e6, kind, player) for i, kind, player in sorted(told + shots, key=lambda p: p[0])]


def _shots(ball: dict[str, np.ndarray], hit: int, end: int, player: int, ends: bool) -> list[tuple[int, int]]:
    """After a hit, until the next or until it is out: when the ball begins to fly at the goal, and when no more."""
    own = {name: column[hit + 1 : end] for name, column in ball.items()}
    far = np.linalg.norm([own[axis] - ball[axis][hit] for axis in "xyz"], axis=0) >= 1000
    side = 1 if player < 8 else -1
    ahead = own["v"] / 1e7 * own["vy"] * side
    left_s = (HALF - side * own["y"]) / np.where(ahead > 8000, ahead, 1.0)
    at_x = own["x"] + own["v"] / 1e7 * own["vx"] * left_s
    at_z = own["z"] + own["v"] / 1e7 * own["vz"] * left_s - 9810 / 2 * left_s**2
    soon = far & (ahead > 8000) & (left_s < 1.5)
    aims = soon & (at_x >= LEFT) & (at_x <= RIGHT) & (at_z <= BAR)
    pending = soon & (at_x >= LEFT - 2000) & (at_x <= RIGHT + 2000) & (at_z <= BAR + 2000)
    found, flies = [], False
    for i in np.flatnonzero(far).tolist():
        if flies != bool(pending[i] if flies else aims[i]):
            flies = not flies
            found.append((hit + 1 + i, SHOT if flies else OVER))
    return [*found, (end, OVER)] if flies and ends else found


def test_hits_and_shots(played: Any, plays: Any) -> None:
    told = {name: [(row["at"], row["kind"], row["player"]) for row in played[1][name]] for name in ("hits", "shots")}
    wanted = [play for play in plays if play[1] == HIT]
    assert [kind for _, kind, _ in plays].count(SHOT) > 0 < [kind for _, kind, _ in plays].count(OUT)
    assert told["hits"] == [(pytest.approx(at, abs=1e-6), kind, player) for at, kind, player in wanted]
    wanted = [play for play in plays if play[1] in (SHOT, OVER)]
    assert sorted(told["shots"]) == [(pytest.approx(at, abs=1e-6), kind, player) for at, kind, player in wanted]


def test_possession(played: Any, plays: Any) -> None:
    """A player has the ball from his hit until another's, or until it is out: as much of it as lies in each window."""
    turns = [play for play in plays if play[1] in (HIT, OUT)]
    held = []
    for (begin, kind, player), end in zip(turns, [*(at for at, _, _ in turns[1:]), float(SECONDS)]):
        if kind == HIT:
            held.append((begin, end, player))

    def within(low: float, high: float, players: range) -> float:
        return sum(max(0.0, min(end, high) - max(begin, low)) for begin, end, player in held if player in players)

    for name, length in (("possession_1", RANGE), ("possession_game", SECONDS)):
        rows = played[1][name]
        assert [round(row["at"]) for row in rows] == list(range(1, SECONDS))
        for row in rows:
            a, b = (within(row["at"] - length, row["at"], own) for own in (range(8), range(8, 16)))
            assert (row["share_of_a"], row["seconds"]) == pytest.approx((a / (a + b), a + b), abs=1e-5)
    for row in played[1]["possession_by_player"]:
        own = range(row["player"], row["player"] + 1)
        assert row["seconds"] == pytest.approx(within(0, row["at"], own), abs=1e-5)
        assert row["hits"] == sum(at < row["at"] and kind == HIT and player in own for at, kind, player in plays)


def test_heat_maps_as_shares_of_a_minute(played: Any) -> None:
    """Each second, of each player and cell: how many of his readings of the last minute were there."""
    columns, answers = played
    own = columns["sid"] >= 200
    player, second = (columns["sid"][own] - 200) // 2, columns["us"][own] // 1_000_000
    cx = np.clip(columns["x"][own] * 64 // WIDTH, 0, 63) * 16 // 64
    cy = np.clip((columns["y"][own].astype(int) + HALF) * 100 // (2 * HALF), 0, 99) * 25 // 100
    totals = {(round(row["at"]), row["player"]): row["n"] for row in answers["map_total_1"]}
    held: Counter[tuple[int, int, int]] = Counter()
    changes = iter(sorted(answers["map_16x25_1"], key=lambda row: row["at"]))
    change: Any = next(changes)
    for end in range(1, SECONDS):
        while change is not None and round(change["at"]) <= end:
            held[change["player"], change["cx"], change["cy"]] += change["n"] * (1 if change["op"] == "+" else -1)
            change = next(changes, None)
        inside = (second >= end - RANGE) & (second < end)
        cells, counts = np.unique(np.stack([player, cx, cy])[:, inside], axis=1, return_counts=True)
        wanted = {tuple(cell): int(count) for cell, count in zip(cells.T.tolist(), counts)}
        assert {cell: n for cell, n in held.items() if n} == wanted
        for who in range(16):
            shares = [n / totals[end, who] for (p, _, _), n in held.items() if p == who]
            assert sum(shares) == pytest.approx(1)
