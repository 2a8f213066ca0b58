"""Changes in columns: rows that come and go, in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

NEVER = 2**63 - 1
"""The end of a row that only a `-` can end."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Change i adds row i (or takes it, as often as its weight says) from `times[i]` on until just before `until[i]`.

    `times` and `since` are the tuple order [minTS, maxTS] = [since, times] of Hammad et al. (2003), section 3. There a
    row ends at minTS + |w|; streams with ranges of their own need to say when, in `until`. A `-` carries the `until`
    of the row it takes away, so that both end together: changes are linear, and to let one expire is to send its
    opposite at its end. Rows that end only by a `-` have until = NEVER.
    """

    times: np.ndarray
    since: np.ndarray
    until: np.ndarray
    weights: np.ndarray
    columns: tuple[pa.Array, ...]

    def __len__(self) -> int:
        return len(self.times)

    def part(self, rows: slice) -> Changes:
        """Neighbouring changes, without a copy."""
        columns = tuple(column.slice(rows.start, rows.stop - rows.start) for column in self.columns)
        return Changes(self.times[rows], self.since[rows], self.until[rows], self.weights[rows], columns)

    def take(self, rows: np.ndarray) -> Changes:
        """Some of the changes, by position."""
        where = pa.array(rows)
        columns = tuple(column.take(where) for column in self.columns)
        return Changes(self.times[rows], self.since[rows], self.until[rows], self.weights[rows], columns)

    def keep(self, mask: np.ndarray) -> Changes:
        """The changes that `mask` marks."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def with_columns(self, columns: Sequence[pa.Array]) -> Changes:
        return Changes(self.times, self.since, self.until, self.weights, tuple(columns))

    def in_order(self) -> Changes:
        """The changes in increasing maxTS; those of one instant as they were."""
        if len(self) < 2 or bool(np.all(self.times[1:] >= self.times[:-1])):
            return self
        return self.take(np.argsort(self.times, kind="stable"))

    def batch(self, names: Sequence[str]) -> pa.RecordBatch:
        """The rows, for row expressions."""
        if not self.columns:
            return pa.record_batch([pa.nulls(len(self))], names=["nothing"])
        return pa.record_batch(list(self.columns), names=list(names))

    @property
    def nbytes(self) -> int:
        numbers = self.times.nbytes + self.since.nbytes + self.until.nbytes + self.weights.nbytes
        return numbers + sum(int(column.get_total_buffer_size()) for column in self.columns)


def nothing(types: Sequence[pa.DataType]) -> Changes:
    """No changes at all."""
    empty = np.empty(0, np.int64)
    return Changes(empty, empty, empty, empty, tuple(pa.array([], type) for type in types))


def joined(parts: Sequence[Changes]) -> Changes:
    """All changes of `parts`, in their order."""
    filled = [part for part in parts if len(part)] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    return Changes(
        np.concatenate([part.times for part in filled]),
        np.concatenate([part.since for part in filled]),
        np.concatenate([part.until for part in filled]),
        np.concatenate([part.weights for part in filled]),
        tuple(pa.concat_arrays([part.columns[i] for part in filled]) for i in range(len(filled[0].columns))),
    )


def merged(parts: Sequence[Changes]) -> Changes:
    """All changes of `parts` in increasing maxTS; of one instant, those of earlier parts first."""
    return joined(parts).in_order()
