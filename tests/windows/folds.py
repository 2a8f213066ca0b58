"""All ways to fold panes into windows, over one log, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, Rows, identity, kernel_for
from windrow.plan.nodes.aggregates import Partial
from windrow.storage.blocks import Blocks
from windrow.windows.binary_merge import SlidingBinaryMerge
from windrow.windows.context_maintenance import ContextMaintenance
from windrow.windows.daba import Daba
from windrow.windows.entries import Entries
from windrow.windows.exclude import Exclude
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.refold import Refold
from windrow.windows.repetitive_merge import RepetitiveMerge
from windrow.windows.running import Accumulate, Subtract
from windrow.windows.settle import Settle
from windrow.windows.stacked_spans import StackedSpans
from windrow.windows.tree import Tree
from windrow.windows.two_stacks import TwoStacks

RULED: dict[str, type[ContextMaintenance]] = {
    "repetitive": RepetitiveMerge,
    "binary": SlidingBinaryMerge,
    "stacks": TwoStacks,
    "daba": Daba,
    "exclude": Exclude,
}
"""The ways that work on contexts."""


class Trail:
    """Shows the order in which it was folded."""

    def init(self):
        return ""

    def add(self, state, value):
        return f"{state}{value},"

    def merge(self, state, other):
        return state + other

    def finish(self, state):
        return state


@dataclass(frozen=True)
class Measure:
    """A kernel and what is asked of it."""

    partial: Partial
    answer: str
    type: pa.DataType

    @property
    def kernel(self) -> Kernel:
        return kernel_for(self.partial, {"trail": Trail})

    def lowered(self, fields: Fields) -> list[Any]:
        return self.kernel.lower(fields, self.answer, self.type).values.to_pylist()


COUNT = Measure(Partial("count"), "COUNT", pa.int64())
SUM = Measure(Partial("integer_sum", "x", pa.int64()), "SUM", pa.int64())
TOTAL = Measure(Partial("float_sum", "x", pa.float64()), "SUM", pa.float64())
TRAIL = Measure(Partial("user", "x", pa.int64(), user="trail"), "trail", pa.string())
LARGEST = Measure(Partial("max", "x", pa.int64()), "MAX", pa.int64())
REVERSIBLE = (COUNT, SUM, TOTAL)


def entries_of(measures: Sequence[Measure], rows: Sequence[tuple[int, int, int]]) -> Entries:
    """One entry for each of the rows (pane, slot, value)."""
    panes, slots, values = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    partials = []
    for measure in measures:
        fields = identity(measure.kernel, len(rows))
        given = None if measure.partial.argument is None else pa.array(values).cast(measure.partial.type)
        measure.kernel.lift(fields, np.arange(len(rows)), Rows(given, panes))
        partials.append(fields)
    return Entries(panes, slots, tuple(partials))


class Bench:
    """A log and a maintenance over it, which can be saved and opened again."""

    def __init__(self, way: str, measures: Sequence[Measure], count: int | None, blocks: Blocks) -> None:
        self.way, self.measures, self._count, self._blocks = way, measures, count, blocks
        self.log = self._log(None)
        self.fold = self._fold(None)
        self._version = 0

    def answers(self, panes: range, width: int) -> list[list[Any]]:
        fields = self.fold.answer(panes, width)
        return [measure.lowered(own)[:width] for measure, own in zip(self.measures, fields)]

    def reopen(self, adopt: bool) -> None:
        """Save, and go on from the snapshot, as another worker does or the same one."""
        self._version += 1
        self.log.save(self._version)
        self.fold.save(self._version)
        older = self.log, self.fold
        self.log = self._log(self.log.snapshot())
        self.fold = self._fold(self.fold.snapshot())
        if adopt:
            self.log.adopt(older[0])
            if hasattr(self.fold, "adopt"):
                self.fold.adopt(older[1])

    def _log(self, snapshot: dict | None) -> PaneLog:
        return PaneLog(
            "panes", {str(i): measure.kernel for i, measure in enumerate(self.measures)}, self._blocks, snapshot
        )

    def _fold(self, snapshot: dict | None) -> Maintenance:
        match self.way:
            case "refold":
                return Refold(self.log)
            case "accumulate":
                return Accumulate(self.log, "fold", self._blocks, snapshot)
            case "settle":
                return Settle(self.log, "fold", self._blocks, snapshot)
            case "subtract":
                return Subtract(self.log, "fold", self._blocks, snapshot)
            case "spans":
                assert self._count is not None
                return StackedSpans(self.log, 1, 0, self._count, "fold", self._blocks, snapshot)
        if self.way in RULED:
            return RULED[self.way](self.log, 1, 0, [self._count], "fold", self._blocks, snapshot)
        return Tree(self.log, 1, 0, self._count, "fold", self._blocks, snapshot)
