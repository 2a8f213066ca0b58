"""A function that is told many events of many keys at once, whose states are columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import FunctionError
from windrow.operators.changes import Changes
from windrow.operators.function_states import ColumnStates
from windrow.operators.given_rows import GivenRows, RefusedEvents, as_columns, failed, made, told_events, what_of
from windrow.plan.nodes.changes import Apply
from windrow.storage.blocks import Blocks, Snapshot

_NONE = np.empty(0, np.int64)


class ManySteps:
    """Calls `step_many` once for all events up to a clock."""

    def __init__(self, node: Apply, code: type, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._node, self._function = node, made(node, code)
        self.refused: list[RefusedEvents] = []
        try:
            first = self._function.init()
        except Exception as error:
            raise failed(node, "init", error) from error
        self._states = ColumnStates(what_of(node), first, family, blocks, snapshot)

    def run(self, slots: np.ndarray, changes: Changes, keys: int, clock: int) -> GivenRows:
        """Tell the class of events, of which event i has the key at `slots[i]`, of so many keys."""
        states = self._states.grow(keys)
        if not len(changes):
            return GivenRows(_NONE, _NONE, as_columns(self._node, [[]] * len(self._node.returns)))
        try:
            given = self._function.step_many(changed := dict(states), slots, told_events(self._node, changes))
        except Exception as error:
            raise failed(self._node, "step_many", error) from error
        self._states.touch(slots)
        self._states.take(what_of(self._node), states, changed)
        where, columns = self._checked(given, len(changes))
        if len(where) > 1 and (np.diff(where) < 0).any():
            order = np.argsort(where, kind="stable")
            where, columns = where[order], [column.take(pa.array(order)) for column in columns]
        return GivenRows(changes.times[where], slots[where], columns)

    @property
    def nbytes(self) -> int:
        return self._states.nbytes

    def holds(self, keys: int) -> np.ndarray:
        """Which keys have a state: once they have come, all."""
        return np.ones(keys, bool)

    def sweep(self, kept: np.ndarray) -> None:
        raise TypeError("keys of step_many stay")

    def save(self, version: int, keys: int) -> None:
        self._states.grow(keys)
        self._states.save(version)

    def snapshot(self) -> Snapshot:
        return self._states.snapshot()

    def _checked(self, given: Any, events: int) -> tuple[np.ndarray, list[pa.Array]]:
        """The places and the columns of what the class gave."""
        returns = self._node.returns
        if given is None:
            return _NONE, as_columns(self._node, [[]] * len(returns))
        if not isinstance(given, tuple) or len(given) != 2:
            raise FunctionError(f"{what_of(self._node)}: step_many gives None, or a pair: places and columns")
        places, columns = given
        if isinstance(columns, dict):
            columns = [columns.get(column.name) for column in returns] if len(columns) == len(returns) else []
        named = list(columns)
        where = np.asarray(places)
        if where.dtype.kind not in "iu" and len(where):
            raise FunctionError(f"{what_of(self._node)}: the first that step_many gives are places of events")
        where = where.astype(np.int64)
        lengths = {-1 if column is None else len(column) for column in named}
        if len(named) != len(returns) or lengths - {len(where)}:
            wanted = ", ".join(column.name for column in returns)
            raise FunctionError(f"{what_of(self._node)}: step_many gives a value of {wanted} for each of its places")
        if len(where) and (where.min() < 0 or where.max() >= events):
            raise FunctionError(f"{what_of(self._node)}: step_many gives a place beyond its {events} events")
        return where, as_columns(self._node, named)
