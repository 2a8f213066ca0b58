"""What the page shows: rows of answers, as they come, kept as plain values and told as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from compare import CLASSES, last_of, seconds_of
from game import PLAYERS
from queries import GRIDS, WINDOWS

COMPARED = ("hits", "shots", "possession_game", "running_game")
"""Answers that are compared with the truth at the end; of windows the last is."""


class Board:
    """`told` the rows of each query; `news` is what has changed since it was asked last, and `whole` is all of it."""

    def __init__(self) -> None:
        self._maps = {
            f"{grid}_{window}": np.zeros((PLAYERS, rows, columns), np.int64)
            for grid, (columns, rows) in GRIDS.items()
            for window in WINDOWS
        }
        self._state: dict[str, Any] = {"running": {}, "possession": {}, "players": [], "speeds": [None] * PLAYERS}
        self._shots: list[list[Any]] = []
        self._course: list[list[Any]] = []
        self._hits = 0
        self._places: dict[float, list[Any]] = {}
        self._last: list[tuple[float, list[Any]]] = []
        self._changed: dict[str, set[tuple[int, int, int]]] = {}
        self._seen = {"shots": 0, "course": 0}
        self._kept: dict[str, list[pa.Table]] = {name: [] for name in COMPARED}
        self.newest = 0.0
        """Up to which second of the game there are answers."""

    def told(self, name: str, rows: pa.Table) -> None:
        """Rows of a query that have come."""
        kind, _, window = name.partition("_")
        if name in COMPARED:
            self._kept[name] = [*self._kept[name], rows] if kind in ("hits", "shots") else [last_of(rows)]
        if kind == "map" and not window.startswith("total"):
            self._map(window, rows)
        elif kind == "where":
            self._where(window, rows)
        elif name == "running_now":
            for player, speed in zip(rows["player"].to_pylist(), rows["speed"].to_pylist()):
                self._state["speeds"][player] = round(speed, 2)
        elif kind == "running":
            self._running(window, last_of(rows))
        elif name == "possession_by_player":
            ordered = last_of(rows).select(["player", "seconds", "hits"]).to_pylist()
            self._state["players"] = [[row["player"], round(row["seconds"], 1), row["hits"]] for row in ordered]
        elif kind == "possession":
            self._possession(window, rows)
        elif kind == "hits":
            self._hits += rows.num_rows
        elif kind == "shots":
            named = zip(seconds_of(rows["time"]).tolist(), rows.to_pylist())
            self._shots += [[at, *(row[name] for name in ("kind", "player", "x", "y", "speed"))] for at, row in named]

    def _map(self, name: str, rows: pa.Table) -> None:
        """Changes add up to the map, in whatever order those of an instant come."""
        player, x, y, n = (rows[column].to_numpy() for column in ("player", "cx", "cy", "n"))
        signs = np.where(np.asarray(rows["op"]) == "+", 1, -1)
        np.add.at(self._maps[name], (player, y, x), signs * n)
        self._changed.setdefault(name, set()).update(zip(player.tolist(), x.tolist(), y.tolist()))

    def _where(self, what: str, rows: pa.Table) -> None:
        for at, row in zip(seconds_of(rows["window_end"]).tolist(), rows.to_pylist()):
            place = self._places.setdefault(round(at, 3), [None] * (PLAYERS + 1))
            metres = [round(row[axis] / 1000, 2) for axis in "xyz" if axis in row]
            place[row["player"] if what == "players" else PLAYERS] = metres
            self.newest = max(self.newest, at)

    def _running(self, window: str, rows: pa.Table) -> None:
        classes = list(CLASSES)
        metres = [[0.0] * len(classes) for _ in range(PLAYERS)]
        for row in rows.select(["player", "intensity", "metres"]).to_pylist():
            metres[row["player"]][classes.index(row["intensity"])] = round(row["metres"], 1)
        self._state["running"][window] = metres

    def _possession(self, window: str, rows: pa.Table) -> None:
        shares = self._state["possession"]
        shares[window] = last_of(rows)["share_of_a"][0].as_py()
        if window == "game":
            ends = seconds_of(rows["window_end"]).tolist()
            self._course += [[at, share, shares.get("1")] for at, share in zip(ends, rows["share_of_a"].to_pylist())]

    def news(self) -> dict[str, Any]:
        """What is new since it was asked last."""
        maps = {
            name: [[*cell, int(self._maps[name][cell[0], cell[2], cell[1]])] for cell in sorted(cells)]
            for name, cells in self._changed.items()
        }
        told = self._now() | {"maps": maps, "frames": sorted(self._places.items())}
        told |= {"shots": self._shots[self._seen["shots"] :], "course": self._course[self._seen["course"] :]}
        self._last = told["frames"][-1:] or self._last
        self._changed, self._places = {}, {}
        self._seen = {"shots": len(self._shots), "course": len(self._course)}
        return told

    def whole(self) -> dict[str, Any]:
        """All that there is, for who comes later."""
        maps = {}
        for name, counts in self._maps.items():
            player, y, x = np.nonzero(counts)
            maps[name] = np.stack([player, x, y, counts[player, y, x]], 1).tolist()
        return self._now() | {"maps": maps, "shots": self._shots, "course": self._course, "frames": self._last}

    def _now(self) -> dict[str, Any]:
        return {"newest": self.newest, "hits": self._hits, **self._state}

    def answers(self) -> dict[str, pa.Table]:
        """What `compare.compared` compares with the truth."""
        return {name: pa.concat_tables(tables) for name, tables in self._kept.items() if tables}
