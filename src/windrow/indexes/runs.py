"""Runs of an index as files: rows of one pane in order of their keys, in blocks, with a fence for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.indexes.asking import KeyRange
from windrow.indexes.facts import TIME, IndexFacts
from windrow.indexes.keys import encode_keys
from windrow.places.place import Place

BLOCK_ROWS = 4096
WORD, KEY = "#word", "#key"
_FENCES = b"fences"


def pane_runs(rows: pa.Table, facts: IndexFacts) -> Iterator[tuple[int, pa.Table]]:
    """Rows by pane, each in order of key and time: when the pane begins, and a run with words, and keys if need be.

    `rows` have the columns of the facts, with times, in any order.
    """
    times = rows[TIME].cast(pa.int64()).to_numpy()
    panes = times - times % facts.slide_us
    for pane in np.unique(panes).tolist():
        own = rows if len(panes) and (panes == pane).all() else rows.filter(pa.array(panes == pane))
        yield pane, in_key_order(own.combine_chunks(), facts)


def in_key_order(rows: pa.Table, facts: IndexFacts) -> pa.Table:
    """Rows with their words, and with their keys where words do not tell all, in order of key, then of time."""
    keys = encode_keys([rows[name] for name in facts.keys])
    words, times = keys.words(), rows[TIME].cast(pa.int64()).to_numpy()
    run = rows.select(facts.rows.names).append_column(WORD, pa.array(words))
    if keys.fits:
        order = np.lexsort((times, words)) if (np.diff(times) < 0).any() else np.argsort(words, kind="stable")
        return run.take(pa.array(order))
    run = run.append_column(KEY, keys.as_array())
    return run.take(pc.sort_indices(run, [(KEY, "ascending"), (TIME, "ascending")]))


def encode_run(run: pa.Table) -> bytes:
    """A run as a file: blocks of rows, and the first word of each in its head."""
    run = run.combine_chunks()
    words = run[WORD].to_numpy()
    fences = np.ascontiguousarray(words[::BLOCK_ROWS]).astype("<u8").tobytes()
    schema = run.schema.with_metadata({_FENCES: fences})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(run.replace_schema_metadata({_FENCES: fences}), BLOCK_ROWS)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@dataclass(slots=True)
class RunFile:
    """A run that is read block by block, as far as it is asked for; on this machine nothing is copied."""

    place: Place
    _reader: Any = None
    _fences: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    _blocks: dict[int, tuple[np.ndarray, pa.RecordBatch]] = field(default_factory=dict)

    def find(self, asked: KeyRange) -> list[pa.RecordBatch]:
        """The rows of a range of keys, in order."""
        if self._reader is None:
            self._open()
        first = max(0, int(np.searchsorted(self._fences, np.uint64(asked.first), "left")) - 1)
        behind = int(np.searchsorted(self._fences, np.uint64(asked.last), "right"))
        found = []
        for number in range(first, behind):
            words, block = self._block(number)
            begin = int(np.searchsorted(words, np.uint64(asked.first), "left"))
            end = int(np.searchsorted(words, np.uint64(asked.last), "right"))
            if begin < end:
                found.append(within(block.slice(begin, end - begin), asked))
        return found

    @property
    def blocks_read(self) -> int:
        return len(self._blocks)

    def table(self) -> pa.Table:
        """All of it."""
        if self._reader is None:
            self._open()
        return self._reader.read_all().replace_schema_metadata(None)

    def _open(self) -> None:
        source = pa.memory_map(self.place.path) if self.place.is_local else pa.PythonFile(self.place.open(), "r")
        self._reader = pa.ipc.open_file(source)
        self._fences = np.frombuffer(self._reader.schema.metadata[_FENCES], "<u8")

    def _block(self, number: int) -> tuple[np.ndarray, pa.RecordBatch]:
        if number not in self._blocks:
            batch = self._reader.get_batch(number)
            self._blocks[number] = batch.column(batch.schema.get_field_index(WORD)).to_numpy(), batch
        return self._blocks[number]


def within(rows: pa.RecordBatch, asked: KeyRange) -> pa.RecordBatch:
    """Those of some rows that are in a range: words are the first eight bytes of a key, and no more."""
    at = rows.schema.get_field_index(KEY)
    if at >= 0:
        return rows.filter(asked.holds(rows.column(at)))
    if not asked.is_longer:
        return rows
    words = rows.column(rows.schema.get_field_index(WORD)).to_numpy()
    return rows.filter(pa.array(words > np.uint64(asked.first)))


def merged(runs: Sequence[pa.Table], facts: IndexFacts) -> pa.Table:
    """Several runs of one pane as one."""
    rows = pa.concat_tables([run.select(facts.rows.names) for run in runs])
    return in_key_order(rows.combine_chunks(), facts)


def in_window(found: Sequence[pa.RecordBatch], facts: IndexFacts, begin_us: int, end_us: int) -> pa.Table:
    """What was found in several runs, as one table: events in [begin, end), in order of key, then of time."""
    parts = [pa.Table.from_batches([part]).select(facts.rows.names) for part in found if part.num_rows]
    if not parts:
        return facts.rows.empty_table()
    rows = pa.concat_tables(parts)
    times = rows[TIME].cast(pa.int64()).to_numpy()
    chosen = (times >= begin_us) & (times < end_us)
    rows = (rows if chosen.all() else rows.filter(pa.array(chosen))).combine_chunks()
    if not rows.num_rows:
        return facts.rows.empty_table()
    return in_key_order(rows, facts).select(facts.rows.names).cast(facts.rows)
