"""Draws a game: the pitch with where team A ran, its shots, and how far and how fast each player ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from compare import CLASSES, found_map, last_of, seconds_of
from game import HALF, PLAYERS, POSTS, TEAM, WIDTH

COLOURS = ("#c7d3dd", "#8fb8de", "#4f93ce", "#f2c14e", "#f78154", "#b4436c")


def draw(answers: dict[str, pa.Table], path: Path) -> None:
    """A picture of the game as of the last answers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (pitch, runs, share) = plt.subplots(1, 3, figsize=(15, 6), width_ratios=[1.1, 1, 1])
    _pitch(pitch, answers)
    _runs(runs, answers)
    _share(share, answers)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _pitch(axes: Any, answers: dict[str, pa.Table]) -> None:
    heat = np.zeros((100, 64))
    for (player, cx, cy), n in found_map(answers["map_64x100_game"]).items():
        heat[cy, cx] += n if player < TEAM else 0
    axes.imshow(np.sqrt(heat), origin="lower", extent=(0, WIDTH, -HALF, HALF), cmap="YlGn", aspect="equal")
    for side in (-1, 1):
        axes.plot(POSTS, [side * HALF] * 2, color="black", linewidth=5)
    axes.axhline(0, color="white", linewidth=1)
    shots = answers["shots"]
    for row in shots.filter(pc.equal(shots["kind"], 1)).to_pylist():
        side, colour = (HALF, "#b4436c") if row["player"] < TEAM else (-HALF, "#1b4965")
        x, y = row["x"] / 1000, row["y"] / 1000
        axes.annotate("", (sum(POSTS) / 2, side), (x, y), arrowprops={"arrowstyle": "->", "color": colour})
        axes.plot(x, y, "o", color=colour)
    axes.set_title("where team A ran, and all shots on goal")


def _runs(axes: Any, answers: dict[str, pa.Table]) -> None:
    metres = {name: np.zeros(PLAYERS) for name in CLASSES}
    for row in last_of(answers["running_game"]).to_pylist():
        metres[row["intensity"]][row["player"]] += row["metres"]
    left = np.zeros(PLAYERS)
    for (name, own), colour in zip(metres.items(), COLOURS):
        axes.barh(range(PLAYERS), own, left=left, color=colour, label=name)
        left += own
    axes.set_yticks(range(PLAYERS), [f"{'A' if p < TEAM else 'B'}{p % TEAM + 1}" for p in range(PLAYERS)])
    axes.set_title("metres run, by intensity")
    axes.legend(fontsize=8, loc="lower right")


def _share(axes: Any, answers: dict[str, pa.Table]) -> None:
    for name, label in (("1", "1 minute"), ("5", "5 minutes"), ("game", "the game")):
        rows = answers[f"possession_{name}"].sort_by("window_end")
        axes.plot(seconds_of(rows["window_end"]) / 60, 100 * rows["share_of_a"].to_numpy(), label=label)
    axes.set_ylim(0, 100)
    axes.set_xlabel("minutes")
    axes.set_title("possession of team A over the last ..., %")
    axes.legend(fontsize=8)
