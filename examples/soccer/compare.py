"""What was found beside what happened: hits, possession, running, heat maps and shots against the generator's truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from game import BEGIN_US, FEET, PLAYERS, TEAM, Game

SECOND = 1_000_000
Timed = Sequence[tuple[float, int]]
"""When something happened, in seconds, and to whom."""

CLASSES = {"standing": 1, "trot": 11, "low": 14, "medium": 17, "high": 24, "sprint": np.inf}


def seconds_of(column: pa.ChunkedArray) -> np.ndarray:
    """Instants as seconds since the beginning of the game."""
    return (column.cast(pa.int64()).to_numpy() - BEGIN_US) / SECOND


def last_of(rows: pa.Table) -> pa.Table:
    """The answer of the last window."""
    return rows.filter(pc.equal(rows["window_end"], pc.max(rows["window_end"])))


def matched(found: Timed, truth: Timed, within: float) -> tuple[int, int, int]:
    """How many of `truth` were found, how many were not, and how many were found that did not happen."""
    left = list(found)
    hits = 0
    for instant, player in truth:
        near = next((one for one in left if one[1] == player and -0.01 <= one[0] - instant <= within), None)
        if near is not None:
            left.remove(near)
            hits += 1
    return hits, len(truth) - hits, len(left)


def true_share(game: Game, until: float) -> float:
    """The share of team A in the time that somebody has the ball."""
    held = [(min(end, until) - min(begin, until), player) for begin, end, player in game.truth.possessions]
    return sum(time for time, player in held if player < TEAM) / sum(time for time, _ in held)


def true_metres(game: Game, seconds: int) -> np.ndarray:
    """How far each player has come in so many seconds, as the straight way of each second."""
    begin = np.arange(seconds, dtype=float)
    ways = [np.hypot(*(game.where(p, begin + 0.995) - game.where(p, begin)).T) / 0.995 for p in range(PLAYERS)]
    return np.array([way.sum() for way in ways])


def true_map(readings: pa.Table, columns: int, rows: int) -> dict[tuple[int, int, int], int]:
    """How often each player's feet were in each cell, by numpy."""
    own = readings.filter(pc.greater_equal(readings["sid"], FEET))
    sid, x, y = (own[name].to_numpy().astype(np.int64) for name in ("sid", "x", "y"))
    cx, cy = np.clip(x * 64 // 52483, 0, 63) * columns // 64, np.clip((y + 33965) * 100 // 67930, 0, 99) * rows // 100
    cells, counts = np.unique(np.stack([(sid - FEET) // 2, cx, cy]), axis=1, return_counts=True)
    return {tuple(map(int, cell)): int(count) for cell, count in zip(cells.T, counts)}


def found_map(changes: pa.Table) -> dict[tuple[int, int, int], int]:
    """The map that changes add up to."""
    held: dict[tuple[int, int, int], int] = {}
    for row in changes.to_pylist():
        cell = (row["player"], row["cx"], row["cy"])
        if row["op"] == "+":
            held[cell] = row["n"]
        elif held.get(cell) == row["n"]:
            del held[cell]
    return held


def _timed(plays: pa.Table | None, kind: int) -> list[tuple[float, int]]:
    """When plays of a kind began, and whose they are; there may have been none."""
    if plays is None:
        return []
    own = plays.filter(pc.equal(plays["kind"], kind))
    return list(zip(seconds_of(own["time"]).tolist(), own["player"].to_pylist()))


def compared(game: Game, answers: dict[str, pa.Table]) -> dict[str, float]:
    """The differences, in figures: nothing missed, nothing made up, and shares and metres as they were."""
    hits, on_goal = _timed(answers.get("hits"), 0), _timed(answers.get("shots"), 1)
    share = last_of(answers["possession_game"])
    until = float(seconds_of(share["window_end"])[0])
    running = last_of(answers["running_game"])
    metres = np.zeros(PLAYERS)
    np.add.at(metres, running["player"].to_numpy(), running["metres"].to_numpy())
    true = true_metres(game, round(float(seconds_of(running["window_end"])[0])))
    names = ("found", "missed", "made_up")
    figures = {f"hits_{name}": count for name, count in zip(names, matched(hits, game.truth.hits, 0.01))}
    figures |= {f"shots_{name}": count for name, count in zip(names, matched(on_goal, game.truth.shots, 2.5))}
    figures["share_off"] = abs(share["share_of_a"][0].as_py() - true_share(game, until))
    figures["metres_off"] = float(np.abs(metres / true - 1).max())
    return figures


def told(figures: dict[str, float]) -> str:
    """What `compared` found, for people."""
    lines = []
    for what in ("hits", "shots"):
        found, missed, made_up = (figures[f"{what}_{how}"] for how in ("found", "missed", "made_up"))
        lines.append(f"  {what}: {found} found, {missed} missed, {made_up} made up")
    lines.append(f"  possession: the share of the game is off by {100 * figures['share_off']:.4f} points of 100")
    lines.append(f"  running: the metres of a player are off by {100 * figures['metres_off']:.2f} % at most")
    return "\n".join(["compared with what happened in the game:", *lines])
