"""How long events have waited for their answers since the job began, as a histogram."""

from __future__ import annotations

from typing import Any

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Seconds."""


class Waited:
    """Adds up waits, batch by batch.

    >>> waited = Waited()
    >>> waited.add(0.5, 1.5, events=100)
    >>> waited.figures()["counts"]["1.0"], waited.figures()["events"], waited.figures()["seconds"]
    (50, 100, 100.0)
    """

    def __init__(self) -> None:
        self._counts, self._events, self._seconds = dict.fromkeys(BOUNDS, 0), 0, 0.0

    def add(self, shortest: float, longest: float, events: int) -> None:
        """Add a batch whose events came evenly, so that their waits lie evenly between two lengths, in seconds."""
        width = max(longest - shortest, 1e-9)
        for bound in BOUNDS:
            self._counts[bound] += round(events * min(1.0, max(0.0, (bound - shortest) / width)))
        self._events += events
        self._seconds += events * (shortest + longest) / 2

    def figures(self) -> dict[str, Any]:
        """By bound how many events waited at most so long; how many there are in all, and their waits together."""
        counts = {str(bound): count for bound, count in self._counts.items()}
        return {"counts": counts, "events": self._events, "seconds": round(self._seconds, 6)}
