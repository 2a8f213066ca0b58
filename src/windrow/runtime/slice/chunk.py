"""A chunk of events, and what several spaces want to know of it, found out once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels import Rows
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.cuts import Cuts
from windrow.runtime.keys import encode_keys
from windrow.runtime.reject import RAW


class Chunk:
    """Some events with their times; only those that are `timed` can be used.

    `names` gives the column of each row expression. Those that are keys may come as dictionaries, which spares telling
    their values apart once more.
    """

    def __init__(self, batch: pa.RecordBatch, names: Mapping[str, str], times: np.ndarray, timed: np.ndarray) -> None:
        self._batch, self._names = batch, names
        self.times, self.timed = times, timed
        self._panes: dict[Cuts, tuple[np.ndarray, np.ndarray]] = {}
        self._groups: dict[tuple[Key, ...], tuple[np.ndarray, list[pa.Array]]] = {}
        self._passed: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.times)

    def column(self, text: str) -> pa.Array:
        """The values of a row expression."""
        found = self._batch.column(self._names[text])
        return found.dictionary_decode() if pa.types.is_dictionary(found.type) else found

    @property
    def raw(self) -> pa.Array:
        """The events as they came."""
        return self._batch.column(RAW)

    def passed(self, condition: str) -> np.ndarray:
        """Which events a condition is true for."""
        if condition not in self._passed:
            told = pc.fill_null(self.column(condition), False)
            self._passed[condition] = told.to_numpy(zero_copy_only=False)
        return self._passed[condition]

    def cut(self, cuts: Cuts) -> tuple[np.ndarray, np.ndarray]:
        """The number of each event's pane, and where the pane of each number begins."""
        if cuts not in self._panes:
            self._panes[cuts] = cuts.cut(self.times)
        return self._panes[cuts]

    def groups(self, keys: tuple[Key, ...]) -> tuple[np.ndarray, list[pa.Array]]:
        """The number of each event's group, and the keys of the group of each number."""
        if keys not in self._groups:
            self._groups[keys] = encode_keys([self._batch.column(self._names[key.sql]) for key in keys], len(self))
        return self._groups[keys]

    def rows(self, partial: Partial) -> Rows:
        """The events as the kernel of `partial` takes them."""
        if isinstance(partial, ClusterPartial):
            columns = [self.column(text) for text in partial.texts]
            names = [str(i) for i in range(len(columns))]
            return Rows(pa.StructArray.from_arrays(columns, names), self.times)
        values = None if partial.argument is None else self.column(partial.argument)
        mask = None if partial.filter is None else self.passed(partial.filter)
        return Rows(values, self.times, mask)
