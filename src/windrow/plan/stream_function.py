"""What a function that remembers is: what its class must have, what it may have, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.errors import SettingsError, WindrowError
from windrow.expressions.types import declared_type
from windrow.language.script import parse_columns
from windrow.plan.catalog import UserFunction
from windrow.plan.nodes.change_plan import leading_names
from windrow.plan.nodes.changes import Column
from windrow.plan.nodes.emission import INSERTS

STOP, REJECT = "stop", "reject"
TIME_US = "time_us"
"""The time of an event, in microseconds since the epoch, beside the columns that it has."""

_WINDOWS = ("tumble", "hop", "cumulate", "session")


class StreamFunctionPlugin(Protocol):
    """A user's function: a class, made without arguments, that is told the events of each key in order of time.

    It may have more: `Waking`, `Forgetting`, and `dump` and `load` as an aggregate has; and as attributes `returns`,
    the columns of its rows as in CREATE STREAM, `errors`, and `state = "pickle"`.
    """

    def init(self) -> Any:
        """The state of a key before its first event: something that `step` can change, such as a dict or a list."""

    def step(self, state: Any, event: Any) -> Any:
        """Change the state by an event, and give rows: None, one as a tuple or a dict, or several in a list.

        The event has its columns as attributes, and `time_us`. It may as well be a generator of rows.
        """


class Waking(StreamFunctionPlugin, Protocol):
    """A function that has something to say when nothing comes."""

    def wake(self, state: Any) -> int | None:
        """When the key is to be woken, in microseconds since the epoch, or None. Asked after each step."""

    def on_clock(self, state: Any, time_us: int) -> Any:
        """Change the state of a key that is woken, before its events at `time_us`, and give rows as `step` does."""


class Forgetting(StreamFunctionPlugin, Protocol):
    """A function whose keys come to an end."""

    def done(self, state: Any) -> bool:
        """Whether the state may be forgotten; the key's next event begins with `init`. Asked after a step."""


class ManyStepsPlugin(Protocol):
    """A function that is told many events of many keys at once: its states are columns of numbers."""

    def init(self) -> Mapping[str, Any]:
        """The state of a key before its first event: a number, a truth, or an array of numbers for each column."""

    def step_many(self, states: Mapping[str, np.ndarray], keys: np.ndarray, events: pa.RecordBatch) -> Any:
        """Change states by events, which are in order of time; the state of event i is at place `keys[i]`.

        Gives None, or a pair: of each row the place of the event that it is of, and the columns of the rows.
        """


def read_function(name: object, implementation: object, returns: object = None, errors: object = None) -> UserFunction:
    """A function as it is registered, unless it cannot be one."""
    if not isinstance(name, str) or not name.isidentifier() or name.lower() in _WINDOWS:
        raise SettingsError(f"a stream function cannot be called {name!r}: give it another name, such as 'hits'")

    def has(method: str) -> bool:
        return callable(getattr(implementation, method, None))

    what = f"stream function {name!r}"
    if not isinstance(implementation, type):
        raise SettingsError(f"{what} is no class, but {type(implementation).__name__}")
    if not has("init") or has("step") == has("step_many"):
        raise SettingsError(f"{what} needs init, and either step or step_many")
    if has("wake") != has("on_clock"):
        there, missing = ("wake", "on_clock") if has("wake") else ("on_clock", "wake")
        raise SettingsError(f"{what} has {there} and no {missing}: wake says when on_clock is due")
    rejects = _rejects(what, errors if errors is not None else getattr(implementation, "errors", STOP))
    alone = [method for method in ("wake", "done", "dump") if has(method)] + (["errors='reject'"] if rejects else [])
    if has("step_many") and alone:
        raise SettingsError(f"{what} is told many events at once, and has {alone[0]}: that goes with step")
    columns = _columns(what, returns if returns is not None else getattr(implementation, "returns", None))
    return UserFunction(implementation, columns, rejects)


def _rejects(what: str, errors: object) -> bool:
    if errors not in (STOP, REJECT):
        raise SettingsError(f"{what}: errors={errors!r} is none of 'stop' and 'reject'")
    return errors == REJECT


def _columns(what: str, returns: object) -> tuple[Column, ...]:
    """The columns that are written as in CREATE STREAM."""
    way_out = "returns='player INT, speed DOUBLE'"
    if not isinstance(returns, str) or not returns.strip():
        raise SettingsError(f"{what} does not say what it returns\nhint: {way_out}")
    try:
        found = [
            Column(each.name, declared_type(exp.DataType.build(each.type_sql, dialect="spark")))
            for each in parse_columns(returns)
        ]
    except (SqlglotError, WindrowError, ValueError, KeyError):
        raise SettingsError(f"{what}: {returns!r} are no columns\nhint: {way_out}") from None
    taken = next((column.name for column in found if column.name.lower() in leading_names(INSERTS)), None)
    if taken is not None:
        raise SettingsError(f"{what} returns {taken!r}: that is a name that every row has already")
    return tuple(found)
