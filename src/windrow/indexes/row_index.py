"""An index of rows in one process: a ring of panes, each a structure over words and the rows that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.indexes.asking import KeyRange, key_range, whole_key
from windrow.indexes.choose import MakeStructure, structure_named
from windrow.indexes.facts import TIME, IndexFacts
from windrow.indexes.keys import encode_keys
from windrow.indexes.ring import Ring
from windrow.indexes.runs import KEY, in_window, within
from windrow.indexes.structure import Structure


@dataclass(slots=True)
class PaneRows:
    """The rows of a pane as they came, and where each key has its own."""

    structure: Structure
    parts: list[pa.Table] = field(default_factory=list)
    count: int = 0

    def add(self, rows: pa.Table, words: np.ndarray) -> None:
        self.structure.insert(words, np.arange(self.count, self.count + len(words), dtype=np.uint32))
        self.parts.append(rows)
        self.count += len(words)

    def find(self, asked: KeyRange) -> list[pa.RecordBatch]:
        """The rows of a range of keys; one structure is asked for a single word where it has no ranges."""
        numbers = [
            spans.values[begin:end]
            for spans in self.structure.spans(asked.first, asked.last)
            for begin, end in spans.bounds
        ]
        if not numbers:
            return []
        if len(self.parts) > 1:
            self.parts = [pa.concat_tables(self.parts, promote_options="default").combine_chunks()]
        rows = self.parts[0].take(pa.array(np.concatenate(numbers)))
        return [within(batch, asked) for batch in rows.combine_chunks().to_batches()]


class RowIndex:
    """Rows over a sliding window, found by their keys; `structure` is one of those that there are, or your own."""

    def __init__(self, facts: IndexFacts, structure: str | MakeStructure | None = None) -> None:
        self.facts = facts
        self._make = structure_named(structure)
        self._ring: Ring[PaneRows] = Ring(facts.range_us, facts.slide_us)

    @property
    def clock_us(self) -> int | None:
        return self._ring.clock_us

    def add(self, rows: pa.Table, clock_us: int) -> None:
        """Take in rows that are before the clock, and let the clock go on."""
        self._ring.tumble(clock_us)
        if not rows.num_rows:
            return
        keys = encode_keys([rows[name] for name in self.facts.keys])
        words, times = keys.words(), rows[TIME].cast(pa.int64()).to_numpy()
        rows = rows.select(self.facts.rows.names).append_column(KEY, keys.as_array())
        panes = times - times % self.facts.slide_us
        for pane in np.unique(panes).tolist():
            if not self._ring.holds(pane):
                continue
            held = self._ring.at(pane)
            if held is None:
                held = PaneRows(self._make(np.uint64))
                self._ring.put(pane, held)
            chosen = panes == pane
            held.add(rows.filter(pa.array(chosen)), words[chosen])

    def lookup(self, **key: Any) -> pa.Table:
        """The events of one key in the window, in order of time."""
        return self._found(whole_key(self.facts, key))

    def scan(self, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given, in order; the last column may be a range, (low, high)."""
        return self._found(key_range(self.facts, key))

    def window(self) -> tuple[int, int] | None:
        """From when to when events are found; None before the first."""
        clock = self._ring.clock_us
        return None if clock is None else (clock - self.facts.range_us, clock)

    def _found(self, asked: KeyRange) -> pa.Table:
        window = self.window()
        if window is None:
            return self.facts.rows.empty_table()
        found = [part for _, pane in self._ring for part in pane.find(asked)]
        return in_window(found, self.facts, *window)
