"""Columns by slot in chunks: what was saved comes back, and only what changed is written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks, PrefixedBlocks
from windrow.storage.chunks import SlotChunks
from windrow.storage.working_set import WorkingSet

from .stores import CountingBlocks

values = st.integers(-9, 9)
changes = st.lists(st.tuples(st.integers(0, 14), values), max_size=5)
steps = st.lists(st.tuples(st.integers(0, 15), changes, st.sampled_from(["stay", "adopt", "fresh"])), max_size=8)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK", 4)


def saver(column: np.ndarray):
    return lambda slots: {"value": pa.array(column[slots])}


def loaded(store: SlotChunks) -> list[int]:
    return [value for batch in store.load() for value in batch.column("value").to_pylist()]


@settings(max_examples=examples(80), deadline=None)
@given(steps)
def test_what_was_saved_comes_back_however_wide_it_grew_and_whoever_opens_it(given_steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK", 4)
        blocks, column = MemoryBlocks(), np.zeros(0, np.int64)
        store = SlotChunks("x", blocks)
        for version, (width, changed, then) in enumerate(given_steps, start=1):
            known = len(column)
            column = np.concatenate([column[:width], np.zeros(max(width - known, 0), np.int64)])
            store.touch(np.arange(min(known, width), max(known, width)))  # slots that came or went
            store.touch(np.array([width - 1] if width else [], np.int64))
            for slot, value in changed:
                if slot < width:
                    column[slot] = value
                    store.touch(np.array([slot]))
            store.save(saver(column), width, version)
            if then != "stay":
                older, store = store, SlotChunks("x", blocks, store.snapshot())
                if then == "adopt":
                    store.adopt(older)
            assert loaded(store) == column.tolist()
            assert len(blocks) == -(-width // 4)


def test_a_save_writes_the_touched_chunks_and_a_worker_reads_what_others_wrote(tiny):
    blocks, column = CountingBlocks(), np.arange(12)
    one = SlotChunks("x", blocks)
    one.save(saver(column), 12, 1)
    assert blocks.counted()["write"] == 3
    one.save(saver(column), 12, 2)
    assert not blocks.counted()
    other = SlotChunks("x", blocks, one.snapshot())
    loaded(other)
    assert blocks.counted()["read"] == 3
    column[5] = 50
    other.touch(np.array([5]))
    other.save(saver(column), 12, 3)
    assert blocks.counted()["write"] == 1
    back = SlotChunks("x", blocks, other.snapshot())
    back.adopt(one)
    assert loaded(back) == column.tolist()
    assert blocks.counted()["read"] == 1


def test_a_narrower_column_lets_go_of_its_last_chunks(tiny):
    blocks = CountingBlocks()
    store = SlotChunks("x", blocks)
    store.save(saver(np.arange(12)), 12, 1)
    store.save(saver(np.arange(4)), 4, 2)
    assert (len(blocks), loaded(SlotChunks("x", blocks, store.snapshot()))) == (1, [0, 1, 2, 3])
    store.save(saver(np.arange(0)), 0, 3)
    assert (len(blocks), store.snapshot()) == (0, {"versions": []})


def test_what_is_kept_as_it_was_written_is_given_up_where_memory_is_short():
    """It counts as what is held, and is read from the store again."""
    store = MemoryBlocks()
    working = WorkingSet(store, 80_000)
    column = np.random.default_rng(1).integers(0, 2**60, chunks.CHUNK)
    kept = SlotChunks("c", PrefixedBlocks(working, "p."))
    kept.touch(np.arange(len(column)))
    kept.save(lambda slots: {"v": pa.array(column[slots])}, len(column), 1)
    held = kept.nbytes
    assert held > 50_000
    working.held = held
    working.claim(0)
    assert (kept.nbytes, working.held) == (0, 0)
    again = SlotChunks("c", PrefixedBlocks(working, "p."), kept.snapshot())
    again.adopt(kept)
    assert np.concatenate([batch.column("v").to_numpy() for batch in again.load()]).tolist() == column.tolist()
