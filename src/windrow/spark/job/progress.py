"""How a job is doing, as figures to print and to read: `job.progress()`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from windrow.plan.nodes.run_names import streams_in


@dataclass(slots=True)
class ShardProgress:
    """The figures of one shard, in all stages: where a few take most of the time, keys are unevenly spread.

    `seconds` were spent in its tasks, `received_bytes` sent to it, which stand for so many `events`, and
    `written_bytes` of state written since the start; `memory_bytes` and `groups` it has now; `moved` is how often it
    was read anew, since another worker, or another executor, had run it last.
    """

    seconds: float = 0.0
    last_seconds: float = 0.0
    received_bytes: int = 0
    memory_bytes: int = 0
    moved: int = 0
    events: int = 0
    groups: int = 0
    written_bytes: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class StreamProgress(Mapping[str, Any]):
    """The figures of one stream, up to its last finished batch. They are read as attributes, or by name.

    `stream_rate` is events in a second of the stream's own time, `events_per_second` how fast they are worked off.
    `rejected` counts events that no window took, by cause; `late_in_part` those that came when some of their
    windows had been answered, and are in the others; `corrected` those for which windows were answered again, where
    the stream has CORRECT FOR; `duplicates` those that DEDUPLICATE BY has left out; `seam` those that a history
    and the stream after it both have, read from the one that is not to give them; `shed` those that were left out
    since the stream was delayed, where it has SHED ABOVE, and `share` which of its rows it takes now; `history`,
    as long as one is read, how many `files` it has and how many are `left`; `failed` values that overflowed or could
    not be cast; `dropped` what was given up when the clock was set back. `delay` is how long events waited for their
    results, in seconds, where they did, without the first batches, which load and compile what the others find ready.
    `seconds` tells where the time went. `rows` are those that each query has given, and `rows_per_second` how many
    lately; rows that Spark finishes are not counted. `waiting`: all that came is worked off. `lag` is how many messages
    of each Kafka partition are not read yet, `missing_messages` how many were gone from a topic before they were read,
    and `waited` a histogram of how long events have waited since the job began.
    `shards` has the figures of each shard, by number, and `heaviest` the groups with most events since the start, as
    far as they were among the three heaviest of their shard in a batch. `query_seconds` is what tasks took to slide
    each query and to finish its rows, `sink_seconds` what it took to write into each sink, since the start and the
    dearest first; what several queries share is paid by them in equal parts. `last_error` is what a Spark query or a
    query of the stream has died of last, since the job was started: `why`, and `at` which second since 1970.
    `tables` tells of each table with REFRESH which `version` is joined, when it was `read`, and, where the last refresh
    has `failed`, why. `absent` are columns that queries read and that were not there: how many `files` lack each, and
    in how many `rows` it is NULL for it; where files cannot tell, `rows` of batches in which no event had a value.
    """

    batches: int
    events: int
    stream_rate: float | None
    events_per_second: float
    clock: datetime | None
    windows: int
    rejected: dict[str, int]
    late_in_part: int
    duplicates: int
    missing_files: int
    failed: int
    dropped: int
    delay: dict[str, float] | None
    groups: int
    state_bytes: int
    memory_bytes: int
    seconds: dict[str, float]
    rows: dict[str, int]
    rows_per_second: dict[str, float]
    waiting: bool
    stopped: dict[str, str] = field(default_factory=dict)
    restarts: int = 0
    corrected: int = 0
    seam: int = 0
    shed: int = 0
    share: float = 1.0
    missing_messages: int = 0
    history: dict[str, int] | None = None
    last_error: dict[str, Any] | None = None
    lag: dict[str, int] = field(default_factory=dict)
    waited: dict[str, Any] | None = None
    shards: dict[int, ShardProgress] = field(default_factory=dict)
    heaviest: dict[str, int] = field(default_factory=dict)
    query_seconds: dict[str, float] = field(default_factory=dict)
    sink_seconds: dict[str, float] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: dict[str, dict[str, int]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    @classmethod
    def _names(cls) -> list[str]:
        return [own.name for own in fields(cls)]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, such as JSON takes."""
        return asdict(self) | {"clock": None if self.clock is None else self.clock.isoformat()}

    def __str__(self) -> str:
        told = [
            f"{self.events:,} events in {self.batches:,} batches",
            f"{self.events_per_second:,.0f} a second",
            f"clock {self.clock or 'not known yet'}",
            f"{self.windows:,} windows",
        ]
        if self.delay is not None:
            told.append(f"delay {self.delay['p50']} s (p99 {self.delay['p99']} s)")
        counted = {
            **self.rejected,
            "late in part": self.late_in_part,
            "corrected": self.corrected,
            "duplicates": self.duplicates,
            "missing files": self.missing_files,
        }
        counted |= {
            "messages gone unread": self.missing_messages,
            "seam": self.seam,
            "shed": self.shed,
            "files of history left": (self.history or {}).get("left", 0),
        }
        counted |= {"failed": self.failed, "dropped": self.dropped}
        counted |= {"restarts": self.restarts, "not read yet": sum(self.lag.values())}
        told += [f"{name}: {count:,}" for name, count in counted.items() if count]
        if self.share < 1:
            told.append(f"takes {self.share:.2%} of the rows")
        slow = uneven(self.shards)
        if slow is not None:
            told.append(slow)
            told += [f"most events have {name} ({count:,})" for name, count in [*self.heaviest.items()][:1]]
        told += [
            f"table {name!r} is of {own['read']}: {own['failed']}" for name, own in self.tables.items() if own["failed"]
        ]
        told += [absent_told(name, own) for name, own in self.absent.items()]
        told += [f"query {name!r} has stopped: {why}" for name, why in self.stopped.items()]
        return ", ".join(told)


def absent_told(column: str, counted: Mapping[str, int]) -> str:
    """How often a column was not there.

    >>> absent_told("v", {"files": 2, "rows": 1200}), absent_told("v", {"files": 0, "rows": 7})
    ("column 'v' absent in 1,200 rows of 2 files", "column 'v' without a value in 7 rows")
    """
    if not counted["files"]:
        return f"column {column!r} without a value in {counted['rows']:,} rows"
    return f"column {column!r} absent in {counted['rows']:,} rows of {counted['files']:,} files"


def skew(shards: Mapping[int, Any]) -> float | None:
    """How many times the mean of all shards the slowest one took for the last batch; None where nothing was done.

    >>> skew({0: ShardProgress(last_seconds=1.0), 1: ShardProgress(last_seconds=3.0)})
    1.5
    """
    took = [each["last_seconds"] if isinstance(each, dict) else each.last_seconds for each in shards.values()]
    return max(took) * len(took) / sum(took) if sum(took) > 0 else None


def uneven(shards: Mapping[int, ShardProgress]) -> str | None:
    """Which shard holds up the others: the last batch took it more than twice their mean, and time that is felt.

    >>> uneven({0: ShardProgress(last_seconds=0.2), 1: ShardProgress(last_seconds=3.0), 2: ShardProgress()})
    'shard 1 takes 3.0 s of a batch, 2.8 times the mean of 3 shards'
    """
    if len(shards) < 2:
        return None
    slowest = max(shards, key=lambda shard: shards[shard].last_seconds)
    longest = shards[slowest].last_seconds
    mean = sum(shard.last_seconds for shard in shards.values()) / len(shards)
    if longest < _FELT or longest < 2 * mean:
        return None
    return (
        f"shard {slowest} takes {longest:.1f} s of a batch, {longest / mean:.1f} times the mean of {len(shards)} shards"
    )


_FELT = 0.5


class Progress(Mapping[str, StreamProgress]):
    """The figures of each stream of a job, by name.

    Streams that are read together, or in several stages, have figures under the name of what reads them. A stream that
    is read alone is found under its own name, too; of several runs that read it, it is the shortest.
    """

    def __init__(self, streams: Mapping[str, StreamProgress]) -> None:
        self._streams = dict(streams)

    def __getitem__(self, stream: str) -> StreamProgress:
        of_it_alone = (run for run in sorted(self._streams) if streams_in(run) == (stream,))
        return self._streams[stream if stream in self._streams else next(of_it_alone, stream)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._streams)

    def __len__(self) -> int:
        return len(self._streams)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The same as plain values, such as JSON takes."""
        return {name: figures.to_dict() for name, figures in self._streams.items()}

    def __str__(self) -> str:
        return "\n".join(f"{name}: {figures}" for name, figures in self._streams.items())

    def __repr__(self) -> str:
        return f"Progress({self._streams!r})"
