"""The answers and the positions, read back from the folders that they are written to."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from windrow.cli.demos.clusters.moments import Moment, Story
from windrow.cli.demos.new_files import NewFiles

POSITIONS = "positions"


class Answers:
    """The clusters of all windows so far, and the points of any of them."""

    def __init__(self, folder: Path, query: str) -> None:
        self.story = Story()
        self._clusters, self._positions = NewFiles(folder / query), NewFiles(folder / POSITIONS)
        self._points = np.empty((3, 0))

    def refresh(self) -> None:
        """Read the files that have come since."""
        rows = self._clusters.rows()
        if rows is not None:
            self.story.tell(rows.to_pylist())
        positions = self._positions.rows()
        if positions is not None:
            columns = (positions["ts"].cast("int64"), positions["x"], positions["y"])
            new = np.stack([column.to_numpy().astype(float) for column in columns])
            points = np.concatenate([self._points, new], axis=1)
            self._points = points[:, np.argsort(points[0], kind="stable")]

    def points(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        """x and y of the events in a window."""
        edges = [instant.timestamp() * 1e6 for instant in (moment.begin, moment.end)]
        begin, end = np.searchsorted(self._points[0], np.round(edges))
        return self._points[1, begin:end], self._points[2, begin:end]
