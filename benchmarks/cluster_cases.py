"""Streams and windows of the clustering benchmark: SDG and SDC of section 4, and real positions where they are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from windrow.clustering import Clustering
from windrow.kernels import Kernel, Rows, identity, kernel_for
from windrow.plan.nodes.aggregates import Partial
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.contexts import Context
from windrow.windows.daba import Daba
from windrow.windows.entries import Entries
from windrow.windows.exclude import Exclude
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.refold import Refold
from windrow.windows.repetitive_merge import RepetitiveMerge
from windrow.windows.running import Subtract
from windrow.windows.two_stacks import TwoStacks

CELL = 10.0
SUBTRACT, EXCLUDE, REFOLD = "subtract", "exclude", "refold"
REPETITIVE, BINARY, STACKS, DABA = "repetitive", "binary", "two stacks", "DABA"
RETAINED = "repetitive, retained"


class RetainedRepetitiveMerge(RepetitiveMerge):
    """As the paper has it: old windows are retained, so that each of a slide's merges is preceded by a copy."""

    def _push(self, cell: int, leaf: Context | None) -> None:
        retained = [self.contexts.hold(window) for window in self._open.values()]
        super()._push(cell, leaf)
        for window in retained:
            self.contexts.release(window)


RULED = {
    RETAINED: RetainedRepetitiveMerge,
    REPETITIVE: RepetitiveMerge,
    BINARY: SlidingBinaryMerge,
    STACKS: TwoStacks,
    DABA: Daba,
    EXCLUDE: Exclude,
}
COUNT = kernel_for(Partial("count"))


@dataclass(frozen=True)
class Stream:
    """Panes of a second with their partials, and beside them the points that they were made of."""

    kernel: Kernel
    entries: Entries
    points: np.ndarray
    panes: np.ndarray
    truth: np.ndarray

    def between(self, first: int, stop: int) -> np.ndarray:
        return (self.panes >= first) & (self.panes < stop)


def sdg(panes: int, groups: int = 20) -> Stream:
    """Counts of 20 groups in each pane."""
    counts = np.random.default_rng(1).integers(1, 50, panes * groups)
    every = np.repeat(np.arange(panes), groups)
    entries = Entries(every, np.tile(np.arange(groups), panes), ({"n": counts},))
    return Stream(COUNT, entries, counts, every, entries.slots)


def sdc_points(cells: int, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Points within a fifth of a cell's side from the centres of the cells of a square, and the cell of each."""
    random = np.random.default_rng(seed)
    cell = random.integers(0, cells, (count, 2))
    angle, way = random.uniform(0, 2 * np.pi, count), CELL / 5 * np.sqrt(random.uniform(0, 1, count))
    points = (cell + 0.5) * CELL + np.column_stack([np.cos(angle) * way, np.sin(angle) * way])
    return points, cell @ np.array([cells, 1])


def sdc(kernel: Clustering, cells: int, panes: int, each: int) -> Stream:
    points, truth = sdc_points(cells, panes * each)
    return clustered(kernel, np.repeat(np.arange(panes), each), points, truth)


class AbsentError(Exception):
    """Data that a measurement needs is not on this machine."""


def positions() -> tuple[np.ndarray, np.ndarray]:
    """Seconds and real positions of players, from a file beside the checkout, or in the folder WINDROW_DATA."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("WINDROW_DATA", beside)) / "soccer_positions.csv.gz"
    if not path.exists():
        raise AbsentError(f"there is no {path}; WINDROW_DATA may name the folder that has it")
    table = pa.csv.read_csv(pa.CompressedInputStream(pa.OSFile(str(path)), "gzip"))
    seconds = np.floor(table["t"].to_numpy()).astype(np.int64)
    _, panes = np.unique(seconds, return_inverse=True)  # the seconds in which there are readings
    return panes, np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()])


def clustered(kernel: Clustering, panes: np.ndarray, points: np.ndarray, truth: np.ndarray) -> Stream:
    known, codes = np.unique(panes, return_inverse=True)
    fields = identity(kernel, len(known))
    columns = pa.StructArray.from_arrays(list(map(pa.array, points.T)), names=list("xyz"[: points.shape[1]]))
    kernel.lift(fields, codes, Rows(columns, np.arange(len(points))))
    return Stream(kernel, Entries(known, np.zeros(len(known), np.int64), (fields,)), points, panes, truth)


def window_over(stream: Stream, way: str, ratio: int) -> Maintenance:
    """A window of `ratio` panes, maintained one way, over pre-computed panes as in the paper."""
    blocks = MemoryBlocks()
    log = PaneLog("panes", {"partial": stream.kernel}, blocks)
    log.add(stream.entries)
    if way in RULED:
        return RULED[way](log, 1, 0, [ratio], "window", blocks)
    return Refold(log) if way == REFOLD else Subtract(log, "window", blocks)


def slide_us(
    stream: Stream, way: str, ratio: int, slides: int, check: Callable[[list, int], None], repeats: int = 3
) -> tuple[float, float, list]:
    """Microseconds of CPU and merges a slide, the best of some runs, and the last answer.

    The window is filled and its answer checked before the clock starts. Two stacks and DABA are measured over a whole
    turn.
    """
    slides, repeats = (ratio, 1) if way in (STACKS, DABA) else (slides, repeats)
    width = int(stream.entries.slots.max()) + 1
    best, merges = np.inf, np.nan
    answer: list = []
    window = window_over(stream, way, ratio)
    for stop in range(1, ratio + 1):
        answer = window.answer(range(stop - ratio, stop), width)
    check(answer, ratio)
    stop = ratio
    for _ in range(repeats):
        counted = getattr(window, "contexts", None)
        before = counted.merges if counted is not None else 0
        started = time.process_time()
        for _ in range(slides // repeats):
            stop += 1
            answer = window.answer(range(stop - ratio, stop), width)
        best = min(best, (time.process_time() - started) / (slides // repeats) * 1e6)
        if counted is not None:
            merges = (counted.merges - before) / (slides // repeats)
    check(answer, stop)
    return best, merges, answer
