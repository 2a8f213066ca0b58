"""What a database says is told, whatever Spark makes of it."""

from __future__ import annotations

import pytest

from windrow.spark.sources.database_reason import database_reason
from windrow.spark.sources.read import spark_reason


class Thrown:
    """An error of a JVM, with what caused it."""

    def __init__(self, message: str, cause: Thrown | None = None) -> None:
        self._message, self._cause = message, cause

    def getMessage(self) -> str:
        return self._message

    def getCause(self) -> Thrown | None:
        return self._cause


class Refused(Thrown):
    """The error of a driver."""

    def __init__(self, message: str, state: str | None) -> None:
        super().__init__(message)
        self._state = state

    def getSQLState(self) -> str | None:
        return self._state


@pytest.mark.parametrize(
    "state, does",
    [
        ("28P01", "does not let the user in"),
        ("08001", "does not answer"),
        ("3D000", "is not there"),
        (None, "cannot be"),
    ],
)
def test_the_innermost_error_of_a_driver_says_what_the_database_does(state: str | None, does: str) -> None:
    error = Exception("[FAILED_JDBC.CONNECTION] Failed to connect to the database")
    error._origin = Thrown("Failed to connect", Refused("FATAL: no\nServer SQLState", state))  # type: ignore[attr-defined]
    told = database_reason(error)
    assert told is not None and told.does.startswith(does) and told.said == "FATAL: no"
    assert spark_reason(error).endswith(": FATAL: no")
    assert database_reason(Exception("no error of a JVM")) is None
