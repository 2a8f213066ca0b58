"""What is kept in memory stays within a limit, and what goes is needed last."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import SettingsError
from windrow.plan.memory import read_memory
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.columns import BatchCodec
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.working_set import WorkingSet, distances


@given(st.integers(1, 12), st.sets(st.integers(0, 11), max_size=4))
def test_a_block_is_as_far_as_the_window_that_comes_to_it_first(count, positions):
    at = sorted(place for place in positions if place < count)
    found = distances(count, at)
    for place in range(count - 1):
        behind = [place - window for window in at if window <= place]
        assert found[place] == min(behind) if behind else found[place] > count  # no window will come there any more
    assert found[-1] == 0


def kept_in(working, distances, space="rows"):
    return KeptBlocks(space, working, BatchCodec(), distances)


def rows(number, count=100):
    return pa.record_batch({"x": np.full(count, number)})


def test_the_newest_and_the_oldest_stay_and_the_farthest_go_first():
    working = WorkingSet(MemoryBlocks(), limit_bytes=4 * 800)
    kept = kept_in(working, lambda: dict(enumerate(distances(10, [0, 6]))))
    for number in range(10):
        kept.put(number, rows(number))
    assert working.kept == 10 * 800  # nothing is in the store yet, so nothing can go
    kept.save(1)
    working.make_room()
    assert working.kept == kept.bytes_kept <= 4 * 800
    assert {0, 6, 9} <= set(kept._values) and not {3, 4, 5} & set(kept._values)
    for number in range(10):
        assert kept.get(number).equals(rows(number))
        assert working.kept <= 4 * 800 + 800


def test_all_who_keep_blocks_share_one_limit():
    working = WorkingSet(MemoryBlocks(), limit_bytes=3 * 800)
    near = kept_in(working, lambda: dict.fromkeys(range(3), 0.0), "near")
    far = kept_in(working, lambda: dict.fromkeys(range(3), 9.0), "far")
    for number in range(3):
        near.put(number, rows(number))
        far.put(number, rows(number))
    near.save(1)
    far.save(1)
    working.make_room()
    assert (near.bytes_kept, far.bytes_kept) == (2 * 800, 0)


def test_what_is_held_counts_although_it_cannot_go():
    working = WorkingSet(MemoryBlocks(), limit_bytes=3 * 800)
    kept = kept_in(working, lambda: dict.fromkeys(range(3), 0.0))
    for number in range(3):
        kept.put(number, rows(number))
    kept.save(1)
    working.held = 2 * 800
    working.make_room()
    assert kept.bytes_kept == 0 or working.bytes_in_memory <= 3 * 800


@pytest.mark.parametrize("text", ["much", "", "-5 MB", "12 parsecs", "1 KB", 0, 1_999_999])
def test_a_limit_that_is_no_size_or_less_than_two_blocks_is_refused(text):
    with pytest.raises(SettingsError, match="memory="):
        read_memory(text)
