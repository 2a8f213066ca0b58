"""The figures of streams over the last minutes: they are there when a page opens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any

from windrow.serve.values import epoch

SECONDS, POINTS = 1.0, 900
Figures = Mapping[str, Mapping[str, Any]]
COLUMNS = ("at", "events", "events_per_second", "clock", "p50", "p99", "state_bytes", "rejected", "busy")


class History:
    """Looks at the figures of each stream once a second, in a thread of its own, and keeps a quarter of an hour."""

    def __init__(self, figures: Callable[[], Figures]) -> None:
        self._figures, self._ended, self._lock = figures, Event(), Lock()
        self._points: dict[str, deque[tuple[Any, ...]]] = {}
        self._seconds: dict[str, dict[str, float]] = {}
        self.latest: dict[str, dict[str, Any]] = {}
        self.look()
        Thread(target=self._run, name="windrow figures", daemon=True).start()

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(SECONDS):
            with suppress(Exception):  # a job that ends meanwhile
                self.look()

    def look(self) -> None:
        """Take the figures as they are now."""
        now = epoch()
        for stream, figures in self._figures().items():
            seconds = {name: float(value) for name, value in figures["seconds"].items()}
            before = self._seconds.get(stream, seconds)
            spent = {name: value - before.get(name, 0.0) for name, value in seconds.items()}
            points = self._points.setdefault(stream, deque(maxlen=POINTS))
            events = figures["events"] - (points[-1][1] if points else figures["events"])
            since = max(now - points[-1][0], 1e-3) if points else SECONDS
            delay = figures["delay"] or {}
            clock = figures["clock"]
            point = (now, figures["events"], events / since, None if clock is None else clock.timestamp())
            busy = max(spent, key=lambda name: spent[name]) if any(value > 0 for value in spent.values()) else None
            counted = sum(figures["rejected"].values())
            with self._lock:
                points.append((*point, delay.get("p50"), delay.get("p99"), figures["state_bytes"], counted, busy))
                self._seconds[stream] = seconds
                self.latest[stream] = dict(figures)

    def since(self, instant: float) -> dict[str, list[tuple[Any, ...]]]:
        """The points of each stream after an instant."""
        with self._lock:
            return {name: [point for point in points if point[0] > instant] for name, points in self._points.items()}
