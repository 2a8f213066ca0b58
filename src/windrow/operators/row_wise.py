"""Operators that look at one row at a time: a `-` is treated as its `+` was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes, merged
from windrow.operators.operator import Evaluate, Stateless
from windrow.plan.nodes.changes import Project, Select
from windrow.plan.nodes.each_grouping import EachGrouping


def true_rows(condition: pa.Array) -> np.ndarray:
    """Where a condition is true: neither false nor NULL."""
    kept: np.ndarray = condition.fill_null(False).to_numpy(zero_copy_only=False)
    return kept


class SelectRows(Stateless):
    """The rows for which a predicate is true."""

    def __init__(self, node: Select, evaluate: Evaluate) -> None:
        self._predicate, self._names, self._evaluate = node.predicate, node.names, evaluate

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if not len(changes):
            return changes
        return changes.keep(true_rows(self._evaluate(self._predicate, changes.batch(self._names))))


class ProjectRows(Stateless):
    """Other columns of the same rows; a plain name is the column itself."""

    def __init__(self, node: Project, evaluate: Evaluate) -> None:
        self._node, self._evaluate = node, evaluate
        self._places = {name: i for i, name in enumerate(node.child.names)}

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        batch = changes.batch(self._node.child.names)
        columns = []
        for output in self._node.outputs:
            if output.sql in self._places:
                column = changes.columns[self._places[output.sql]]
            else:
                column = self._evaluate(output.sql, batch)
            columns.append(column if column.type == output.type else column.cast(output.type))
        return changes.with_columns(columns)


class GroupingRows(Stateless):
    """Each row once for every grouping, one after the other, with NULL for the keys that a grouping leaves out."""

    def __init__(self, node: EachGrouping) -> None:
        self._sets = node.sets
        self._places = [node.child.names.index(key) for key in node.keys]

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        rows = np.repeat(np.arange(len(changes)), len(self._sets))
        number = np.tile(np.arange(len(self._sets), dtype=np.int32), len(changes))
        repeated = changes.take(rows)
        keys = []
        for place, column in enumerate(self._places):
            left_out = np.array([place not in chosen for chosen in self._sets])
            keys.append(changes.columns[column].take(pa.array(rows, mask=left_out[number])))
        return repeated.with_columns((*repeated.columns, *keys, pa.array(number)))


class UnionAll(Stateless):
    """The rows of both sides, in order of time."""

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        left, right = inputs
        return merged([left, right])
