"""Users' aggregates that cannot merge, or can take rows out again: their rows are kept."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from windrow.kernels.collected import PieceCodec, all_rows, append_pieces, lift_pieces
from windrow.kernels.columns import live
from windrow.kernels.kernel import OBJECT, Field, Fields, KernelDefaults, Lowered, Rows, integer
from windrow.kernels.user import Arguments, arguments, blamed, finished, instance, kept_or, started, state_codec
from windrow.plan.aggregate_plugin import Abilities

ROWS, STATE, COUNT = "rows", "state", "n"


@dataclass(frozen=True)
class UserRows(KernelDefaults):
    """A user's aggregate whose partial is the rows, which are added one by one when it is answered.

    Rows are added in the order of their times, and of their folding where times are equal. Where a window is kept
    folded, its partial is a state instead (see `running`): rows that enter are added to it, and, if the class has
    `remove`, rows that leave are removed, so that a slide calls the class once for each row that came and went.

    >>> from windrow.kernels.partials import identity
    >>> class Steps:
    ...     def init(self): return []
    ...     def add(self, state, value): state.append(value)
    ...     def finish(self, state): return "-".join(state)
    >>> steps = UserRows("steps", Steps, pa.string())
    >>> partials = identity(steps, 1)
    >>> steps.lift(partials, np.zeros(3, int), Rows(pa.array(["b", "c", "a"]), np.array([20, 30, 10])))
    >>> steps.lower(partials, "steps", pa.string()).values.to_pylist()
    ['a-b-c']
    """

    name: str
    aggregate: type
    type: pa.DataType
    calls_code = True

    @cached_property
    def reversible(self) -> bool:
        return Abilities.of(self.aggregate).removes

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        codec = PieceCodec(self.type)
        return (Field(ROWS, OBJECT, codec.type, None, codec=codec),)

    @cached_property
    def running(self) -> RunningUser:
        """The kernel of a window that is kept folded."""
        return RunningUser(self)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        lift_pieces(into[ROWS], live(codes, rows, nulls=True), rows.times, rows.values)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        if STATE in into:
            self._change(into, slots, newer, 1)
            return
        append_pieces(into[ROWS], slots, newer[ROWS])

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        """Take rows out of the states of windows that are kept folded."""
        if STATE not in into or not self.reversible:
            raise TypeError(f"{self} keeps rows, which are not taken back: fold its panes again instead")
        self._change(into, slots, older, -1)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        if STATE not in partials:
            every, partials = np.arange(len(partials[ROWS])), self.states(len(partials[ROWS])) | partials
            self._change(partials, every, partials, 1)
        # A finish may change its state, and the slot goes on.
        states = [copy.deepcopy(state) for state in partials[STATE]]
        return finished(self.name, instance(self.name, self.aggregate), states, type)

    def states(self, n: int) -> Fields:
        """`n` states without rows."""
        return {COUNT: np.zeros(n, np.int64), STATE: np.full(n, None, OBJECT)}

    def _change(self, into: Fields, slots: np.ndarray, moved: Fields, sign: int) -> None:
        """Call `add`, or with a `sign` of -1 `remove`, for each row that moved, on copies: answers may share states."""
        aggregate, states, owned = instance(self.name, self.aggregate), into[STATE], set[int]()
        call = aggregate.add if sign > 0 else aggregate.remove
        with blamed(self.name, "add" if sign > 0 else "remove"):
            for slot, values in self._calls(aggregate, slots, moved[ROWS]):
                state = states[slot]
                if slot not in owned:
                    owned.add(slot)
                    state = started(self.name, aggregate) if state is None else copy.deepcopy(state)
                states[slot] = kept_or(state, call(state, *values))
                into[COUNT][slot] += sign
        for slot in owned:
            if sign < 0 and into[COUNT][slot] == 0:  # it forgets without a trace
                states[slot] = None

    def _calls(self, aggregate: object, slots: np.ndarray, held: np.ndarray) -> Iterator[tuple[int, Arguments]]:
        """Each row's slot and arguments, in order of the partials and in each of them of time."""
        lengths, times, values = all_rows(held)
        if values is None:
            return iter(())
        owners = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((times, owners))
        return zip(slots[owners].tolist(), arguments(aggregate, values, order))

    def __str__(self) -> str:
        return f"aggregate {self.name!r}"


@dataclass(frozen=True)
class RunningUser(KernelDefaults):
    """The partials of windows that are kept folded, as states of the user's class; what enters and leaves are rows."""

    rows: UserRows
    fields: tuple[Field, ...] = field(init=False, compare=False)
    calls_code = True

    def __post_init__(self) -> None:
        codec = state_codec(self.rows.name, self.rows.aggregate)
        object.__setattr__(self, "fields", (integer(COUNT), Field(STATE, OBJECT, codec.TYPE, None, codec=codec)))

    @property
    def reversible(self) -> bool:
        return self.rows.reversible

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        kept = {ROWS: np.full(len(into[COUNT]), None, OBJECT)}
        self.rows.lift(kept, codes, rows)
        self.combine(into, np.arange(len(into[COUNT])), kept)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        self.rows.combine(into, slots, newer)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        self.rows.remove(into, slots, older)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return self.rows.lower(partials, answer, type)
