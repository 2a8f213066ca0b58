"""Q1 and Q3 over real positions, where they are: one sensor a player, 20 readings a second, no ball.

python examples/soccer/real.py ../shared/data/soccer_positions.csv.gz

The file has the columns t (seconds since the epoch), id, x and y (metres, on 105 x 68) and speed (metres a second), as
those of the Alfheim set have them. Without a ball there is no possession and no shot. It prints who ran how far and how
fast, and draws that, and where the players were, as real.png.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from queries import INTENSITY

import windrow

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "soccer_positions.csv.gz"
LONG, WIDE = 105, 68
"""The field in metres."""

DERIVED = {
    "running": """SELECT player, AVG(speed) AS speed, HYPOT(LAST(x) - FIRST(x), LAST(y) - FIRST(y)) AS metres
                  FROM positions [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY player""",
    "cells": """SELECT player, cx, cy, COUNT(*) AS n FROM cut [RANGE 1 SECOND SLIDE 1 SECOND]
                GROUP BY player, cx, cy""",
}
VIEWS = {
    "cut": f"""SELECT player, CAST(LEAST(GREATEST(FLOOR(y * 64 / {WIDE}), 0), 63) AS INT) AS cx,
               CAST(LEAST(GREATEST(FLOOR(x * 100 / {LONG}), 0), 99) AS INT) AS cy FROM positions"""
}


def queries() -> dict[str, str]:
    """How long each player ran how fast, and how far, in the last minute and in all, and where he was."""
    found = {
        f"running_{name}": f"""SELECT player, {INTENSITY} AS intensity, COUNT(*) AS seconds, SUM(metres) AS metres
                               FROM running [RANGE {length} SLIDE 1 SECOND] GROUP BY player, {INTENSITY}"""
        for name, length in (("1", "1 MINUTE"), ("game", "UNBOUNDED"))
    }
    found["map_game"] = """SELECT player, cx, cy, SUM(n) AS n FROM cells [RANGE UNBOUNDED SLIDE 1 SECOND]
                           GROUP BY player, cx, cy EMIT CHANGES"""
    return found


def positions(path: Path = REAL) -> pa.Table:
    """The readings in order of time."""
    read = pa.csv.read_csv(path)
    us = pa.array(np.round(read["t"].to_numpy() * 1e6).astype(np.int64)).cast(pa.timestamp("us", tz="UTC"))
    named = pa.table(
        {"ts": us, "player": read["id"].cast(pa.int32()), **{name: read[name] for name in ("x", "y", "speed")}}
    )
    return named.take(pc.sort_indices(named, [("ts", "ascending")]))


def replayed(readings: pa.Table) -> dict[str, pa.Table]:
    """All answers, ten seconds of the match at a time."""
    return windrow.replay(queries(), positions=readings, views=VIEWS, derived=DERIVED, batch_rows=2_400, flush=True)


def draw(answers: dict[str, pa.Table], path: Path) -> None:
    """A picture: where the players were, and how far each ran, by intensity."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from compare import CLASSES, found_map, last_of
    from picture import COLOURS

    figure, (field, bars) = plt.subplots(1, 2, figsize=(15, 5.5), width_ratios=(1.5, 1))
    heat = np.zeros((64, 100))
    for (_, cx, cy), seconds in found_map(answers["map_game"]).items():
        heat[cx, cy] += seconds
    field.set_facecolor("#2f6b45")
    shown = np.ma.masked_equal(np.sqrt(heat), 0)
    most = np.quantile(shown.compressed(), 0.99)  # somebody who stands still would take all colours
    placed = {"origin": "lower", "extent": (0, LONG, 0, WIDE), "aspect": "equal"}
    field.imshow(shown, cmap="YlOrRd", vmax=most, alpha=0.9, **placed)
    line = {"color": "white", "linewidth": 1.2, "alpha": 0.8}
    field.plot([0, LONG, LONG, 0, 0], [0, 0, WIDE, WIDE, 0], **line)
    field.plot([LONG / 2, LONG / 2], [0, WIDE], **line)
    around = np.linspace(0, 2 * np.pi, 60)
    field.plot(LONG / 2 + 9.15 * np.cos(around), WIDE / 2 + 9.15 * np.sin(around), **line)
    for side, inner in ((0, 16.5), (LONG, LONG - 16.5)):
        field.plot([side, inner, inner, side], [WIDE / 2 - 20.16] * 2 + [WIDE / 2 + 20.16] * 2, **line)
    field.set_xlim(-2, LONG + 2)
    field.set_ylim(-2, WIDE + 2)
    field.set_xticks([])
    field.set_yticks([])
    field.set_title("where the players were", fontweight="bold")
    rows = last_of(answers["running_game"]).to_pylist()
    players = sorted({row["player"] for row in rows})
    left = dict.fromkeys(players, 0.0)
    for name, colour in zip(CLASSES, COLOURS):
        own = {row["player"]: row["metres"] for row in rows if row["intensity"] == name}
        metres = [own.get(player, 0.0) for player in players]
        bars.barh([str(player) for player in players], metres, left=list(left.values()), color=colour, label=name)
        left = {player: left[player] + more for player, more in zip(players, metres)}
    bars.invert_yaxis()
    bars.set_xlabel("metres")
    bars.set_title("how far each ran, and how fast", fontweight="bold")
    bars.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    bars.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?", default=REAL, help="a CSV file, perhaps .gz")
    parser.add_argument("--picture", type=Path, default=Path("real.png"), help="where to draw it (real.png)")
    given = parser.parse_args()
    if not given.path.is_file():
        parser.error(f"there is no file {given.path}; give the path of yours, with the columns that --help tells")
    answers = replayed(positions(given.path))
    draw(answers, given.picture)
    last = answers["running_game"].filter(
        pc.equal(answers["running_game"]["window_end"], pc.max(answers["running_game"]["window_end"]))
    )
    for row in last.sort_by([("player", "ascending"), ("intensity", "ascending")]).to_pylist():
        print(f"player {row['player']:3}  {row['intensity']:8}  {row['seconds']:5} s  {row['metres']:8.1f} m")


if __name__ == "__main__":
    main()
