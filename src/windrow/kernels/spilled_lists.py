"""COLLECT_LIST, STRING_AGG and MAP_AGG of windows larger than memory: rows stay in panes until they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

Piece = tuple[np.ndarray, pa.Array]
"""Times and values of some rows."""

Pieces = tuple[Piece, ...]


class SpilledPieces:
    """Rows in pieces. What is answered is all of them, so a group is read as a whole, however large it is."""

    unit = 1

    def size(self, values: Pieces) -> int:
        return sum(int(times.nbytes) + int(kept.nbytes) for times, kept in values)

    def joined(self, parts: list[Pieces]) -> Pieces:
        """All rows in one piece, in order of time, and no more of the blocks that they were in."""
        pieces = [piece for part in parts for piece in part]
        times = np.concatenate([times for times, _ in pieces])
        order = np.argsort(times, kind="stable")
        return ((times[order], pa.concat_arrays([values for _, values in pieces]).take(pa.array(order))),)

    def large(self, parts: Callable[[], Iterator[Pieces]], size: int, most: int) -> Pieces:
        return self.joined(list(parts()))
