"""The value of a sub-query that should have one row: NULL where it has more, and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.operators.operator import Stateless
from windrow.plan.nodes.changes import Single


class SingleRows(Stateless):
    """Puts NULL in the place of a value where the count of rows beside it is more than one."""

    def __init__(self, node: Single) -> None:
        self._count, self._value = (node.names.index(name) for name in (node.count, node.value))
        self.several = 0
        """How often more than one row has come."""

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        several = changes.columns[self._count].to_numpy(zero_copy_only=False) > 1
        if not several.any():
            return changes
        self.several += int((several & (changes.weights > 0)).sum())
        columns = list(changes.columns)
        places = pa.array(np.arange(len(changes)), mask=several)
        columns[self._value] = columns[self._value].take(places)
        return changes.with_columns(columns)
