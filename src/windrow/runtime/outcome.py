"""What a batch gave."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.runtime.payload import TALLIES, Payload
from windrow.runtime.weigh import Weight

RESULT_ROWS = 1 << 17
"""Results are packed in batches of at most so many rows."""


_SPREAD = np.int64(-7046029254386353131)
"""An odd number: times it, different ends stay different, and those of different kinds of windows hardly ever meet."""


def _no_clock() -> int:
    return 0


@lru_cache(maxsize=1 << 16)
def _seed(place: str) -> int:
    return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8], "little", signed=True)


@dataclass(slots=True)
class Outcome:
    """What a batch gave: result rows by query, what goes on to the next stage by part, rejected rows, and counts.

    `late` counts events that no window took, `late_in_part` those that only some did, since the others had been
    answered; `corrected` those for which windows were answered again; `duplicates` those that DEDUPLICATE BY has left
    out; `impossible` those of years before 1 or after 9999, `ahead` those too far ahead of their batch; `failed` values
    that are NULL because an expression of a row, or the sum of a window, could not hold them; `unplaced` the events
    that a clustering has no place for, since a coordinate is missing; `unsent` those that DISTRIBUTE BY sends to a
    shard that there is not; `refused` those that functions which remember have failed with; `seam` those that a history
    and the stream after it both have, read from the one that is not to give them; `shed` those that were left out
    since the stream was delayed; `dropped` what went since the clock
    was set back: groups in panes, and rows that waited. `clocks` are those of the streams that have come further, with
    the newest event of each. Of the windows that were answered, `alone` counts those that no other shard has anything
    of, and `shared` tells the others by name, so that one that several shards answer is counted once. `now` is the
    stopwatch of whoever runs the batch, if there is one, and `spent` what each query took by it: how long a batch takes
    is no part of its results. `weight` is how many events came, and whose.
    """

    results: list[tuple[str, pa.RecordBatch]] = field(default_factory=list)
    clocks: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    parts: list[tuple[str, Changes]] = field(default_factory=list)
    rejected: list[pa.RecordBatch] = field(default_factory=list)
    late: int = 0
    late_in_part: int = 0
    corrected: int = 0
    duplicates: int = 0
    untimed: int = 0
    unreadable: int = 0
    impossible: int = 0
    ahead: int = 0
    failed: int = 0
    unplaced: int = 0
    seam: int = 0
    shed: int = 0
    unsent: int = 0
    refused: int = 0
    dropped: int = 0
    alone: int = 0
    shared: list[np.ndarray] = field(default_factory=list)
    now: Callable[[], int] = _no_clock
    spent: Counter[str] = field(default_factory=Counter)
    weight: Weight = field(default_factory=Weight)

    @property
    def windows(self) -> int:
        """How many windows this shard has answered."""
        return self.alone + len(self.shared_names)

    @property
    def shared_names(self) -> np.ndarray:
        """The windows that other shards may answer too, each once."""
        return np.concatenate([np.empty(0, np.int64), *self.shared])

    def answer(self, place: str, ends: np.ndarray) -> None:
        """Count windows of one kind, called `place` in all shards, by their ends: a run of equal ones is one window."""
        self.answer_each([place], [len(ends)], ends)

    def answer_each(self, places: Sequence[str], rows: Sequence[int] | np.ndarray, ends: np.ndarray) -> None:
        """The same of several kinds, which have so many `rows` of `ends` each, one after the other."""
        counts = np.asarray(rows, np.int64)
        first = np.ones(len(ends), bool)
        first[1:] = ends[1:] != ends[:-1]
        begins = np.cumsum(counts) - counts
        first[begins[counts > 0]] = True
        seeds = np.repeat(np.array([_seed(place) for place in places], np.int64), counts)[first]
        self.shared.append(ends[first].astype(np.int64) * _SPREAD + seeds)

    def spend(self, queries: Sequence[str], began: int) -> None:
        """Note the time since `began` as that of some queries, of which each has an equal part."""
        part = (self.now() - began) // max(len(queries), 1)
        self.spent.update(dict.fromkeys(queries, part))

    def count(self, payload: Payload) -> None:
        """Add what a map task has counted."""
        for name in TALLIES:
            setattr(self, name, getattr(self, name) + getattr(payload, name))

    def add(self, query: str, batches: Sequence[pa.RecordBatch]) -> None:
        """Take in results of a query."""
        for batch in batches:
            for start in range(0, batch.num_rows, RESULT_ROWS):
                self.results.append((query, batch.slice(start, RESULT_ROWS)))
