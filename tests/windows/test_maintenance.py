"""Every maintenance gives what folding all panes again gives, whatever the panes, the blocks and the restarts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks
from windrow.windows import log
from windrow.windows.tree import nodes_over

from .folds import COUNT, LARGEST, REVERSIBLE, SUM, TOTAL, TRAIL, Bench, Measure, entries_of

SLOTS = 10
MANY = 66
"""Panes beyond which each number is walked over once, not several times, and not by repetitive merge: it merges every
pane of a window anew, so that its work grows with the square of the number, and follows no rule that has to do with it."""
FIRST = -(1 << 62)
ALL = (COUNT, SUM, TOTAL, LARGEST, TRAIL)
ANY = "repetitive binary stacks daba"
"""The ways over contexts that ask nothing of a kernel."""


@pytest.fixture(params=[4, 1 << 14], ids=["tiny blocks", "big blocks"])
def block_size(request, monkeypatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", request.param)
    monkeypatch.setattr(chunks, "CHUNK", min(request.param, 8192))


def walk(benches: list[Bench], count: int | None, rows: list[list[tuple]], steps: list[int], reopen: str) -> None:
    """Add `rows` batch by batch, each followed by as many slides as `steps` says; all benches must agree at each."""
    low = min((row[0] for batch in rows for row in batch), default=0)
    closed, width = low, 1
    for number, (batch, slides) in enumerate(zip(rows, steps)):
        batch = [row for row in batch if row[0] >= closed]
        width = max([width, *(slot + 1 for _, slot, _ in batch)])
        for bench in benches:
            if batch:
                bench.log.add(entries_of(bench.measures, batch))
            bench.fold.close(closed + slides)
        for stop in range(closed + 1, closed + slides + 1):
            panes = range(FIRST if count is None else stop - count, stop)
            wanted, *others = [bench.answers(panes, width) for bench in benches]
            for bench, found in zip(benches[1:], others):
                assert found == wanted, f"{bench.way} over {panes}"
        closed += slides
        for bench in benches:
            if count is not None:
                bench.fold.drop(closed + 1 - count)
                bench.log.drop(closed + 1 - count)
            if reopen == "adopt" or reopen == "fresh" or (reopen == "mixed" and number % 3):
                bench.reopen(adopt=reopen == "adopt" or (reopen == "mixed" and number % 3 == 2))


def benches(ways: str, measures: tuple[Measure, ...], count: int | None) -> list[Bench]:
    return [Bench(way, measures, count, MemoryBlocks()) for way in ways.split()]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("reopen", ["never", "adopt", "fresh", "mixed"])
def test_all_ways_agree_for_every_number_of_panes(block_size, reopen):
    """Restarts by turns are tried for every number, or every third, with one size of blocks; each kind alone for some."""
    random = np.random.default_rng(7)
    every = range(1 + (log.BLOCK_ENTRIES > 4), 131, 2 * (65 // examples(65)))
    for count in every if reopen == "mixed" else (1, 2, 3, 7, 16, 33, 64, 130):
        start = int(random.integers(-100, 100))
        rows, steps, closed = [], [], start
        few = count > MANY
        for number in range(5 if few else 10):
            whole = number == 2 if few else random.random() < 0.2  # a window's length and more
            steps.append(count + 3 if whole else int(random.choice([0, 1, 2, 5])))
            ahead = closed + random.integers(0, 8, random.integers(0, 9))
            rows.append([(int(pane), int(random.integers(SLOTS)), int(random.integers(-9, 9))) for pane in ahead])
            closed += steps[-1]
        rows[0].append((start, 0, 1))
        ways = ANY.replace("repetitive ", "") if few else ANY
        walk(benches(f"refold subtract tree spans {ways} exclude", REVERSIBLE, count), count, rows, steps, reopen)
        walk(benches(f"refold tree spans {ways}", (LARGEST, TRAIL), count), count, rows, steps, reopen)


batches = st.lists(
    st.lists(st.tuples(st.integers(-3, 40), st.integers(0, SLOTS - 1), st.integers(-9, 9)), max_size=8),
    min_size=1,
    max_size=8,
)
slides = st.lists(st.integers(0, 12), min_size=8, max_size=8)
reopens = st.sampled_from(["never", "adopt", "fresh", "mixed"])


@pytest.mark.parametrize("size", [2, 4])
@settings(max_examples=examples(40), deadline=None)
@given(rows=batches, steps=slides, count=st.integers(1, 40), reopen=reopens)
def test_all_ways_agree_over_panes_in_any_order(size, rows, steps, count, reopen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", size)
        patch.setattr(chunks, "CHUNK", size)
        walk(benches(f"refold subtract tree spans {ANY} exclude", REVERSIBLE, count), count, rows, steps, reopen)
        walk(benches(f"refold tree spans {ANY}", ALL, count), count, rows, steps, reopen)


@pytest.mark.parametrize("size", [2, 4])
@settings(max_examples=examples(40), deadline=None)
@given(rows=batches, steps=slides, reopen=reopens)
@example(rows=[[], [(0, 0, 0), (1, 4, 0)], []], steps=[1, 1, 1], reopen="adopt")  # a group comes before its pane does
def test_a_window_that_only_grows_is_folded_from_the_start(size, rows, steps, reopen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", size)
        patch.setattr(chunks, "CHUNK", size)
        walk(benches("refold accumulate settle", ALL, None), None, rows, steps, reopen)


@given(st.integers(-200, 200), st.integers(1, 200), st.integers(0, 8))
def test_the_nodes_of_a_tree_cover_a_window_once_and_are_few(start, count, top):
    position, levels = start, nodes_over(range(start, start + count), top)
    for level in levels:
        assert position % (1 << level) == 0
        assert level <= top
        position += 1 << level
    assert position == start + count
    assert len(levels) <= 2 * count.bit_length() + (count >> top)
