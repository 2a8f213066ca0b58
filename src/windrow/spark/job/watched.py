"""What the batches of a job report, added up: from Spark's own progress and the counts that slide sends along."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise, takewhile
from threading import Lock
from typing import Any

import numpy as np
from pyspark.sql.streaming.query import StreamingQuery

from windrow.plan.instants import shown_instant
from windrow.runtime.reject import CAUSES, LATE, UNPLACED
from windrow.runtime.weigh import heaviest
from windrow.spark.job.measures import METRICS, Observed, added_up, observed_in, shard_measures, total_measures
from windrow.spark.job.progress import Progress, ShardProgress, StreamProgress
from windrow.spark.job.reports import Reports
from windrow.spark.job.waited import Waited
from windrow.spark.sinks.costs import Costs
from windrow.spark.sources.kafka_lag import lag_of
from windrow.spark.stages.slice import NO_PROBE
from windrow.spark.stages.slide import COUNTS

TOLD, REMEMBERED = 5, 256
"""So many of the heaviest groups are told, and so many are remembered from batch to batch, to find those."""

RECENT = 100
"""So many batches make up the figures for speed and delay."""

COLD = 3
"""The first batches of a job load and compile what all others find ready: their delays are told apart from the rest."""

_OFTEN = 25
"""After so many batches their reports are added up, asked for or not: Spark forgets all but the last hundred."""


@dataclass(slots=True)
class _Totals:
    query: StreamingQuery | None = None
    control: str = ""
    by_name: bool = False
    reports: Reports | None = None
    seen: int = -1
    batches: int = 0
    events: int = 0
    rejected: dict[str, int] = field(default_factory=lambda: {"late": 0, "no time": 0, "unreadable": 0})
    in_part: int = 0
    corrected: int = 0
    duplicates: int = 0
    failed: int = 0
    windows: int = 0
    dropped: int = 0
    clock: int | None = None
    groups: int = 0
    state_bytes: int = 0
    memory_bytes: int = 0
    recent: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=RECENT))
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("scan", "slice", "slide", "state", "sinks"), 0.0)
    )
    rows: Counter[str] = field(default_factory=Counter)
    recent_rows: deque[dict[str, int]] = field(default_factory=lambda: deque(maxlen=RECENT))
    stopped: dict[str, str] = field(default_factory=dict)
    restarts: int = 0
    lag: dict[str, int] = field(default_factory=dict)
    waited: Waited = field(default_factory=Waited)
    shards: dict[int, ShardProgress] = field(default_factory=dict)
    heavy: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    told: dict[int, dict[str, Any]] = field(default_factory=dict)
    query_us: Counter[str] = field(default_factory=Counter)
    sink_us: Counter[str] = field(default_factory=Counter)
    writing: float = 0.0
    written: int = 0


class Watched:
    """Adds up what each batch of each stream reports.

    Events that all lay there when the job began have not waited for anything: where they do, there is no `delay`.
    """

    def __init__(self, *, live: bool = True) -> None:
        self._live, self._lock = live, Lock()
        self._streams: dict[str, _Totals] = {}

    def watch(
        self,
        stream: str,
        query: StreamingQuery,
        control: str,
        by_name: bool = False,
        reports: Reports | None = None,
    ) -> None:
        """Follow the Spark query of a stream, whose shards get their words from the folder `control`.

        Where Spark reads files only `by_name`, its own count of rows is one of names. `reports` are where another
        process that writes the batches tells of them.
        """
        watched = self._streams.setdefault(stream, _Totals())
        self._update(watched)
        watched.query, watched.seen, watched.control, watched.by_name = query, -1, control, by_name
        watched.reports = reports

    @contextmanager
    def writing(self, stream: str) -> Iterator[None]:
        """Time a batch from its first row asked for to its last row written."""
        began = time.perf_counter()
        yield
        watched = self._streams.setdefault(stream, _Totals())
        watched.writing += time.perf_counter() - began
        watched.written += 1
        if watched.written % _OFTEN == 0:
            self._update(watched)

    def miss(self, stream: str, files: int) -> None:
        """Count files that a batch was to read, and that were gone."""
        self._streams.setdefault(stream, _Totals()).missing += files

    def wrote(self, stream: str, rows: dict[str, int], costs: Costs) -> None:
        """Count the rows of a batch by query, and what queries and sinks took."""
        _count(self._streams.setdefault(stream, _Totals()), rows, costs.queries, costs.sinks)

    def counted(self, stream: str, batch: int, shards: list[dict[str, Any]]) -> None:
        """Note what the shards of a batch have counted, where Spark does not observe it."""
        if shards:
            with self._lock:  # whoever asks for figures takes them from there
                self._streams.setdefault(stream, _Totals()).told[batch] = added_up(shards, COUNTS)

    def query_stopped(self, stream: str, name: str, why: str) -> None:
        """Tell of a query that has stopped while others go on."""
        self._streams.setdefault(stream, _Totals()).stopped[name] = why

    def query_resumed(self, name: str) -> None:
        """It has been brought back, or replaced by another one of its name."""
        for watched in self._streams.values():
            watched.stopped.pop(name, None)

    def restarted(self, stream: str) -> None:
        """Count that the Spark query of a stream has died and comes back."""
        self._streams.setdefault(stream, _Totals()).restarts += 1

    def progress(self) -> Progress:
        """The figures of each stream, up to its last finished batch."""
        return Progress({stream: self._figures(totals) for stream, totals in self._streams.items()})

    def _figures(self, watched: _Totals) -> StreamProgress:
        self._update(watched)
        wall = sum(batch["seconds"] for batch in watched.recent)
        return StreamProgress(
            batches=watched.batches,
            events=watched.events,
            stream_rate=stream_rate(list(watched.recent)),
            events_per_second=sum(batch["events"] for batch in watched.recent) / wall if wall else 0.0,
            clock=None if watched.clock is None else shown_instant(watched.clock),
            windows=watched.windows,
            rejected=dict(watched.rejected),
            late_in_part=watched.in_part,
            corrected=watched.corrected,
            duplicates=watched.duplicates,
            missing_files=watched.missing,
            failed=watched.failed,
            dropped=watched.dropped,
            delay=delays(list(watched.recent)) if self._live else None,
            groups=watched.groups,
            state_bytes=watched.state_bytes,
            memory_bytes=watched.memory_bytes,
            seconds=dict(watched.seconds),
            rows=dict(watched.rows),
            rows_per_second=_rates(list(watched.recent_rows), wall),
            waiting=_waits(watched.query),
            query_seconds=_dearest(watched.query_us),
            sink_seconds=_dearest(watched.sink_us),
            stopped=dict(watched.stopped),
            restarts=watched.restarts,
            lag=dict(watched.lag),
            waited=watched.waited.figures() if self._live else None,
            heaviest=dict(heaviest(watched.heavy, TOLD)),
            shards={number: replace(shard) for number, shard in sorted(watched.shards.items())},
        )

    def _update(self, watched: _Totals) -> None:
        if watched.query is None:
            return
        with self._lock:  # a stream's own thread and whoever asks for figures
            for batch in watched.query.recentProgress:
                if batch["batchId"] <= watched.seen:
                    continue
                observed = observed_in(batch["observedMetrics"])
                if batch["batchId"] in watched.told:
                    observed[METRICS] = watched.told[batch["batchId"]]
                if METRICS in observed:
                    watched.seen = batch["batchId"]
                    _take_report(watched, batch["batchId"])
                    _add(watched, batch, observed)
            watched.told = {number: told for number, told in watched.told.items() if number > watched.seen}


def _count(watched: _Totals, rows: dict[str, int], query_us: Mapping[str, int], sink_us: Mapping[str, int]) -> None:
    watched.query_us.update(query_us)
    watched.sink_us.update(sink_us)
    watched.rows.update(rows)
    watched.recent_rows.append(rows)


def _take_report(watched: _Totals, batch: int) -> None:
    """Count what another process has told of a batch that it wrote."""
    report = None if watched.reports is None else watched.reports.of(batch)
    if report is not None:
        watched.writing += report.seconds
        _count(watched, report.rows, report.query_us, report.sink_us)


def _dearest(microseconds: Counter[str]) -> dict[str, float]:
    """Seconds by name, most first.

    >>> _dearest(Counter(a=1_500_000, b=2_000_000))
    {'b': 2.0, 'a': 1.5}
    """
    return {name: took / 1e6 for name, took in microseconds.most_common()}


def _rates(batches: list[dict[str, int]], seconds: float) -> dict[str, float]:
    """Rows in a second of each query, over some batches that took `seconds` together."""
    total = Counter[str]()
    for rows in batches:
        total.update(rows)
    return {name: count / seconds for name, count in total.items()} if seconds else dict.fromkeys(total, 0.0)


def _waits(query: StreamingQuery | None) -> bool:
    """Whether a Spark query runs and has nothing to do."""
    if query is None or not query.isActive:
        return False
    status = query.status
    return not status["isDataAvailable"] and not status["isTriggerActive"]


def _add(watched: _Totals, batch: Any, observed: Observed) -> None:
    counts = observed[METRICS]
    if counts["windows"] is None:
        return
    measures = total_measures(observed)
    watched.batches += 1
    events = measures["events"] if watched.by_name else _events(batch, watched.control)
    watched.events += events
    for name, cause in {"late": LATE, **CAUSES, "unplaced": UNPLACED}.items():
        if counts[name]:
            watched.rejected[cause] = watched.rejected.get(cause, 0) + counts[name]
    watched.in_part += counts["late_in_part"]
    watched.corrected += counts["corrected"]
    watched.duplicates += counts["duplicates"]
    watched.failed += counts["failed"]
    watched.dropped += counts["dropped"]
    watched.windows += counts["windows"]
    watched.groups, watched.memory_bytes = counts["groups"], measures["memory"]
    if counts["clock"] is not None and counts["clock"] != NO_PROBE:
        watched.clock = counts["clock"]
    watched.state_bytes = sum(
        operator["customMetrics"].get("rocksdbSstFileSize", 0) or operator["memoryUsedBytes"]
        for operator in batch["stateOperators"]
    )
    by_shard = shard_measures(observed)
    _add_shards(watched.shards, by_shard)
    for measure in by_shard:
        watched.heavy.update(dict(json.loads(measure["heaviest"])))
    watched.heavy = Counter(dict(heaviest(watched.heavy, REMEMBERED)))
    duration = batch["durationMs"]
    started = datetime.fromisoformat(batch["timestamp"].replace("Z", "+00:00")).timestamp()
    seconds = duration.get("triggerExecution", 0) / 1000
    watched.lag = lag_of(batch["sources"])
    if watched.recent and events:
        watched.waited.add(seconds, started - watched.recent[-1]["started"] + seconds, events)
    cold = watched.batches <= COLD
    about = {"events": events, "started": started, "seconds": seconds, "clock": watched.clock, "cold": cold}
    watched.recent.append(about)
    parts = {name: measures[f"{name}_us"] / 1e6 for name in ("scan", "slice", "slide", "state")}
    for name, value in parts.items():
        watched.seconds[name] += value
    watched.seconds["sinks"] = max(0.0, watched.writing - sum(watched.seconds[name] for name in parts))


def _add_shards(shards: dict[int, ShardProgress], measures: list[dict[str, Any]]) -> None:
    """Note what a batch measured of each shard, in each stage."""
    for shard in shards.values():
        shard.last_seconds, shard.memory_bytes, shard.groups = 0.0, 0, 0
    for measure in measures:
        shard = shards.setdefault(measure["number"], ShardProgress())
        seconds = (measure["slide_us"] + measure["state_us"]) / 1e6
        shard.seconds += seconds
        shard.last_seconds += seconds
        shard.received_bytes += measure["received"]
        shard.events += measure["arrived"]
        shard.groups += measure["held"]
        shard.written_bytes += measure["state_written"]
        shard.memory_bytes += measure["memory"]
        shard.moved += measure["moved"]


def _events(batch: Any, control: str) -> int:
    """The rows that came from the stream; the words to the shards, read from `control`, and what follows are none."""
    own = takewhile(lambda source: not source["description"].endswith(f"{control}]"), batch["sources"])
    return sum(source["numInputRows"] for source in own)


def stream_rate(batches: list[dict[str, Any]]) -> float | None:
    """How many events there are in a second of the stream's own time.

    >>> stream_rate([{"clock": 1_000_000, "events": 5}, {"clock": 3_000_000, "events": 500}])
    250.0
    """
    timed = [batch for batch in batches if batch["clock"] is not None]
    passed = timed[-1]["clock"] - timed[0]["clock"] if timed else 0
    events = sum(batch["events"] for batch in timed[1:])
    return events / passed * 1e6 if events and passed > 0 else None


def delays(batches: list[dict[str, float]]) -> dict[str, float] | None:
    """How long events waited for their results, in seconds, if they arrived evenly between the batches' starts.

    An event that arrives while a batch runs waits for the next one, and then for that one's end. Batches that are
    `cold` are left out, where there are others.

    >>> delays([{"started": 0.0, "seconds": 1.0, "events": 5}, {"started": 1.0, "seconds": 2.0, "events": 5}])
    {'p50': 2.5, 'p99': 2.99, 'max': 3.0}
    """
    waits = []
    warm = any(batch["events"] and not batch.get("cold") for batch in batches[1:])
    for before, batch in pairwise(batches):
        if batch["events"] and not (warm and batch.get("cold")):
            longest = batch["started"] - before["started"] + batch["seconds"]
            waits.append(np.linspace(batch["seconds"], longest, 101))
    if not waits:
        return None
    p50, p99, most = np.percentile(np.concatenate(waits), (50, 99, 100))
    return {"p50": round(float(p50), 3), "p99": round(float(p99), 3), "max": round(float(most), 3)}
