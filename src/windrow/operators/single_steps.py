"""A function that is told one event after the other: each changes the state of its key, and may give rows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import FunctionError
from windrow.kernels.state_codec import StateCodec
from windrow.operators.changes import Changes
from windrow.operators.function_states import ObjectStates
from windrow.operators.given_rows import (
    GivenRows,
    RefusedEvents,
    as_columns,
    event_class,
    failed,
    made,
    python_values,
    told_events,
    what_of,
)
from windrow.plan.instants import shown_instant
from windrow.plan.nodes.changes import Apply
from windrow.storage.blocks import Blocks, Snapshot

_WOKEN, _TOLD = 0, 1
"""At one instant keys are woken first, and told of events then."""


class SingleSteps:
    """Calls `step` for each event, and `on_clock` when a key is to be woken, in order of time.

    Rows are in order of time whatever the batches: those of keys that are woken at an instant in the order of keys,
    then those of its events as they came.
    """

    def __init__(self, node: Apply, code: type, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._node, self._function = node, made(node, code)
        codec = StateCodec(what_of(node), self._function, FunctionError)
        self._states = ObjectStates(codec, family, blocks, snapshot)
        self._wakes, self._ends = hasattr(self._function, "wake"), hasattr(self._function, "done")
        self._names = [column.name for column in node.returns]
        self._known = frozenset(self._names)
        self._told: list[str] = []
        self._waiting: list[tuple[int, int]] = []
        self._line_up()
        self._since: dict[int, tuple[bytes | None, list[tuple[str, Any]]]] = {}
        self._out: list[tuple[int, int, int, int, tuple[Any, ...]]] = []
        self._refused: list[tuple[int, str]] = []
        self.refused: list[RefusedEvents] = []

    def run(self, slots: np.ndarray, changes: Changes, keys: int, clock: int) -> GivenRows:
        """Tell the class of events, of which event i has the key at `slots[i]`, and wake keys up to `clock`."""
        told = told_events(self._node, changes)
        self._told = told.schema.names
        events = map(event_class(self._told)._make, zip(*map(python_values, told.columns)))
        dues, tell = self._states.dues, self._tell_or_reject if self._node.rejects else self._tell
        for number, (slot, time, event) in enumerate(zip(slots.tolist(), changes.times.tolist(), events)):
            while dues and dues.get(slot, time + 1) <= time:
                self._wake(slot)
            tell(slot, time, number, event)
        if self._refused:
            numbers = np.array([number for number, _ in self._refused])
            causes = [cause for _, cause in self._refused]
            self.refused.append(RefusedEvents(changes.times[numbers], causes, told.take(pa.array(numbers))))
            self._refused.clear()
        while self._waiting and self._waiting[0][0] <= clock:
            due, slot = self._waiting[0]
            if dues.get(slot) == due:
                self._wake(slot)
            else:  # it was woken before, or wants another time
                heapq.heappop(self._waiting)
        self._since.clear()
        return self._given()

    @property
    def nbytes(self) -> int:
        return self._states.nbytes

    def holds(self, keys: int) -> np.ndarray:
        """Which keys have a state."""
        return np.fromiter(map(self._states.has, range(keys)), bool, keys)

    def sweep(self, kept: np.ndarray) -> None:
        """Keys have been numbered anew: slot i was `kept[i]`."""
        self._states.sweep(kept)
        self._line_up()

    def save(self, version: int, keys: int) -> None:
        self._states.save(version, keys)

    def snapshot(self) -> Snapshot:
        return self._states.snapshot()

    def _line_up(self) -> None:
        self._waiting = [(due, slot) for slot, due in self._states.dues.items()]
        heapq.heapify(self._waiting)

    def _begun(self, slot: int) -> Any:
        """The state of a key, which may be its first."""
        state = self._states.get(slot)
        if state is None:
            try:
                state = self._function.init()
            except Exception as error:
                raise failed(self._node, "init", error) from error
            if state is None:
                raise FunctionError(f"{what_of(self._node)}: init gives None, which no step could change")
            self._states.put(slot, state)
        return state

    def _tell(self, slot: int, time: int, number: int, event: Any) -> None:
        state = self._begun(slot)
        try:
            rows = self._rows(self._function.step(state, event))
        except FunctionError:
            raise
        except Exception as error:
            told = f"; events have {', '.join(self._told)}" if isinstance(error, AttributeError) else ""
            told += f"; the event is of {shown_instant(time)}, and errors='reject' leaves such ones out"
            raise failed(self._node, "step", error, told) from error
        self._after(slot, state, time)
        if rows:
            self._out += [(time, _TOLD, number, slot, row) for row in rows]

    def _tell_or_reject(self, slot: int, time: int, number: int, event: Any) -> None:
        """Tell of an event; one that the class fails with has not been, and its key is as it was before.

        A step may have changed half of a state. So the state since when all went well is kept as bytes, with what came
        after it: that is told again. Each failure begins anew, so nothing is told more than twice.
        """
        state = self._begun(slot)
        if slot not in self._since:
            self._since[slot] = (self._states.bytes_of(slot), [])
        stored, since = self._since[slot]
        try:
            rows = self._rows(self._function.step(state, event))
        except FunctionError:  # rows of other columns are no matter of an event
            raise
        except Exception as error:
            assert stored is not None
            state = self._states.state_of(stored)
            for method, argument in since:
                self._rows(getattr(self._function, method)(state, argument))
            self._states.put(slot, state)
            self._since[slot] = (self._states.bytes_of(slot), [])
            self._refused.append((number, f"{self._node.function}: {type(error).__name__}: {error}"))
            return
        since.append(("step", event))
        self._after(slot, state, time)
        self._out += [(time, _TOLD, number, slot, row) for row in rows]

    def _wake(self, slot: int) -> None:
        due = self._states.dues.pop(slot)
        state = self._begun(slot)
        try:
            rows = self._rows(self._function.on_clock(state, due))
        except FunctionError:
            raise
        except Exception as error:
            raise failed(self._node, "on_clock", error) from error
        if slot in self._since:
            self._since[slot][1].append(("on_clock", due))
        self._after(slot, state, due)
        self._out += [(due, _WOKEN, slot, slot, row) for row in rows]

    def _after(self, slot: int, state: Any, time: int) -> None:
        """Ask when the key is to be woken, and whether it is done."""
        if self._ends and self._asked("done", state):
            self._states.put(slot, None)
            self._since.pop(slot, None)
            return
        if not self._wakes:
            return
        due = self._asked("wake", state)
        if due is None:
            self._states.dues.pop(slot, None)
            return
        if due <= time:
            raise FunctionError(f"{what_of(self._node)}: wake gives {due}, which is not after {time}")
        due = int(due)
        if self._states.dues.get(slot) != due:
            self._states.dues[slot] = due
            heapq.heappush(self._waiting, (due, slot))

    def _asked(self, method: str, state: Any) -> Any:
        try:
            return getattr(self._function, method)(state)
        except Exception as error:
            raise failed(self._node, method, error) from error

    def _rows(self, given: Any) -> Sequence[tuple[Any, ...]]:
        """The rows that a call gave: none, one, or several."""
        if given is None:
            return ()
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise self._no_row(given)
        rows: Iterable[Any] = (given,) if isinstance(given, tuple | dict) else given
        return [self._row(row) for row in rows]

    def _row(self, row: Any) -> tuple[Any, ...]:
        if isinstance(row, dict):
            if not row.keys() <= self._known:
                raise self._no_row(row)
            row = tuple(map(row.get, self._names))
        if not isinstance(row, tuple | list) or len(row) != len(self._names):
            raise self._no_row(row)
        return tuple(row)

    def _no_row(self, given: Any) -> FunctionError:
        names = ", ".join(self._names)
        way_out = f"give ({names}{',' if len(self._names) == 1 else ''}), a list of such rows, or None"
        return FunctionError(f"{what_of(self._node)}: {given!r} is no row of {names}: {way_out}")

    def _given(self) -> GivenRows:
        """All rows since the last call, in order."""
        out, self._out = self._out, []
        if not out:
            none = np.empty(0, np.int64)
            return GivenRows(none, none, as_columns(self._node, [[]] * len(self._names)))
        times, kinds, numbers, slots, rows = zip(*out)
        order = np.lexsort((numbers, kinds, times))
        columns = as_columns(self._node, list(zip(*rows)))
        taken = [column.take(pa.array(order)) for column in columns]
        return GivenRows(np.array(times, np.int64)[order], np.array(slots, np.int64)[order], taken)
