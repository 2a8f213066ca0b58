"""Draws a game: where each team ran, with its shots on goal, how far and how fast players ran, and who had the ball."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from compare import CLASSES, found_map, last_of, seconds_of
from game import HALF, PLAYERS, POSTS, TEAM, WIDTH

COLOURS = ("#c7d3dd", "#4f9f8c", "#98c96b", "#f1d04f", "#f29138", "#e2445c")
TEAMS = {"A": ("#d9622b", "YlOrRd"), "B": ("#2470b3", "PuBu")}


def draw(answers: dict[str, pa.Table], path: Path) -> None:
    """A picture of the game as of the last answers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(14, 10.5), height_ratios=(1.25, 1))
    for team, pitch in zip(TEAMS, axes[0]):
        _pitch(pitch, answers, team)
    _runs(axes[1][0], answers)
    _share(axes[1][1], answers)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _pitch(axes: Any, answers: dict[str, pa.Table], team: str) -> None:
    """The pitch lies on its side, as on television: the goals are left and right."""
    colour, shades = TEAMS[team]
    heat = np.zeros((64, 100))
    for (player, cx, cy), n in found_map(answers["map_64x100_game"]).items():
        heat[cx, cy] += n if (player < TEAM) == (team == "A") else 0
    shown = np.ma.masked_equal(np.sqrt(heat), 0)
    most = np.quantile(shown.compressed(), 0.98)  # a goalkeeper stays where he is, and would take all colours
    axes.set_facecolor("#2f6b45")
    axes.imshow(
        shown, origin="upper", extent=(-HALF, HALF, WIDTH, 0), cmap=shades, vmax=most, aspect="equal", alpha=0.9
    )
    line = {"color": "white", "linewidth": 1.2, "alpha": 0.8}
    axes.plot([-HALF, HALF, HALF, -HALF, -HALF], [0, 0, WIDTH, WIDTH, 0], **line)
    axes.plot([0, 0], [0, WIDTH], **line)
    around = np.linspace(0, 2 * np.pi, 60)
    axes.plot(6 * np.cos(around), WIDTH / 2 + 6 * np.sin(around), **line)
    for side in (-1, 1):
        box = np.array([HALF, HALF - 10, HALF - 10, HALF]) * side
        axes.plot(box, [POSTS[0] - 7, POSTS[0] - 7, POSTS[1] + 7, POSTS[1] + 7], **line)
        axes.plot([side * HALF] * 2, POSTS, color="white", linewidth=6)
    own = [shot for shot in _shots(answers["shots"]) if (shot[0] < TEAM) == (team == "A")]
    for _, begin, end in own:
        axes.annotate("", end, begin, arrowprops={"arrowstyle": "->", "color": "white", "linewidth": 1.6})
        axes.plot(*begin, "o", color=colour, markeredgecolor="white")
    axes.set_xlim(-HALF - 2, HALF + 2)
    axes.set_ylim(WIDTH + 2, -2)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(f"where team {team} ran, and its {len(own)} shots on goal", color=colour, fontweight="bold")


def _shots(rows: pa.Table) -> list[tuple[int, tuple[float, float], tuple[float, float]]]:
    """Whose each shot on goal was, where the ball was when it began, and when it was over."""
    found = []
    ordered = rows.sort_by([("time", "ascending"), ("kind", "descending")]).to_pylist()
    for row, after in itertools.pairwise([*ordered, None]):
        if row["kind"] == 1:
            begin, end = ((each["y"] / 1000, each["x"] / 1000) for each in (row, after or row))
            found.append((row["player"], begin, end))
    return found


def _runs(axes: Any, answers: dict[str, pa.Table]) -> None:
    metres = {name: np.zeros(PLAYERS) for name in CLASSES}
    for row in last_of(answers["running_game"]).to_pylist():
        metres[row["intensity"]][row["player"]] += row["metres"]
    left = np.zeros(PLAYERS)
    for (name, own), colour in zip(metres.items(), COLOURS):
        axes.barh(range(PLAYERS), own, left=left, color=colour, label=name, height=0.75)
        left += own
    axes.set_yticks(range(PLAYERS), [f"{'A' if p < TEAM else 'B'}{p % TEAM + 1}" for p in range(PLAYERS)])
    for player, label in enumerate(axes.get_yticklabels()):
        label.set_color(TEAMS["A" if player < TEAM else "B"][0])
    axes.invert_yaxis()
    axes.set_xlim(0, left.max() * 1.02)
    axes.set_xlabel("metres")
    axes.set_title("how far each ran, by intensity")
    axes.legend(fontsize=8, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.11), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _share(axes: Any, answers: dict[str, pa.Table]) -> None:
    for (name, label), style in zip(
        (("1", "1 minute"), ("5", "5 minutes"), ("game", "the game")),
        ({"color": "#b9c4bd"}, {"color": "#7d9488"}, {"color": TEAMS["A"][0], "linewidth": 2.5}),
    ):
        rows = answers[f"possession_{name}"].sort_by("window_end")
        axes.plot(seconds_of(rows["window_end"]) / 60, 100 * rows["share_of_a"].to_numpy(), label=label, **style)
    axes.axhline(50, color="#dddddd", linewidth=1, zorder=0)
    axes.set_ylim(0, 100)
    axes.set_xlabel("minutes")
    axes.set_title("possession of team A over the last ..., %")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
