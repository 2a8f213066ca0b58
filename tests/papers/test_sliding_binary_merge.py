"""The examples of Badiozamany, Orsborn and Risch: Framework for real-time clustering over sliding windows (2016)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from windows.folds import SUM, TRAIL, entries_of
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.log import PaneLog

STRIDE = 4


def lattice_of(strides: int, until: int) -> SlidingBinaryMerge:
    """The lattice for windows of so many strides of 4 seconds, over a stream of a point a second up to `until`."""
    log = PaneLog("panes", {"sum": SUM.kernel, "trail": TRAIL.kernel}, MemoryBlocks())
    rows = [(time // STRIDE * STRIDE, 0, time) for time in range(until)]
    log.add(entries_of((SUM, TRAIL), rows))
    return SlidingBinaryMerge(log, STRIDE, 0, [strides], "fold", MemoryBlocks())


def slide(lattice: SlidingBinaryMerge, time: int, length: int) -> tuple[int, str]:
    """The merges of a slide, and the seconds that its window holds in their order."""
    before = lattice.contexts.merges
    fields = lattice.answer(range(time - length, time), 1)
    return lattice.contexts.merges - before, TRAIL.lowered(fields[1])[0]


def seconds(begin: int, end: int) -> str:
    return "".join(f"{second}," for second in range(max(begin, 0), end))


def whole(nodes) -> set[tuple[int, int, int]]:
    """The nodes that do not reach back before the stream, as the figure draws them."""
    return {node for node in nodes if node[1] >= 0}


def test_figure_4_at_every_time():
    """R = 64, S = 4: which W(b, e) there are at each time, level by level."""
    lattice = lattice_of(16, 128)
    for time in range(4, 129, STRIDE):
        merges, found = slide(lattice, time, 64)
        assert found == seconds(time - 64, time)
        levels = range(5)
        # All nodes of the figure that have come to be ...
        born = {
            (level, begin, begin + (STRIDE << level))
            for level in levels
            for begin in range(0, time, STRIDE)
            if begin + (STRIDE << level) <= time
        }
        # ... but those that no later node is made of, as the remark at the end of section 3.2 has it.
        needed = {
            (level, begin, end) for level, begin, end in born if level < 4 and begin + (2 * STRIDE << level) > time
        }
        assert whole(lattice.nodes()) == needed
        if time >= 64:
            assert merges == 4  # the bold arrows
        else:
            assert merges == int(math.log2(time // STRIDE)) if (time // STRIDE).bit_count() == 1 else merges <= 4


def test_the_nodes_that_the_text_names():
    lattice = lattice_of(16, 128)
    made: dict[int, set] = {}
    before: set = set()
    push = lattice._push

    def watched(cell, leaf):
        push(cell, leaf)
        made[(cell + 1) * STRIDE] = whole(lattice.nodes()) - before

    lattice._push = watched
    for time in range(4, 85, STRIDE):
        before = whole(lattice.nodes())
        slide(lattice, time, 64)
    assert made[4] == {(0, 0, 4)}
    assert made[8] == {(0, 4, 8), (1, 0, 8)}
    assert made[12] == {(0, 8, 12), (1, 4, 12)}
    assert made[16] == {(0, 12, 16), (1, 8, 16), (2, 0, 16)}
    assert made[64] == {(0, 60, 64), (1, 56, 64), (2, 48, 64), (3, 32, 64), (4, 0, 64)}
    assert (4, 20, 84) in made[84]


def test_at_64_the_leaves_up_to_52_are_gone():
    lattice = lattice_of(16, 64)
    for time in range(4, 65, STRIDE):
        slide(lattice, time, 64)
    assert [node for node in lattice.nodes() if node[0] == 0] == [(0, 60, 64)]


def test_a_ratio_of_21_has_the_extended_lattice_and_the_auxiliary_root():
    """R = 84, S = 4: [0, 84) = [0, 64) + [64, 80) + [80, 84), and 21 - 16 more roots stay."""
    lattice = lattice_of(21, 200)
    for time in range(4, 201, STRIDE):
        needed = None
        if time == 84:
            lattice._advance(21)
            nodes = set(lattice.nodes())
            assert {(4, 0, 64), (2, 64, 80), (0, 80, 84)} <= nodes
            assert {node for node in nodes if node[0] == 4 and node[1] >= 0} == {
                (4, begin, begin + 64) for begin in range(0, 21, STRIDE)
            }
        merges, found = slide(lattice, time, 84)
        assert found == seconds(time - 84, time)
        needed = {
            (level, begin, begin + (STRIDE << level))
            for level in range(5)
            for begin in range(0, time, STRIDE)
            if begin + (STRIDE << level) <= time
            and (begin > time - (2 * STRIDE << level) if level < 4 else begin > time - 84)
        }
        assert whole(lattice.nodes()) == needed
        if time >= 84:
            assert merges == (4 + 2 if time > 84 else 2)  # at 84 the cascade was counted above
            assert len([node for node in lattice.nodes() if node[0] == 4]) == 21 - 16


@pytest.mark.parametrize("ratio", [5, 16, 21])
def test_each_level_is_a_sliding_window_of_its_own(ratio):
    """Section 6: windows of other ranges are found in the lattice of the longest."""
    log = PaneLog("panes", {"sum": SUM.kernel, "trail": TRAIL.kernel}, MemoryBlocks())
    log.add(entries_of((SUM, TRAIL), [(second, 0, second) for second in range(80)]))
    ranges = [ratio, *(1 << level for level in range(ratio.bit_length() - 1))]
    lattice = SlidingBinaryMerge(log, 1, 0, ranges, "fold", MemoryBlocks())
    for time in range(1, 81):
        before = lattice.contexts.merges
        for length in sorted(ranges):
            assert TRAIL.lowered(lattice.answer(range(time - length, time), 1)[1]) == [seconds(time - length, time)]
        merges = lattice.contexts.merges - before
        if time > ratio:
            assert merges == int(np.log2(ratio)) + ratio.bit_count() - 1
