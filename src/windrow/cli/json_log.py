"""A job told in JSON: one line an event, for who gathers the logs of many programs and asks them questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from windrow.cli.figures import Figures, shown_name
from windrow.cli.view import stopped_in

TOLD: tuple[str, ...] = ("batches", "events", "events_per_second", "windows", "late_in_part", "corrected", "failed")
TOLD += (
    "dropped",
    "groups",
    "state_bytes",
    "memory_bytes",
    "rows",
    "rejected",
    "delay",
    "lag",
    "absent",
    "shed",
    "share",
)
"""The figures of a batch; whoever needs the others asks for metrics."""


def _now() -> datetime:
    return datetime.now(UTC)


class JsonLog:
    """A line when a stream has come further, when a query stops or comes back, and for all that is said besides."""

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._batches: dict[str, int] = {}
        self._stopped: set[str] = set()

    def show(self, streams: Mapping[str, Figures]) -> None:
        stopped = stopped_in(streams)
        for name in stopped.keys() - self._stopped:
            self.tell("query stopped", query=name, why=stopped[name])
        for name in self._stopped - stopped.keys():
            self.tell("query resumed", query=name)
        self._stopped = set(stopped)
        for run, figures in streams.items():
            if self._batches.get(run, 0) != figures["batches"]:
                self._batches[run] = figures["batches"]
                clock = figures["clock"]
                shown = {name: figures[name] for name in TOLD if figures.get(name) is not None}
                self.tell("batch", stream=shown_name(run), clock=None if clock is None else clock.isoformat(), **shown)

    def say(self, words: str) -> None:
        self.tell("said", text=words)

    def tell(self, event: str, **figures: Any) -> None:
        """One event as a line, with its instant."""
        at = self._now().isoformat(timespec="milliseconds")
        print(json.dumps({"at": at, "event": event, **figures}), flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        pass
