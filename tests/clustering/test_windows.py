"""Clusterings over sliding windows: each maintenance folds exactly the window's panes, whatever the plug-in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windows.folds import RULED
from windrow.clustering import SCANNED, clustering_for
from windrow.kernels import to_arrow
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.columns import encode
from windrow.windows.log import PaneLog
from windrow.windows.refold import Refold
from windrow.windows.tree import Tree

from .streams import entries_of, sdc


class Words:
    """Shows in which order points and summaries came: its summary is a text, and cannot be changed in place."""

    def init(self, parameters):
        return ""

    def add(self, summary, point):
        return f"{summary}{int(point[0])},"

    def merge(self, summary, other):
        return summary + other

    def copy(self, summary):
        return summary

    def report(self, summary):
        return [((float(word),), 0.0, 1) for word in summary.split(",") if word]


class Bag(Words):
    """The same in a list that is changed in place, so that a copy that is missing shows."""

    def init(self, parameters):
        return []

    def add(self, summary, point):
        summary.append(int(point[0]))

    def merge(self, summary, other):
        summary.extend(other)

    def copy(self, summary):
        return list(summary)

    def report(self, summary):
        return [((float(word),), 0.0, 1) for word in summary]


class Tally(Words):
    """A multiset, which can forget."""

    def init(self, parameters):
        return {}

    def add(self, summary, point):
        self.merge(summary, {int(point[0]): 1})

    def merge(self, summary, other):
        for word, count in other.items():
            summary[word] = summary.get(word, 0) + count

    def exclude(self, summary, other):
        for word, count in other.items():
            summary[word] -= count
            if not summary[word]:
                del summary[word]

    def copy(self, summary):
        return dict(summary)

    def report(self, summary):
        return [((float(word),), 0.0, count) for word, count in sorted(summary.items())]


OWN = {"words": Words, "bag": Bag, "tally": Tally}


def kernel_of(name: str):
    return clustering_for(name, (), 1, user=OWN)


def words(kernel, fields, slot: int) -> list[tuple[float, int]]:
    report = kernel.report(fields)
    return [(float(c[0]), int(n)) for s, c, n in zip(report.slots, report.centers, report.counts) if s == slot]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("way", RULED)
@settings(max_examples=examples(15), deadline=None)
@given(length=st.integers(1, 130), gaps=st.sets(st.integers(0, 159)), saves=st.sets(st.integers(1, 160)))
def test_a_window_holds_its_points_in_their_order(way, name, length, gaps, saves):
    kernel = kernel_of(name)
    if way == "exclude" and not kernel.reversible:
        return
    panes = np.array([pane for pane in range(160) if pane not in gaps], np.int64)
    if not len(panes):
        return
    log = PaneLog("panes", {"c": kernel}, MemoryBlocks())
    slots = panes % 2
    log.add(entries_of(kernel, panes, slots, panes[:, None].astype(float)))
    blocks = MemoryBlocks()
    fold = RULED[way](log, 1, 0, [length], "fold", blocks)
    for stop in range(1, 161):
        found = fold.answer(range(stop - length, stop), 2)[0]
        for slot in range(2):
            wanted = [(float(p), 1) for p in panes[(panes < stop) & (panes >= stop - length) & (slots == slot)]]
            assert words(kernel, found, slot) == wanted
        if stop in saves:
            fold.save(stop)
            older, fold = fold, RULED[way](log, 1, 0, [length], "fold", blocks, fold.snapshot())
            if stop % 2:
                fold.adopt(older)


SHIPPED = [
    ("C_BIRCH", (2.0,)),
    ("K_MEANS", (9,)),
    ("DENSITY_GRID", (2.0, 2)),
    ("DBSCAN", (1.0, 3)),
    ("EXTRA_N", (1.0, 3)),
]


def stream_of(kernel, panes: int, each: int = 40) -> PaneLog:
    random = np.random.default_rng(11)
    points, _ = sdc(random, 3, panes * each)
    log = PaneLog("panes", {"c": kernel}, MemoryBlocks())
    log.add(entries_of(kernel, np.repeat(np.arange(panes), each), random.integers(0, 2, panes * each), points))
    return log


def told(kernel, fields) -> tuple:
    report = kernel.report(fields)
    return report.slots.tolist(), report.centers.tobytes(), report.radii.tobytes(), report.counts.tolist()


RIGHT = [
    (way, name, parameters)
    for way in RULED
    for name, parameters in SHIPPED
    if way != "exclude" or clustering_for(name, parameters, 2).reversible
]
"""Every way with every clustering that it is right for: only some can exclude."""


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("way", "name", "parameters"), RIGHT)
@pytest.mark.parametrize("length", [1, 5, 8, 21])
def test_every_way_counts_the_same_points(way, length, name, parameters):
    kernel = clustering_for(name, parameters, 2)
    log = stream_of(kernel, 60)
    fold, oracle = RULED[way](log, 1, 0, [length], "fold", MemoryBlocks()), Refold(log)
    for stop in range(1, 61):
        panes = range(stop - length, stop)
        found, wanted = kernel.report(fold.answer(panes, 2)[0]), kernel.report(oracle.answer(panes, 2)[0])
        if kernel.reversible:
            assert told(kernel, fold.answer(panes, 2)[0]) == told(kernel, oracle.answer(panes, 2)[0])
        else:
            assert found.counts.sum() == wanted.counts.sum() == 40 * min(stop, length)
            total = (found.centers * found.counts[:, None]).sum(axis=0)
            assert total == pytest.approx((wanted.centers * wanted.counts[:, None]).sum(axis=0), rel=1e-9)


def test_on_well_separated_clusters_centres_agree_whatever_the_order_of_merging():
    """DESIGN.md allows a tenth of the radius."""
    kernel = clustering_for("C_BIRCH", (2.0,), 2)
    log = stream_of(kernel, 80, each=200)
    folds = [made(log, 1, 0, [21], "fold", MemoryBlocks()) for way, made in RULED.items() if way != "exclude"]
    for stop in range(21, 81):
        reports = [kernel.report(fold.answer(range(stop - 21, stop), 2)[0]) for fold in folds]
        for report in reports:
            assert len(report) == 18
            for slot in range(2):
                mine, first = report.centers[report.slots == slot], reports[0].centers[reports[0].slots == slot]
                gaps = ((mine[:, None] - first[None]) ** 2).sum(axis=2).min(axis=1)
                assert np.sqrt(gaps).max() <= 0.2


@pytest.mark.parametrize("way", ["repetitive", "binary", "stacks"])
def test_restarts_and_indexes_change_no_bit(way):
    plain, scanned = clustering_for("C_BIRCH", (1.0,), 2), clustering_for("C_BIRCH", (1.0,), 2, indexes=SCANNED)
    logs = [stream_of(kernel, 60) for kernel in (plain, scanned)]
    blocks = MemoryBlocks()
    steady = RULED[way](logs[1], 1, 0, [21], "steady", MemoryBlocks())
    moving = RULED[way](logs[0], 1, 0, [21], "moving", blocks)
    for stop in range(1, 61):
        panes = range(stop - 21, stop)
        found, wanted = moving.answer(panes, 2)[0], steady.answer(panes, 2)[0]
        assert encode(to_arrow(plain, found)) == encode(to_arrow(scanned, wanted))
        moving.save(stop)
        moving = RULED[way](logs[0], 1, 0, [21], "moving", blocks, moving.snapshot())


def test_other_maintenances_take_clusterings_too():
    kernel = clustering_for("C_BIRCH", (2.0,), 2)
    log = stream_of(kernel, 40)
    tree = Tree(log, 1, 0, 13, "tree", MemoryBlocks())
    tree.close(40)
    for stop in range(13, 41):
        assert kernel.report(tree.answer(range(stop - 13, stop), 2)[0]).counts.sum() == 13 * 40
