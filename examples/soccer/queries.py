"""The four queries of the challenge, as one script declares them: streams, and what is asked of each."""

from __future__ import annotations

SECOND = "[RANGE 1 SECOND SLIDE 1 SECOND]"
WINDOWS = {"1": "1 MINUTE", "5": "5 MINUTES", "20": "20 MINUTES", "game": "UNBOUNDED"}
MAP_WINDOWS = WINDOWS | {"20": "10 MINUTES"}
GRIDS = {"64x100": (64, 100), "32x50": (32, 50), "16x25": (16, 25), "8x13": (8, 13)}

BRANCHES = {
    "feet": """SELECT ts, CAST((sid - 200) DIV 2 AS INT) AS player, (sid - 200) % 2 AS foot, x, y, v,
               CAST(LEAST(GREATEST(x * 64 DIV 52483, 0), 63) AS INT) AS cx,
               CAST(LEAST(GREATEST((y + 33965) * 100 DIV 67930, 0), 99) AS INT) AS cy
               FROM readings WHERE sid >= 200""",
    "in_play": """SELECT sid, x, y, z, v, a, vx, vy, vz FROM readings
                  WHERE sid = 4 OR sid >= 200 OR sid BETWEEN 97 AND 100""",
}
"""Of all readings those of the players' feet, with the cell of the pitch that each is in; and those of the ball, all
feet and the goalkeepers' gloves."""


def _travelled(axis: str) -> str:
    """How far both feet together have come along an axis in a second, in millimetres."""
    ends = [f"{edge}({axis}) FILTER (WHERE foot = {foot})" for edge in ("LAST", "FIRST") for foot in (0, 1)]
    return f"({ends[0]} + {ends[1]} - {ends[2]} - {ends[3]})"


DERIVED = {
    "plays": "SELECT kind, player, x, y, z, speed FROM plays(TABLE in_play)",
    "running": f"""SELECT player, HYPOT({_travelled("x")}, {_travelled("y")}) / 2000 / 0.995 AS speed,
                   AVG(v) / 1e6 AS feet_speed FROM feet {SECOND} GROUP BY player""",
    "possession": "SELECT player, team, held_us, hits FROM possession(TABLE plays)",
    "cells": f"SELECT player, cx, cy, COUNT(*) AS n FROM feet {SECOND} GROUP BY player, cx, cy",
}

PLACES = {
    "where_players": """SELECT player, AVG(x) AS x, AVG(y) AS y
                        FROM feet [RANGE 100 MILLISECONDS SLIDE 100 MILLISECONDS] GROUP BY player""",
    "where_ball": """SELECT LAST(x) AS x, LAST(y) AS y, LAST(z) AS z
                     FROM in_play [RANGE 100 MILLISECONDS SLIDE 100 MILLISECONDS] WHERE sid = 4""",
}
"""Where all are, ten times a second: for the page."""

INTENSITY = """CASE WHEN speed * 3.6 <= 1 THEN 'standing' WHEN speed * 3.6 <= 11 THEN 'trot'
               WHEN speed * 3.6 <= 14 THEN 'low' WHEN speed * 3.6 <= 17 THEN 'medium'
               WHEN speed * 3.6 <= 24 THEN 'high' ELSE 'sprint' END"""


def _window(length: str) -> str:
    return f"[RANGE {length} SLIDE 1 SECOND]"


def queries() -> dict[str, str]:
    """Q1 running, Q2 possession, Q3 heat maps and Q4 shots: over 1, 5 and 20 minutes (maps: 10) and the game."""
    found = {
        f"running_{name}": f"""SELECT player, {INTENSITY} AS intensity, COUNT(*) AS seconds, SUM(speed) AS metres
                               FROM running {_window(length)} GROUP BY player, {INTENSITY}"""
        for name, length in WINDOWS.items()
    }
    found["running_now"] = f"""SELECT player, {INTENSITY} AS intensity, speed, feet_speed FROM running"""
    found["possession_by_player"] = """SELECT player, SUM(held_us) / 1e6 AS seconds, SUM(hits) AS hits
                                       FROM possession [RANGE UNBOUNDED SLIDE 1 SECOND] GROUP BY player"""
    found |= {
        f"possession_{name}": f"""SELECT SUM(CASE WHEN team = 'A' THEN held_us ELSE 0 END) / SUM(held_us) AS share_of_a,
                                  SUM(held_us) / 1e6 AS seconds FROM possession {_window(length)}"""
        for name, length in WINDOWS.items()
    }
    for grid, (columns, rows) in GRIDS.items():
        cell = f"cx * {columns} DIV 64 AS cx, cy * {rows} DIV 100 AS cy"
        by = f"cx * {columns} DIV 64, cy * {rows} DIV 100"
        found |= {
            f"map_{grid}_{name}": f"""SELECT player, {cell}, SUM(n) AS n FROM cells {_window(length)}
                                      GROUP BY player, {by} EMIT CHANGES"""
            for name, length in MAP_WINDOWS.items()
        }
    found |= {
        f"map_total_{name}": f"SELECT player, SUM(n) AS n FROM cells {_window(length)} GROUP BY player"
        for name, length in MAP_WINDOWS.items()
    }
    found["shots"] = "SELECT kind, player, x, y, z, speed FROM plays(TABLE in_play) WHERE kind IN (1, 2)"
    return found
