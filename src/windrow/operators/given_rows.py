"""What a function that remembers is told, and the rows that it gives."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from windrow.errors import FunctionError
from windrow.operators.changes import Changes
from windrow.operators.given_values import UNFIT, in_type
from windrow.plan.nodes.changes import Apply, Column
from windrow.plan.stream_function import TIME_US

_TIME, _UTC = pa.timestamp("us", tz="UTC"), ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class GivenRows:
    """Rows in order of time: the time of each, the slot of its key, and the columns that the function returns."""

    times: np.ndarray
    slots: np.ndarray
    columns: Sequence[pa.Array]


@dataclass(frozen=True, slots=True)
class RefusedEvents:
    """Events that a function has failed with: when they happened, why, and what it was told of each."""

    times: np.ndarray
    causes: list[str]
    told: pa.RecordBatch


def told_events(node: Apply, changes: Changes) -> pa.RecordBatch:
    """The events by the names that the function has for their columns, and their times."""
    places = {name: i for i, name in enumerate(node.child.names)}
    told = {name: changes.columns[places[column]] for name, column in node.reads}
    return pa.record_batch({**told, **({} if TIME_US in told else {TIME_US: pa.array(changes.times)})})


def event_class(names: Sequence[str]) -> Any:
    """A class of events, whose columns are attributes; `getattr(event, "class")` finds one that is no word of Python's.

    >>> event = event_class(["x", "class", "_y"])(1, "a", 3)
    >>> event.x, getattr(event, "class"), event._y
    (1, 'a', 3)
    """
    plain: Any = namedtuple("Event", names, rename=True)  # type: ignore[misc]
    fields: Sequence[str] = plain._fields
    renamed = {name: getattr(plain, own) for name, own in zip(names, fields) if not hasattr(plain, name)}
    return type("Event", (plain,), {"__slots__": (), **renamed})


def python_values(column: pa.Array) -> list[Any]:
    """The values of a column, as `to_pylist` gives them, but that numbers and times take a tenth of the time."""
    kind = column.type
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or kind == _TIME):
        return list(column.to_pylist())
    values: list[Any] = column.to_numpy(zero_copy_only=False).tolist() if kind != _TIME else _instants(column)
    return values


def _instants(column: pa.Array) -> list[datetime]:
    return [instant.replace(tzinfo=_UTC) for instant in column.to_numpy().astype("datetime64[us]").tolist()]


def what_of(node: Apply) -> str:
    """The function, as an error calls it."""
    return f"stream function {node.function!r}"


def made(node: Apply, code: type) -> Any:
    """An object of the user's class."""
    try:
        return code()
    except Exception as error:
        raise failed(node, "__init__", error) from error


def failed(node: Apply, method: str, error: Exception, told: str = "") -> FunctionError:
    """The error that names the function and the method which failed; `told` is what else is known."""
    return FunctionError(f"{what_of(node)}: {method} failed: {type(error).__name__}: {error}{told}")


def as_columns(node: Apply, values: Sequence[Any]) -> list[pa.Array]:
    """The values of each column that the function returns, in the types that were declared."""
    return [_as_column(node, column, given) for column, given in zip(node.returns, values)]


def _as_column(node: Apply, column: Column, given: Any) -> pa.Array:
    try:
        return in_type(given, column.type)
    except UNFIT:
        return pa.concat_arrays([_as_one(node, column, value) for value in given])


def _as_one(node: Apply, column: Column, value: Any) -> pa.Array:
    """A value by itself, so that it matters to none beside which others it is given."""
    plain = value.as_py() if isinstance(value, pa.Scalar) else value
    try:
        return in_type([plain], column.type)
    except UNFIT as error:
        raise FunctionError(
            f"{what_of(node)}: what it gives for {column.name!r} is no {column.type}: {plain!r}"
        ) from error
