"""The statistics of streams while they run, and as their checkpoint keeps them for the next start."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windrow.compile.figures import Figures, figures_of
from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, place_of
from windrow.plan.stream_statistics import GroupingStatistics, StreamStatistics
from windrow.runtime.slice.sample import SMALLEST, about_how_many
from windrow.spark.job.checkpoint import kept_of, read_back, write_whole

STATISTICS = "statistics.json"
LEAST_REACH_US = 1_000_000
"""Events that are closer together have no rate: a batch may be one burst."""

ByRun = dict[str, dict[str, StreamStatistics]]
"""What is known of each stream, by what runs together."""


@dataclass(slots=True)
class Gathered:
    """Adds up what map tasks and shards tell of the streams that run together."""

    events: Counter[str] = field(default_factory=Counter)
    behind: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, Counter[str]] = field(default_factory=dict)
    there: dict[str, Counter[str]] = field(default_factory=dict)
    reach: dict[str, tuple[int, int]] = field(default_factory=dict)
    hashes: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    groupings: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    arrived: Counter[str] = field(default_factory=Counter)

    def add_tasks(self, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Take in what map tasks have seen in passing."""
        for seen in tasks:
            stream = seen["stream"]
            self.events[stream] += seen["events"]
            self.behind[stream] = max(self.behind.get(stream, 0), seen["behind"])
            self.sizes.setdefault(stream, Counter()).update(seen["bytes"])
            self.there.setdefault(stream, Counter()).update(seen["there"])
            if seen["reach"] is not None:
                first, last = self.reach.get(stream, seen["reach"])
                self.reach[stream] = min(first, seen["reach"][0]), max(last, seen["reach"][1])
            known = self.hashes.setdefault(stream, {})
            for text, hashes in seen["hashes"].items():
                known[text] = sorted({*known.get(text, ()), *hashes})[:SMALLEST]

    def add_shards(self, shards: Sequence[Mapping[str, Any]]) -> None:
        """Take in what the shards of a batch hold of each grouping."""
        found: dict[str, list[Any]] = {}
        for shard in shards:
            for name, (stream, groups, entries, panes, arrived) in json.loads(shard["groupings"] or "{}").items():
                own = found.setdefault(name, [stream, 0, 0, 0])
                own[1], own[2], own[3] = own[1] + groups, own[2] + entries, max(own[3], panes)
                self.arrived[name] += arrived
        for name, (stream, groups, entries, panes) in found.items():
            if panes:
                self.groupings[name] = (stream, groups, entries / panes)

    def statistics(
        self, rate: float | None, late: int, delay: Mapping[str, float] | None
    ) -> dict[str, StreamStatistics]:
        """What is known by now; `rate` is that of all streams together, in their own time.

        As long as the clock has not gone on from one batch to the next, that of all that came takes its place.
        """
        whole = sum(self.events.values())
        found = {}
        for stream, events in self.events.items():
            if not events:
                continue
            groupings = {
                name: GroupingStatistics(groups, a_pane, min(1.0, self.arrived[name] / events))
                for name, (of, groups, a_pane) in self.groupings.items()
                if of == stream
            }
            found[stream] = StreamStatistics(
                events,
                self._rate_so_far(stream) if rate is None else rate * events / whole,
                groupings,
                {text: size / events for text, size in self.sizes[stream].items()},
                {text: about_how_many(hashes) for text, hashes in self.hashes[stream].items()},
                self.behind[stream],
                late / whole,
                delay,
                {text: count / events for text, count in self.there[stream].items()},
            )
        return found

    def _rate_so_far(self, stream: str) -> float | None:
        """Events by how far apart the first and the last were; None of a moment, which tells nothing of others."""
        first, last = self.reach.get(stream, (0, 0))
        return self.events[stream] / (last - first) * 1e6 if last - first >= LEAST_REACH_US else None


def over(now: Mapping[str, StreamStatistics], before: Mapping[str, StreamStatistics]) -> dict[str, StreamStatistics]:
    """What is measured now, and what was known before of all else."""
    known = {stream: own.over(before.get(stream, own)) for stream, own in now.items()}
    return {**before, **known}


def keep_statistics(checkpoint: AnyPlace, by_run: Mapping[str, Mapping[str, StreamStatistics]]) -> None:
    """Write down what is known, for the next start."""
    content = {run: {name: own.to_dict() for name, own in streams.items()} for run, streams in by_run.items()}
    write_whole(place_of(checkpoint) / STATISTICS, content)


def kept_statistics(checkpoint: AnyPlace) -> ByRun:
    """What a checkpoint knows of its streams; nothing, where no job has noted it yet."""
    place = place_of(checkpoint) / STATISTICS
    return read_back(place, _read) if place.exists() else {}


def known_in(checkpoint: AnyPlace) -> tuple[int, dict[str, Figures]]:
    """The shards of a checkpoint that there is, and what plans are made by there."""
    place = place_of(checkpoint)
    if not (place / "windrow.json").exists():
        raise SettingsError(f"{checkpoint} is no checkpoint of a job\nhint: the folder that --checkpoint named")
    return kept_of(place).shards, {run: figures_of(streams) for run, streams in kept_statistics(place).items()}


def _read(content: Any) -> ByRun:
    return {run: {name: StreamStatistics.of(own) for name, own in streams.items()} for run, streams in content.items()}
