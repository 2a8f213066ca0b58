"""A function that remembers, as an operator: events in order of time in, the rows that a user's class gives out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.operators.changes import NEVER, Changes
from windrow.operators.given_rows import RefusedEvents
from windrow.operators.many_steps import ManySteps
from windrow.operators.row_table import RowTable
from windrow.operators.single_steps import SingleSteps
from windrow.plan.nodes.changes import Apply
from windrow.storage.blocks import Blocks, Snapshot


class FunctionRows:
    """Gives each key a slot, has the class told of its events, and gives its rows, which only come.

    Keys that the class is done with are forgotten when there are many of them.
    """

    def __init__(self, node: Apply, code: type, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        snapshot = snapshot or {}
        self._places = [node.child.names.index(key) for key in node.keys]
        types = [node.child.columns[place].type for place in self._places]
        self._keys = RowTable(types, (), f"{family}.keys", blocks, snapshot.get("keys"))
        steps = ManySteps if hasattr(code, "step_many") else SingleSteps
        self._steps: ManySteps | SingleSteps = steps(node, code, f"{family}.states", blocks, snapshot.get("states"))

    def take_refused(self) -> list[RefusedEvents]:
        """The events that the class has failed with since they were last asked for."""
        refused, self._steps.refused = self._steps.refused, []
        return refused

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._steps.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if len(changes) and int(changes.weights.max()) > 1:
            changes = changes.take(np.repeat(np.arange(len(changes)), changes.weights))
        slots = self._keys.slots_of([changes.columns[place] for place in self._places], len(changes))
        given = self._steps.run(slots, changes, len(self._keys), clock)
        times, rows = given.times, len(given.times)
        out = (*self._keys.columns_of(given.slots), *given.columns)
        if self._keys.crowded:
            kept = self._keys.sweep(self._steps.holds(len(self._keys)))
            if kept is not None:
                self._steps.sweep(kept)
        return Changes(times, times, np.full(rows, NEVER), np.ones(rows, np.int64), out)

    def save(self, version: int) -> None:
        self._keys.save(version)
        self._steps.save(version, len(self._keys))

    def snapshot(self) -> Snapshot:
        return {"keys": self._keys.snapshot(), "states": self._steps.snapshot()}
