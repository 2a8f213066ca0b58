"""What a test could leave behind for others: in its process, in the modules of Windrow, in the Spark session."""

from __future__ import annotations

import os
import signal
import sys
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = (dict, list, set)
"""What modules keep from call to call lies in one of these."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
NOT_OURS = ("PYTEST_", "KMP_", "PYSPARK_", "SPARK_", "WINDROW_WARM", "MALLOC_ARENA_MAX")
"""How variables of the environment begin that pytest, scikit-learn and Spark set for the whole process."""


class ProcessState:
    """The process as it is now: environment, folder, path, signals, user."""

    def __init__(self) -> None:
        self._process, self._environment = _process(), _environment()

    def changes(self) -> list[str]:
        """What is not as it was."""
        now = _process()
        found = [f"{what} is {now[what]}, not {was}" for what, was in self._process.items() if now[what] != was]
        found += [f"the variable {name} is another" for name in _differing(self._environment, _environment())]
        return found


class ModuleState:
    """The names in Windrow's modules as they are now. To look at hundreds of modules takes longer than most tests."""

    def __init__(self) -> None:
        self._modules = [(name, names, names.copy()) for name, names in _windrow()]
        self._filled = [
            (f"{module}.{name}", value, len(value))
            for module, _, names in self._modules
            for name, value in names.items()
            if isinstance(value, KEPT) and not name.startswith("__")
        ]

    def changes(self) -> list[str]:
        """What is not as it was; modules that were loaded since are new, and changed nothing."""
        found: list[str] = []
        for module, held, names in self._modules:
            if not all(map(is_, map(held.get, names), names.values())):
                found += [f"{module}.{name} is another" for name in names if held.get(name) is not names[name]]
        found += [f"{name} holds {len(value)}, not {was}" for name, value, was in self._filled if len(value) != was]
        return found


def _process() -> dict[str, Any]:
    handlers = [signal.getsignal(number) for number in SIGNALS]
    return {
        "the folder": os.getcwd(),
        "the path": list(sys.path),
        "who handles signals": handlers,
        "the user": os.geteuid(),
    }


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}


def _differing(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The names alone: what a variable holds may be a secret."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def _windrow() -> list[tuple[str, dict[str, Any]]]:
    """The modules of Windrow that are loaded, with the names in them."""
    loaded = [(name, module) for name, module in sys.modules.items() if name.startswith("windrow")]
    return [(name, vars(module)) for name, module in loaded if name.partition(".")[0] == "windrow"]


class SparkState:
    """A Spark session as it is now: its settings and its temporary views."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._settings: dict[str, str] = dict(spark.conf.getAll)
        self._views = self._temporary()

    def restore(self) -> None:
        """Settings go back to what they were, and views that came since go away.

        A `windrow.Session` sets what it needs on the Spark session that it is given, and a sink in memory is a view:
        that is what they are for, and no fault of a test.
        """
        now: dict[str, str] = self._spark.conf.getAll
        for name in {*now, *self._settings}:
            if not self._spark.conf.isModifiable(name):
                continue  # what another session of the process began with is shown here too
            if name not in self._settings:
                self._spark.conf.unset(name)
            elif now.get(name) != self._settings[name]:
                self._spark.conf.set(name, self._settings[name])
        for name in self._temporary() - self._views:
            self._spark.catalog.dropTempView(name)

    def _temporary(self) -> set[str]:
        views = self._spark._jsparkSession.sessionState().catalog().listLocalTempViews("*")
        return {views.apply(number).table() for number in range(views.size())}


def stop_streams(spark: SparkSession) -> list[str]:
    """Stop the streams that still run, and name them."""
    running = spark.streams.active
    for query in running:
        query.stop()
    return [f"the stream {query.name or query.id} runs" for query in running]
