"""Q1 and Q3 over real positions, where they are: one sensor a player, 20 readings a second, no ball.

python examples/soccer/real.py ../shared/data/soccer_positions.csv.gz

The file has the columns t (seconds since the epoch), id, x and y (metres, on 105 x 68) and speed (metres a second), as
those of the Alfheim set have them. Without a ball there is no possession and no shot.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?", default=REAL)
    answers = replayed(positions(parser.parse_args().path))
    last = answers["running_game"].filter(
        pc.equal(answers["running_game"]["window_end"], pc.max(answers["running_game"]["window_end"]))
    )
    for row in last.sort_by([("player", "ascending"), ("intensity", "ascending")]).to_pylist():
        print(f"player {row['player']:3}  {row['intensity']:8}  {row['seconds']:5} s  {row['metres']:8.1f} m")


if __name__ == "__main__":
    main()
