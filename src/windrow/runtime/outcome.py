"""What a batch gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.runtime.payload import TALLIES, Payload

RESULT_ROWS = 1 << 17
"""Results are packed in batches of at most so many rows."""


@dataclass(slots=True)
class Outcome:
    """What a batch gave: result rows by query, what goes on to the next stage by part, rejected rows, and counts.

    `impossible` counts events of years before 1 or after 9999, `ahead` those too far ahead of their batch; `failed`
    values that are NULL because an expression of a row, or the sum of a window, could not hold them; `unplaced` the
    events that a clustering has no place for, since a coordinate is missing; `dropped` what went since the clock was
    set back: groups in panes, and rows that waited.
    """

    results: list[tuple[str, pa.RecordBatch]] = field(default_factory=list)
    parts: list[tuple[str, Changes]] = field(default_factory=list)
    rejected: list[pa.RecordBatch] = field(default_factory=list)
    late: int = 0
    untimed: int = 0
    unreadable: int = 0
    impossible: int = 0
    ahead: int = 0
    failed: int = 0
    unplaced: int = 0
    windows: int = 0
    dropped: int = 0

    def count(self, payload: Payload) -> None:
        """Add what a map task has counted."""
        for name in TALLIES:
            setattr(self, name, getattr(self, name) + getattr(payload, name))

    def add(self, query: str, batches: Sequence[pa.RecordBatch]) -> None:
        """Take in results of a query."""
        for batch in batches:
            for start in range(0, batch.num_rows, RESULT_ROWS):
                self.results.append((query, batch.slice(start, RESULT_ROWS)))
