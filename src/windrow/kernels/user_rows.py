"""Users' aggregates that cannot merge: their rows are kept."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import live
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows
from windrow.kernels.user import arguments, blamed, finished, instance, kept_or, started

by_time = itemgetter(0)


@dataclass(frozen=True, slots=True)
class UserRows(Irreversible):
    """A user's aggregate without `merge`: a partial is the list of its rows, added one by one when it is answered.

    Rows are added in the order of their times, and of their folding where times are equal.

    >>> from windrow.kernels.partials import identity
    >>> class Steps:
    ...     def init(self): return []
    ...     def add(self, state, value): state.append(value)
    ...     def finish(self, state): return "-".join(state)
    >>> steps = UserRows("steps", Steps)
    >>> partials = identity(steps, 1)
    >>> steps.lift(partials, np.zeros(3, int), Rows(pa.array(["b", "c", "a"]), np.array([20, 30, 10])))
    >>> steps.lower(partials, "steps", pa.string()).values.to_pylist()
    ['a-b-c']
    """

    name: str
    aggregate: type
    fields = (Field("rows", OBJECT, pa.binary(), None, "pickles"),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        aggregate = instance(self.name, self.aggregate)
        codes = live(codes, rows, nulls=True)
        kept = np.flatnonzero(codes >= 0)
        added: dict[int, list] = {}
        for slot, time, values in zip(
            codes[kept].tolist(), rows.times[kept].tolist(), arguments(aggregate, rows.values, kept)
        ):
            added.setdefault(slot, []).append((time, *values))
        _extend(into["rows"], added)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        added: dict[int, list] = {}
        for slot, rows in zip(slots.tolist(), newer["rows"]):
            if rows is not None:
                added.setdefault(slot, []).extend(rows)
        _extend(into["rows"], added)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        aggregate, states = instance(self.name, self.aggregate), []
        with blamed(self.name, "add"):
            for rows in partials["rows"]:
                state = started(self.name, aggregate)
                for _, *values in sorted(rows or (), key=by_time):
                    state = kept_or(state, aggregate.add(state, *values))
                states.append(state)
        return finished(self.name, aggregate, states, type)

    def __str__(self) -> str:
        return f"aggregate {self.name!r}"


def _extend(held: np.ndarray, added: dict[int, list]) -> None:
    """New lists in place of the old ones, which stored blocks may share."""
    for slot, rows in added.items():
        held[slot] = rows if held[slot] is None else held[slot] + rows
