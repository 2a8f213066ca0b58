"""Nested windows over the panes of a log, read from one chain in memory."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, identity
from windrow.kernels.footprint import bytes_of
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import MemoryBlocks, Snapshot
from windrow.windows.maintenance import OneByOne, PaneSource
from windrow.windows.stairs import Stairs


class NestedFold(OneByOne):
    """Windows that nest, whose slides divide each other: each is made of the one below it by one merge.

    The panes are in the log anyway, so the chain is in memory alone; where it is not, at the start and when another
    worker takes over a shard, it is built again from them. A worker that goes on from what it has saved itself goes on
    with its chain. What a level has come to depends on the order of its panes and not on how they were merged, for the
    kernels that this is chosen for.
    """

    def __init__(self, panes: PaneSource, levels: Levels, snapshot: Snapshot | None = None) -> None:
        assert levels.divide, "a level must slide with all finer ones"
        self._panes, self._levels = panes, levels
        self._level_of = {levels.reach(level): level for level in range(len(levels))}
        self._version: int | None = (snapshot or {}).get("version")  # since whose save the chain is as it is
        self._begin()

    def _begin(self) -> None:
        """Have an empty chain."""
        kernels = dict(zip(self._panes.names, self._panes.kernels))
        self._stairs = Stairs(self._levels, kernels, "stairs", MemoryBlocks())
        self._fed: int | None = None  # panes before it are in the chain
        self._told: dict[int, tuple[int, list[Fields]]] = {}

    def close(self, before: int) -> None:
        pass

    def answer(self, panes: range, width: int) -> list[Fields]:
        """As every maintenance answers; `panes` is the window of one of the levels."""
        level = self._level_of[panes.stop - panes.start]
        if self._fed is None:
            widest = self._levels.windows[-1]
            self._fed = panes.stop - self._levels.reach(len(self._levels) - 1) - widest.slide_us
        if self._fed < panes.stop:
            self._version = None
            self._stairs.add(self._panes.between(self._fed, panes.stop))
            self._stairs.advance(panes.stop, width, self._tell)
            self._stairs.came, self._stairs.went = [], []  # the references to groups are counted by the log
            self._fed = panes.stop
        end, fields = self._told.get(level, (None, []))
        return fields if end == panes.stop else [identity(kernel, width) for kernel in self._panes.kernels]

    def release(self, slots: np.ndarray) -> None:
        """Nothing to do: what is left of these groups leaves the chain before a level is told again."""

    def drop(self, before: int) -> None:
        pass

    def adopt(self, older: NestedFold) -> None:
        """Go on with the chain of an `older` view, if that has not changed since it was saved as this was opened.

        The older one is left without: were it asked again, as after a batch that failed, it would build another.
        """
        if self._version is None or older._version != self._version or older._panes.names != self._panes.names:
            return
        self._stairs, self._fed, self._told = older._stairs, older._fed, older._told
        older._version = None
        older._begin()

    @property
    def nbytes(self) -> int:
        told = sum(bytes_of(part) for _, fields in self._told.values() for part in fields)
        return self._stairs.nbytes + told

    def save(self, version: int) -> None:
        self._version = version

    def snapshot(self) -> Snapshot:
        return {"version": self._version}

    def _tell(self, level: int, end: int, fields: list[Fields]) -> None:
        self._told[level] = (end, fields)
