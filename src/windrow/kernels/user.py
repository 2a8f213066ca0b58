"""Aggregates that users write: plain classes with `init`, `add`, `finish`, and perhaps `merge` and `remove`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import AggregateError
from windrow.kernels.columns import live, plain
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows
from windrow.kernels.state_codec import StateCodec

Arguments = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class User(Irreversible):
    """A user's aggregate with `merge`: a partial is its state, None where no row has been added.

    States may be shared with stored blocks, and user code may change what it is given: each call of `lift` or
    `combine` works on copies.

    >>> from windrow.kernels.partials import identity
    >>> class Longest:
    ...     def init(self): return ""
    ...     def add(self, state, text): return max(state, text or "", key=len)
    ...     def merge(self, state, other): return max(state, other, key=len)
    ...     def finish(self, state): return state
    >>> longest = User("longest", Longest)
    >>> partials = identity(longest, 1)
    >>> longest.lift(partials, np.zeros(3, int), Rows(pa.array(["a", None, "bcd"]), np.arange(3)))
    >>> longest.lower(partials, "longest", pa.string()).values.to_pylist()
    ['bcd']
    """

    name: str
    aggregate: type
    fields: tuple[Field, ...] = field(init=False, compare=False)
    calls_code = True

    def __post_init__(self) -> None:
        codec = state_codec(self.name, self.aggregate)
        object.__setattr__(self, "fields", (Field("state", OBJECT, codec.TYPE, None, codec=codec),))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        aggregate, states = instance(self.name, self.aggregate), into["state"]
        codes, owned = live(codes, rows, nulls=True), set[int]()
        kept = np.flatnonzero(codes >= 0)
        with blamed(self.name, "add"):
            for slot, values in zip(codes[kept].tolist(), arguments(aggregate, rows.values, kept)):
                if slot not in owned:
                    owned.add(slot)
                    states[slot] = (
                        started(self.name, aggregate) if states[slot] is None else copy.deepcopy(states[slot])
                    )
                states[slot] = kept_or(states[slot], aggregate.add(states[slot], *values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        aggregate, states, owned = instance(self.name, self.aggregate), into["state"], set[int]()
        with blamed(self.name, "merge"):
            for slot, other in zip(slots.tolist(), newer["state"]):
                if other is None:
                    continue
                # Merging may put parts of `other` into the state, which the next merge then changes.
                other = copy.deepcopy(other)
                if states[slot] is None:
                    states[slot] = other
                else:
                    state = states[slot] if slot in owned else copy.deepcopy(states[slot])
                    states[slot] = kept_or(state, aggregate.merge(state, other))
                owned.add(slot)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        aggregate = instance(self.name, self.aggregate)
        # A finish may change its state, and the slot goes on.
        return finished(self.name, aggregate, [copy.deepcopy(state) for state in partials["state"]], type)

    def __str__(self) -> str:
        return f"aggregate {self.name!r}"


def state_codec(name: str, aggregate: type) -> StateCodec:
    """How the states of a user's aggregate are stored."""
    return StateCodec(f"aggregate {name!r}", instance(name, aggregate), AggregateError)


def check_state(name: str, aggregate: type) -> None:
    """Refuse a class whose states cannot be stored, as far as one without rows can tell."""
    try:
        state = aggregate().init()
    except Exception:  # what it needs to run may not be here; it is blamed where it does run
        return
    codec = state_codec(name, aggregate)
    if state is not None:
        codec.encode(state)


def kept_or(state: Any, returned: Any) -> Any:
    """The state after a call: what the call returned, or the same object where it returned nothing."""
    return state if returned is None else returned


def started(name: str, aggregate: Any) -> Any:
    """A state without rows."""
    with blamed(name, "init"):
        return aggregate.init()


def finished(name: str, aggregate: Any, states: Sequence[Any], type: pa.DataType) -> Lowered:
    """The answers of all states, as Arrow."""
    with blamed(name, "finish"):
        answers = [aggregate.finish(started(name, aggregate) if state is None else state) for state in states]
        return Lowered(pa.array(answers, type))


def instance(name: str, aggregate: type) -> Any:
    """An object of the user's class."""
    with blamed(name, "__init__"):
        return aggregate()


def arguments(aggregate: Any, values: pa.Array | None, kept: np.ndarray) -> list[Arguments]:
    """What `add` gets for each of the rows `kept`: a struct is spread unless `add` takes a single value."""
    if values is None:
        return [()] * len(kept)
    values = plain(values).take(pa.array(kept))
    if pa.types.is_struct(values.type) and not _takes_one(aggregate.add):
        return list(zip(*(column.to_pylist() for column in values.flatten())))
    return [(value,) for value in values.to_pylist()]


def _takes_one(add: Callable[..., Any]) -> bool:
    """Whether `add` takes one value beside the state."""
    kinds = [parameter.kind for parameter in inspect.signature(add).parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Parameter.VAR_POSITIONAL not in kinds and sum(kind in positional for kind in kinds) == 2


@contextmanager
def blamed(name: str, method: str) -> Iterator[None]:
    """Turn whatever user code raises into an error that names the aggregate and the method."""
    try:
        yield
    except AggregateError:
        raise
    except Exception as error:
        raise AggregateError(f"aggregate {name!r}: {method} failed: {type(error).__name__}: {error}") from error
