"""Partials that cannot forget: the values of every group are kept, and folded over the instants at which it changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, Rows, take
from windrow.kernels.edge_value import EdgeValue
from windrow.kernels.user import User
from windrow.operators.group_partials import GroupPartials
from windrow.operators.held_entries import HeldEntries, Ranking
from windrow.operators.instants import Instants
from windrow.operators.interval_fold import fold_intervals
from windrow.operators.merge_fold import fold_in_order
from windrow.storage.blocks import Blocks, Snapshot


class HeldValues:
    """The values of each group, and its last fold.

    That is kept as it was shown: folded again in another order a float could differ in its last bit, and a `-` must
    take away what its `+` brought.
    """

    def __init__(
        self,
        kernel: Kernel,
        type: pa.DataType,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        in_order: bool = False,
    ) -> None:
        """Of rows that leave `in_order`, as they came, not all are kept where the answer is drawn from one of them."""
        self._kernel = kernel
        last = None if snapshot is None else snapshot["last"]
        self._last = GroupPartials(kernel, f"{family}.last", blocks, last)
        latest = isinstance(kernel, EdgeValue) and kernel.latest
        ranking = kernel if in_order and isinstance(kernel, Ranking) else None
        self._entries = HeldEntries([type], family, blocks, snapshot, latest, ranking)

    @property
    def nbytes(self) -> int:
        return self._entries.nbytes + self._last.nbytes

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        assert rows.values is not None
        before = self._last.of(pairs.slots[pairs.firsts])
        (values,), order, there = self._entries.follow(pairs, rows, [rows.values], weights)
        fold = fold_in_order if isinstance(self._kernel, User) else fold_intervals
        after = fold(self._kernel, replace(order, values=values), there, len(pairs))
        self.show(pairs, after)
        return before, after

    def show(self, pairs: Instants, states: Fields) -> None:
        """The rows of the groups are drawn from these `states`, one for each pair, though values say others."""
        self._last.put(pairs.slots[pairs.lasts], take(states, pairs.lasts))

    def sweep(self, kept: np.ndarray) -> None:
        """Number the groups anew; those that are gone have no values."""
        self._last.sweep(kept)
        self._entries.sweep(kept)

    def save(self, version: int, groups: int) -> None:
        self._entries.save(version)
        self._last.save(version, groups)

    def snapshot(self) -> Snapshot:
        return {"last": self._last.snapshot(), **self._entries.snapshot()}
