"""Overcoming Memory Limitations in High-Throughput Event-Based Applications (Mendes, Bizarro, Marques 2013)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab.shared_slidem import SharedSlideM
from lab.slidem import SlideM
from lab.victims import Distance

from drawn_examples import examples
from windrow.compile.rows_or_partials import (
    Workload,
    choose_rows_or_partials,
    space_of_partials,
    space_of_rows,
)
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

SCHEMA = pa.schema([("x", pa.int64())])
BLOCK = 32
FACTOR = BLOCK // 8


def numbers(low: int, high: int) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(range(low, high), pa.int64())})


class Watched(MemoryBlocks):
    """Tells which blocks were sent out and brought back."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[str, int]] = []

    def read(self, space: str, number: int) -> bytes:
        self.done.append(("read", number))
        return super().read(space, number)

    def write(self, space: str, number: int, block: bytes) -> None:
        self.done.append(("write", number))
        super().write(space, number, block)


def test_figure_4_step_by_step(tmp_path):
    """A pool of three blocks. The places in the file are those of the figure: its end, or one that was released."""
    blocks = FileBlocks(tmp_path / "window", slot_bytes=4096)
    window = SlideM("w", SCHEMA, blocks, pool_blocks=3, block_bytes=BLOCK)
    pool = window._pool

    def state() -> tuple[list[int], dict[int, int]]:
        places = {number: place.runs[0][0] for (_, number), place in blocks._places.items()}
        return sorted(pool), places

    window.add(numbers(0, 4))  # 1: the recent block fills up
    assert state() == ([0], {})
    window.add(numbers(4, 5))  # 2: a new block is allocated in the pool
    assert state() == ([0, 1], {})
    window.add(numbers(5, 12))  # 3: the pool is full
    assert state() == ([0, 1, 2], {})
    window.add(numbers(12, 13))  # 4: the most recently written block is spilled, 5: to the end of the file
    assert state() == ([0, 1, 3], {2: 0})
    window.add(numbers(13, 17))
    assert state() == ([0, 1, 4], {2: 0, 3: 1})
    window.expire(4)
    assert state() == ([0, 1, 4], {2: 0, 3: 1})  # the oldest block is empty, which the next request sees
    window.expire(1)  # 6: it leaves the pool, 7: and the least recently written block outside takes its place
    assert state() == ([1, 2, 4], {3: 1})
    window.add(numbers(17, 20))  # 8: the recent block is full again, and so is the pool
    window.add(numbers(20, 21))  # 9: it goes to the place that was released
    assert state() == ([1, 2, 5], {3: 1, 4: 0})
    rest = [row for part in window.expire(99) for row in part.column("x").to_pylist()]
    assert rest == list(range(5, 21))
    assert blocks.bytes_on_disk == 2 * 4096
    blocks.close()


@pytest.mark.parametrize("pool", [2, 3, 7])
def test_formula_3_1_each_block_is_written_once_and_read_once_whatever_the_pool(pool):
    rows, window_rows = 4000, 20 * FACTOR
    window = SlideM("w", SCHEMA, MemoryBlocks(), pool_blocks=pool, block_bytes=BLOCK)
    window.add(numbers(0, window_rows))
    for low in range(window_rows, 2 * window_rows):
        window.add(numbers(low, low + 1))
        window.expire(1)
    before = window.counts.requests
    for low in range(2 * window_rows, 2 * window_rows + rows):
        window.add(numbers(low, low + 1))
        window.expire(1)
    assert window.counts.requests - before == 2 * rows // FACTOR


def shared_run(sizes: list[int], pool: int, blocks_of_stream: int, policy: str = "distance") -> Iterator[SharedSlideM]:
    """Count windows of `sizes` blocks, the largest first, over a stream that goes on once they are filled."""
    shared = SharedSlideM(len(sizes), "s", SCHEMA, MemoryBlocks(), pool, BLOCK, policy=policy)
    for row in range(blocks_of_stream * FACTOR):
        shared.add(numbers(row, row + 1))
        for rank, size in reversed(list(enumerate(sizes))):
            if row >= size * FACTOR:
                shared.expire(rank, 1)
        if row >= 2 * sizes[0] * FACTOR:
            yield shared


def test_formula_4_1_without_hits_it_is_a_read_and_a_write_for_each_window():
    """A place for the block of each window and the recent one: nothing is left to be hit."""
    sizes, stream = [61, 41, 21], 300
    first = None
    for shared in shared_run(sizes, pool=4, blocks_of_stream=stream):
        first = first or shared.counts.copy()
    blocks = stream - 2 * sizes[0]
    assert shared.counts.hits - first.hits <= len(sizes)
    assert shared.counts.requests - first.requests == pytest.approx(blocks * 2 * len(sizes), abs=2 * len(sizes))


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.integers(2, 25), min_size=1, max_size=4, unique=True), st.integers(0, 30))
def test_formula_4_1_with_hits(sizes, more):
    """#IO = W + sum over smaller windows of (1 - ρ)(R + W), and for the largest (1 - ρ)(R): but where the largest window
    hits, the block that leaves with it makes room for the next new one, which the formula's full pool leaves out."""
    sizes = sorted(sizes, reverse=True)
    stream, first = 4 * sizes[0] + 40, None
    for shared in shared_run(sizes, len(sizes) + 1 + more, stream):
        if first is None:
            first, hits = shared.counts.copy(), list(shared.hits_by_window)
            resident, positions = len(shared.resident), shared.positions
    counted = shared.counts.requests - first.requests
    moves = [now - then for now, then in zip(shared.positions, positions)]
    misses = [moved - (now - then) for moved, now, then in zip(moves, shared.hits_by_window, hits)]
    new = moves[0]
    predicted = new + 2 * sum(misses[1:]) + misses[0] - (moves[0] - misses[0])
    if resident >= len(sizes) + 1 + more:
        assert counted == pytest.approx(predicted, abs=3 * len(sizes) + 2)
    else:
        assert counted == 0


def test_formula_4_2_the_hit_rate_is_the_share_of_each_segment_that_is_in_memory():
    sizes, pool = [120, 80, 40], 45
    shares, first = [], None
    for shared in shared_run(sizes, pool, 600):
        if first is None:
            first, hits = shared.counts.copy(), sum(shared.hits_by_window)
            start = shared.positions
        edges = [*shared.positions, shared._next]
        resident = np.array(shared.resident)
        share = [((low <= resident) & (resident < high)).sum() / (high - low) for low, high in zip(edges, edges[1:])]
        shares.append(np.mean(share))
    moves = sum(now - then for now, then in zip(shared.positions, start))
    assert (sum(shared.hits_by_window) - hits) / moves == pytest.approx(np.mean(shares), abs=0.03)


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_the_victim_is_the_block_that_is_needed_last(data):
    """Against the future played out row by row: blocks are four rows long, and every window moves by one row a step."""
    rows = data.draw(st.lists(st.integers(0, 60), min_size=1, max_size=4).map(sorted))
    newest = data.draw(st.integers(rows[-1] // FACTOR, 18))
    resident = data.draw(st.sets(st.integers(rows[0] // FACTOR, newest), min_size=1))
    open_block = data.draw(st.sampled_from([None, newest]))
    if resident <= {open_block}:
        return
    policy = Distance()
    for number in resident:
        policy.enter(number)
    victim = policy.victim(open_block, [row // FACTOR for row in rows], rows, lambda number: number * FACTOR)

    def needed_in(number: int) -> int:
        return next(step for step in range(1000) if any((row + step) // FACTOR == number for row in rows))

    candidates = resident - {open_block}
    assert victim in candidates
    assert needed_in(victim) == max(map(needed_in, candidates))


@pytest.mark.parametrize("pool", [5, 12, 30])
def test_distance_never_reads_more_than_recency(pool):
    requests = {}
    for policy in ("distance", "lru", "mru"):
        *_, shared = shared_run([60, 50, 33, 30], pool, 260, policy)
        requests[policy] = shared.counts.requests
    assert requests["distance"] <= min(requests["lru"], requests["mru"])


def test_no_block_is_stored_twice_and_each_leaves_with_the_largest_window():
    blocks = Watched()
    shared = SharedSlideM(2, "s", SCHEMA, blocks, 3, BLOCK)
    for row in range(400):
        shared.add(numbers(row, row + 1))
        for rank, size in ((1, 40), (0, 100)):
            if row >= size:
                shared.expire(rank, 1)
        outside = {number for _, number in blocks._blocks}
        assert not outside & set(shared.resident)
        assert len(outside) + len(shared.resident) <= 100 // FACTOR + 2
    assert {number for kind, number in blocks.done if kind == "read"} >= set(range(1, 60))


CALL_CENTER = Workload(
    range_us=86_400_000_000,
    slide_us=10_000_000,
    rate=1000,
    aggregates=104,
    groups=10_000,
    groups_a_slide=1000,
    row_bytes=94,
    partial_bytes=20,
    state_bytes=16,
)


def test_formulas_2_1_and_2_2_give_the_numbers_of_the_call_center():
    """Section 2.2.2: about 17 GB and 8 GB. (The paper puts 144 aggregates into the second, which changes little.)"""
    assert space_of_partials(CALL_CENTER) == 104 * (1000 * (16 + 86_400 * 20 / 10) + 10_000 * 16)
    assert space_of_partials(CALL_CENTER) / 2**30 == pytest.approx(17, abs=0.3)
    assert space_of_rows(CALL_CENTER) / 1e9 == pytest.approx(8, abs=0.2)
    assert choose_rows_or_partials(CALL_CENTER).chosen == "rows"
