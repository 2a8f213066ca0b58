"""DABA answers as folding all panes again does, and no slide of it merges more than a few times."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.daba import Daba
from windrow.windows.log import PaneLog
from windrow.windows.refold import Refold
from windrow.windows.two_stacks import TwoStacks

from .folds import LARGEST, SUM, TRAIL, entries_of

MEASURES = (SUM, LARGEST, TRAIL)
ENTER, LEAVE, ANSWER = 3, 2, 1
"""The most merges for a cell that enters, for one that leaves, and for a window that is asked for."""


def log_of(rows: list[tuple[int, int, int]]) -> PaneLog:
    log = PaneLog("panes", {str(i): measure.kernel for i, measure in enumerate(MEASURES)}, MemoryBlocks())
    log.add(entries_of(MEASURES, rows))
    return log


def lowered(fields: list) -> list[list]:
    return [measure.lowered(own) for measure, own in zip(MEASURES, fields)]


def slid(length: int, panes: int, way: type = Daba) -> list[int]:
    """The merges of each slide over `panes` full panes, once the window is full."""
    fold = way(log_of([(pane, 0, pane) for pane in range(panes)]), 1, 0, [length], "fold", MemoryBlocks())
    merges = []
    for stop in range(1, panes + 1):
        before = fold.contexts.merges
        fold.answer(range(stop - length, stop), 1)
        merges.append(fold.contexts.merges - before)
    return merges[length:]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("length", [*range(1, 40), 64, 100, 129, 300])
def test_no_slide_merges_more_than_six_times(length):
    assert max(slid(length, 4 * length + 5)) <= ENTER + LEAVE + ANSWER


def test_two_stacks_merge_a_whole_window_at_once_where_daba_does_not():
    """The count that this is for: without it, the test above could hold for anything."""
    assert max(slid(300, 1000, TwoStacks)) >= 299
    assert max(slid(300, 1000)) <= 6
    assert sum(slid(300, 1000)) / 700 <= 4.1


@settings(max_examples=examples(100), deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 120), st.integers(0, 3), st.integers(-9, 9)), min_size=1, max_size=80
    ),  # several rows of a pane, panes without any, and long stretches of nothing
    length=st.integers(1, 40),
    steps=st.lists(st.integers(1, 60), min_size=1, max_size=40),
    reopened=st.booleans(),
)
def test_windows_that_slide_by_any_number_of_cells_are_folded_rightly(rows, length, steps, reopened):
    log, blocks = log_of(rows), MemoryBlocks()
    fold, plain, stop, built = Daba(log, 1, 0, [length], "fold", blocks), Refold(log), 0, min(rows)[0]
    for version, step in enumerate(steps, start=1):
        stop += step
        before, entered = fold.contexts.merges, max(0, stop - built)
        panes = range(stop - length, stop)
        assert lowered(fold.answer(panes, 4)) == lowered(plain.answer(panes, 4))
        assert fold.contexts.merges - before <= ENTER * entered + LEAVE * (entered + length) + ANSWER
        built = max(built, stop)
        fold.drop(stop + 1 - length)
        if reopened:
            fold.save(version)
            fold = Daba(log, 1, 0, [length], "fold", blocks, fold.snapshot())
