"""Why a database does not do what is asked of it: in its own words, which lie below what Spark complains of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from py4j.protocol import Py4JError

_UNREACHED = "cannot be reached"
_DOES = {"08": "does not answer", "28": "does not let the user in", "3D": "is not there", "42": "refuses"}
"""What a database does, by the class of its SQLSTATE."""


class DatabaseReason(NamedTuple):
    """What a database does, and what it says of it."""

    does: str
    said: str


def database_reason(error: Exception) -> DatabaseReason | None:
    """What the driver of a database says at the bottom of an error of Spark; None if it is no error of a database."""
    found = None
    for thrown in _thrown(error):
        try:
            state = str(thrown.getSQLState() or "")
        except (Py4JError, AttributeError, TypeError):
            continue  # no error of a driver
        said = str(thrown.getMessage() or state).splitlines()[0]
        found = DatabaseReason(_DOES.get(state[:2], _UNREACHED), said)
    return found


def _thrown(error: Exception) -> Iterator[Any]:
    """An error of the JVM and what caused it, the innermost last."""
    thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    for _ in range(10):
        if thrown is None:
            return
        yield thrown
        thrown = thrown.getCause()
