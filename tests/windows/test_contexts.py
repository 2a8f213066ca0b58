"""Contexts are never changed under those who hold them, copied only where they must be, and freed when nobody does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.log import PaneLog

from .folds import COUNT, RULED, SUM, TRAIL, entries_of

MEASURES = (SUM, TRAIL)
KERNELS = {str(i): measure.kernel for i, measure in enumerate(MEASURES)}


def log_of(rows, kernels=KERNELS, measures=MEASURES) -> PaneLog:
    log = PaneLog("panes", kernels, MemoryBlocks())
    log.add(entries_of(measures, rows))
    return log


def full(panes: int) -> list[tuple[int, int, int]]:
    return [(pane, slot, pane) for pane in range(panes) for slot in range(2)]


def trail(context) -> list[str]:
    return TRAIL.lowered(context.partials[1])


def made(way: str, log: PaneLog, *cells: int, unit: int = 1):
    return RULED[way](log, unit, 0, cells, "fold", MemoryBlocks())


@pytest.mark.parametrize("way", RULED)
def test_a_window_that_is_held_stays_what_it_was(way):
    measures = (SUM, COUNT) if way == "exclude" else MEASURES
    kernels = {str(i): measure.kernel for i, measure in enumerate(measures)}
    fold = made(way, log_of(full(40), kernels, measures), 5)
    held, seen = [], []
    for stop in range(1, 40):
        context = fold.context(range(stop - 5, stop))
        held.append(context)
        seen.append([measure.lowered(part) for measure, part in zip(measures, context.partials)])
    for context, before in zip(held, seen):
        assert [measure.lowered(part) for measure, part in zip(measures, context.partials)] == before
    live = fold.contexts.live
    for context in held:
        fold.contexts.release(context)
    assert fold.contexts.live <= live - len(held) + 6


@pytest.mark.parametrize("way", RULED)
def test_all_contexts_are_freed_when_the_stream_has_gone(way):
    measures = (SUM, COUNT)
    kernels = {str(i): measure.kernel for i, measure in enumerate(measures)}
    log = log_of(full(50), kernels, measures)
    fold = made(way, log, 13)
    for stop in range(1, 51):
        fold.answer(range(stop - 13, stop), 2)
    fold.drop(60)
    fold.release(np.arange(2))
    held = {"exclude": 1}.get(way, 0)  # its window, which has no groups any more
    assert fold.contexts.live == held
    assert all(len(context.slots) == 0 for context in fold._held().values())


@pytest.mark.parametrize("length", [1, 2, 3, 8, 21, 64, 100])
def test_the_lattice_keeps_about_as_many_nodes_as_a_window_has_cells(length):
    fold = made("binary", log_of(full(3 * length)), length)
    for stop in range(1, 3 * length + 1):
        fold.answer(range(stop - length, stop), 2)
        assert fold.contexts.live <= length + 1  # the nodes, and the window that was given last


@pytest.mark.parametrize("length", [2, 4, 16, 64, 128])
def test_a_power_of_two_copies_only_what_the_log_still_needs(length):
    """Each slide changes the older part of every merge into the new node; only the leaf belongs to the log."""
    fold = made("binary", log_of(full(4 * length), {"0": SUM.kernel}, (SUM,)), length)
    for stop in range(1, 2 * length + 1):
        fold.answer(range(stop - length, stop), 2)
    fold.contexts.copies = fold.contexts.merges = 0
    for stop in range(2 * length + 1, 4 * length + 1):
        fold.answer(range(stop - length, stop), 2)
    assert fold.contexts.merges == 2 * length * int(math.log2(length))
    assert fold.contexts.copies == 2 * length


@pytest.mark.one_in(5)
@pytest.mark.parametrize("length", range(1, 131))
def test_merges_of_a_slide_are_few(length):
    log = log_of(full(3 * length), {"0": SUM.kernel}, (SUM,))
    merges = {}
    for way in ("binary", "stacks", "daba", "repetitive"):
        fold = made(way, log, length)
        slides = 2 if way == "repetitive" else 2 * length  # each of its slides is as dear as all others
        for stop in range(1 if way != "repetitive" else length, length + 1):
            fold.answer(range(stop - length, stop), 2)
        fold.contexts.merges = 0
        for stop in range(length + 1, length + slides + 1):
            fold.answer(range(stop - length, stop), 2)
        merges[way] = fold.contexts.merges / slides
    log2 = int(math.log2(length))
    assert merges["binary"] == (log2 if length == 1 << log2 else log2 + length.bit_count() - 1)
    assert merges["binary"] <= 2 * math.log2(length)
    assert merges["stacks"] <= 3
    assert merges["daba"] <= 4.1  # 4 over whole turns, of which this is a part
    assert merges["repetitive"] == length - 1


@settings(max_examples=examples(60), deadline=None)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=2, max_size=4, unique=True),
    gaps=st.sets(st.integers(0, 119)),
    batch=st.integers(1, 30),
)
def test_several_ranges_share_one_lattice(lengths, gaps, batch):
    """As a shard asks: some slides of the first range, the same of the second, ... and then the next batch."""
    rows = [(pane, 0, pane) for pane in range(120) if pane not in gaps]
    if not rows:
        return
    log = log_of(rows)
    fold = made("binary", log, *lengths)
    for begin in range(0, 120, batch):
        end = min(begin + batch, 120)
        for length in lengths:
            for stop in range(begin + 1, end + 1):
                found = fold.answer(range(stop - length, stop), 1)[1]
                wanted = "".join(f"{pane}," for pane in range(stop - length, stop) if pane >= 0 and pane not in gaps)
                assert TRAIL.lowered(found) == [wanted]
        fold.drop(end + 1 - max(lengths))
    merges = fold.contexts.merges
    levels = max(lengths).bit_length() - 1
    assert merges <= 120 * (levels + sum(length.bit_count() - 1 for length in lengths))


@pytest.mark.parametrize("way", ["repetitive", "binary", "stacks", "daba"])
@pytest.mark.parametrize(("length", "slide", "unit"), [(5, 3, 3), (7, 2, 2), (10, 4, 4), (3, 5, 5), (9, 3, 2)])
def test_a_range_need_not_be_a_multiple_of_the_slide(way, length, slide, unit):
    rows = [(pane, 0, pane) for pane in range(90)]
    fold = made(way, log_of(rows), max(1, length // unit), max(1, length // unit - 1), unit=unit)
    for stop in range(slide, 90, slide):
        found = fold.answer(range(stop - length, stop), 1)[1]
        assert TRAIL.lowered(found) == ["".join(f"{pane}," for pane in range(max(0, stop - length), stop))]


def test_a_window_asked_for_again_is_the_same_and_costs_nothing():
    fold = made("binary", log_of(full(30)), 21)
    for stop in range(1, 30):
        first = fold.context(range(stop - 21, stop))
        merges = fold.contexts.merges
        again = fold.context(range(stop - 21, stop))
        assert again is first and fold.contexts.merges == merges
        fold.contexts.release(first)
        fold.contexts.release(again)


def test_a_restart_goes_on_with_the_same_nodes_and_writes_only_new_ones():
    log, blocks = log_of(full(200)), MemoryBlocks()
    fold = SlidingBinaryMerge(log, 1, 0, [21], "fold", blocks)
    other = SlidingBinaryMerge(log, 1, 0, [21], "apart", blocks)
    for stop in range(1, 200):
        fold.answer(range(stop - 21, stop), 2)
        other.answer(range(stop - 21, stop), 2)
        fold.save(stop)
        fold = SlidingBinaryMerge(log, 1, 0, [21], "fold", blocks, fold.snapshot())
        assert fold.nodes() == other.nodes()
    assert len(blocks) <= 25 and sum(len(members) for _, _, members in fold.snapshot()["contexts"]["blocks"]) <= 60


def test_saved_contexts_survive_a_batch_that_fails():
    """A retry adopts from a view that went on and failed; what it adopts is as it was saved."""
    log, blocks = log_of(full(60)), MemoryBlocks()
    first = SlidingBinaryMerge(log, 1, 0, [8], "fold", blocks)
    for stop in range(1, 31):
        first.answer(range(stop - 8, stop), 2)
    first.save(1)
    snapshot = first.snapshot()
    for stop in range(31, 50):
        first.answer(range(stop - 8, stop), 2)
    retry = SlidingBinaryMerge(log, 1, 0, [8], "fold", blocks, snapshot)
    retry.adopt(first)
    for stop in range(31, 50):
        found = retry.answer(range(stop - 8, stop), 2)[1]
        assert TRAIL.lowered(found) == ["".join(f"{pane}," for pane in range(stop - 8, stop))] * 2
