"""Which Spark query keeps the rejected events of a stream, where several read it: one, so that each is kept once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.nodes.stage import AnyQuery, rejects_events
from windrow.spark.job.checkpoint import read_back, write_whole

Keepers = dict[str, str]
"""By stream, the Spark query that keeps what it rejects."""


def choose_keepers(queries: Iterable[AnyQuery], before: Mapping[str, str]) -> Keepers:
    """The keeper of each stream: the one before, as long as it runs; else one whose functions reject events; else the
    one with windows over it; else the first.

    Each Spark query comes to an event in its own batch, so a keeper that changed would miss events, or keep them twice.
    """
    readers: dict[str, list[str]] = {}
    rejecting: dict[str, str] = {}
    for query in queries:
        for stream in query.sources:
            readers.setdefault(stream, []).append(query.run)
            if rejects_events(query):
                rejecting.setdefault(stream, query.run)
    return {
        stream: next((one for one in (before.get(stream), rejecting.get(stream), stream) if one in known), known[0])
        for stream, known in readers.items()
    }


def read_keepers(checkpoint: AnyPlace) -> Keepers:
    """Those of the job as it last ran."""
    place = _place(checkpoint)
    return read_back(place, _as_keepers) if place.exists() else {}


def write_keepers(checkpoint: AnyPlace, keepers: Keepers) -> None:
    write_whole(_place(checkpoint), keepers)


def _as_keepers(content: Any) -> Keepers:
    if not all(isinstance(keeper, str) for keeper in content.values()):
        raise ValueError("a keeper is no name")
    keepers: Keepers = content
    return keepers


def _place(checkpoint: AnyPlace) -> Place:
    return place_of(checkpoint) / "rejected.json"
