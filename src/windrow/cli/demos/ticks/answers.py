"""The demo's answers, read back from the folders that its queries write to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from windrow.cli.demos.new_files import NewFiles

TRACE = 24
"""So many answers of the past are drawn behind a price."""

TURNS, ALERTS = 5, 3
"""So many of the last ones are shown."""

Row = dict[str, Any]


@dataclass(slots=True)
class Answers:
    """The newest answers of the queries that are shown, and a trace of VWAPs."""

    folder: Path
    window_end: datetime | None = None
    vwap: dict[str, deque[float]] = field(default_factory=dict)
    volatility: dict[str, dict[str, float]] = field(default_factory=dict)
    movers: list[tuple[str, float]] = field(default_factory=list)
    surges: list[tuple[str, float]] = field(default_factory=list)
    sectors: dict[str, float] = field(default_factory=dict)
    turns: deque[Row] = field(default_factory=lambda: deque(maxlen=TURNS))
    alerts: deque[Row] = field(default_factory=lambda: deque(maxlen=ALERTS))
    market: dict[str, float] | None = None
    medians: dict[str, float] | None = None
    _files: dict[str, NewFiles] = field(default_factory=dict)

    def refresh(self) -> None:
        """Read the files that have come since."""
        for row in self._new("vwap"):
            self.vwap.setdefault(row["symbol"], deque(maxlen=TRACE)).append(row["vwap"])
        for row in self._new("volatility"):
            self.volatility[row["symbol"]] = row
        movers = _newest(row for row in self._new("movers") if row["within"] == "1 min")
        self.movers = [(row["symbol"], row["percent"]) for row in movers] or self.movers
        self.surges = [(row["symbol"], row["times"]) for row in _newest(self._new("surges"))] or self.surges
        self.sectors |= {row["sector"]: row["paid"] for row in self._new("sectors") if _lasts(row, seconds=60)}
        self.turns.extend(row for row in self._new("turns", "time") if row["op"] == "+")
        self.alerts.extend(self._new("alerts", "time"))
        for row in self._new("medians"):
            self.medians = row
        for row in self._new("market"):
            self.market, self.window_end = row, row["window_end"]

    def _new(self, query: str, time: str = "window_end") -> list[Row]:
        """The rows of a query's new files: the last instants in order, each with its rows as they were ranked."""
        rows = self._files.setdefault(query, NewFiles(self.folder / query)).rows()
        if rows is None:
            return []
        ends = pc.unique(rows[time]).sort()
        recent = rows.filter(pc.greater_equal(rows[time], ends[max(0, len(ends) - TRACE)]))
        return sorted(recent.to_pylist(), key=lambda row: row[time])


def _newest(rows: Iterable[Row]) -> list[Row]:
    """The rows of the last window, of `rows` in the order of their windows.

    >>> _newest([{"window_end": 1, "k": "a"}, {"window_end": 2, "k": "b"}])
    [{'window_end': 2, 'k': 'b'}]
    """
    listed = list(rows)
    return [row for row in listed if row["window_end"] == listed[-1]["window_end"]]


def _lasts(row: Row, seconds: int) -> bool:
    """Whether the row is of a window so long: sinks that two queries share have windows of both."""
    return bool((row["window_end"] - row["window_start"]).total_seconds() == seconds)
