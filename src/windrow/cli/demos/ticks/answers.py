"""The demo's answers, read back from the folders that its queries write to."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from windrow.cli.demos.new_files import NewFiles

TRACE = 24
"""So many answers of the past are drawn behind a price."""


@dataclass(slots=True)
class Answers:
    """The newest answer of each query, and a trace of VWAPs."""

    folder: Path
    window_end: datetime | None = None
    vwap: dict[str, deque[float]] = field(default_factory=dict)
    volatility: dict[str, dict[str, float]] = field(default_factory=dict)
    movers: list[tuple[str, float]] = field(default_factory=list)
    market: dict[str, float] | None = None
    _files: dict[str, NewFiles] = field(default_factory=dict)

    def refresh(self) -> None:
        """Read the files that have come since."""
        for row in self._new("vwap"):
            self.vwap.setdefault(row["symbol"], deque(maxlen=TRACE)).append(row["vwap"])
        for row in self._new("volatility"):
            self.volatility[row["symbol"]] = row
        movers = self._new("movers")
        if movers:
            last = movers[-1]["window_end"]
            self.movers = [(row["symbol"], row["percent"]) for row in movers if row["window_end"] == last]
        for row in self._new("market"):
            self.market, self.window_end = row, row["window_end"]

    def _new(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query's new files: the last windows in their order, each with its rows as they were ranked."""
        rows = self._files.setdefault(query, NewFiles(self.folder / query)).rows()
        if rows is None:
            return []
        ends = pc.unique(rows["window_end"]).sort()
        recent = rows.filter(pc.greater_equal(rows["window_end"], ends[max(0, len(ends) - TRACE)]))
        return sorted(recent.to_pylist(), key=lambda row: row["window_end"])
