"""Answers of EMIT WHEN: the row of a group when its condition begins to hold, and again only after it did not."""

from __future__ import annotations

import numpy as np

from windrow.operators.changes import Changes
from windrow.operators.row_table import RowTable
from windrow.operators.row_wise import true_rows
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.storage.blocks import Blocks, Snapshot


class Beginnings:
    """Which groups fulfil a condition, and when that begins.

    The last columns of a row are the condition and the keys of its group, which has one row at a time. One that leaves
    does not fulfil it.
    """

    def __init__(self, query: ChangePlan, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._shown = len(query.shown)
        types = query.root.types[self._shown + 1 :]
        self._groups = RowTable(types, ("holds",), family, blocks, snapshot)

    @property
    def nbytes(self) -> int:
        return self._groups.nbytes

    def of(self, changes: Changes) -> Changes:
        """The rows with which the condition begins, of net `changes` in order."""
        if not len(changes):
            return changes.with_columns(changes.columns[: self._shown])
        slots = self._groups.slots_of(changes.columns[self._shown + 1 :], len(changes))
        holds = self._groups.side["holds"]
        order = np.lexsort((changes.weights > 0, changes.times, slots))
        own, times = slots[order], changes.times[order]
        last = np.append((own[1:] != own[:-1]) | (times[1:] != times[:-1]), True)
        order = order[last]  # what each group has at each instant: a row that comes stands behind the one that goes
        own = slots[order]
        fulfilled = (changes.weights[order] > 0) & true_rows(changes.columns[self._shown])[order]
        first = np.append(True, own[1:] != own[:-1])
        before = np.where(first, holds[own] != 0, np.append(False, fulfilled[:-1]))
        ends = np.append(first[1:], True)
        holds[own[ends]] = fulfilled[ends]
        self._groups.touch(slots)
        if self._groups.crowded:
            self._groups.sweep(self._groups.side["holds"] != 0)
        begun = np.sort(order[fulfilled & ~before])
        return changes.take(begun).with_columns([column.take(begun) for column in changes.columns[: self._shown]])

    def save(self, version: int) -> None:
        self._groups.save(version)

    def snapshot(self) -> Snapshot:
        return self._groups.snapshot()
