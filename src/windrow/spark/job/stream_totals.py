"""What the batches of one stream have come to: from Spark's own progress and the counts that slide sends along."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from windrow.runtime.reject import CAUSES, LATE, REFUSED, UNPLACED, UNSENT
from windrow.runtime.weigh import heaviest
from windrow.spark.job.batch_reports import BatchReports
from windrow.spark.job.measures import (
    METRICS,
    Observed,
    added_up,
    observed_in,
    seen_by_tasks,
    shard_measures,
    total_measures,
)
from windrow.spark.job.progress import ShardProgress
from windrow.spark.job.reports import Reports
from windrow.spark.job.statistics import Gathered
from windrow.spark.job.waited import Waited
from windrow.spark.sources.absent import Absent, absent_in_batch, add_absent
from windrow.spark.sources.history import FilesLeft
from windrow.spark.sources.kafka_lag import ends_of, lag_of
from windrow.spark.stages.slice import NO_PROBE
from windrow.spark.stages.slide import COUNTS

REMEMBERED = 256
"""So many of the heaviest groups are remembered from batch to batch, to find those that are told."""

_REJECTED = {"late": LATE, **CAUSES, "unplaced": UNPLACED, "unsent": UNSENT, "refused": REFUSED}
"""Why events are rejected, by what counts them."""

RECENT = 100
"""So many batches make up the figures for speed and delay."""

COLD = 3
"""The first batches of a job load and compile what all others find ready: their delays are told apart from the rest."""


@dataclass(slots=True)
class StreamTotals:
    """What the batches of one stream have come to, by its Spark query's reports and by what is told beside them."""

    query: StreamingQuery | None = None
    control: str = ""
    by_name: bool = False
    reports: Reports | None = None
    batch_reports: BatchReports | None = None
    seen: int = -1
    batches: int = 0
    events: int = 0
    rejected: dict[str, int] = field(default_factory=lambda: {"late": 0, "no time": 0, "unreadable": 0})
    in_part: int = 0
    corrected: int = 0
    duplicates: int = 0
    seam: int = 0
    shed: int = 0
    share: float = 1.0
    left: FilesLeft | None = None
    last_error: dict[str, Any] | None = None
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
    ends: list[Mapping[str, Mapping[str, int]]] = field(default_factory=list)
    lost: int = 0
    waited: Waited = field(default_factory=Waited)
    shards: dict[int, ShardProgress] = field(default_factory=dict)
    heavy: Counter[str] = field(default_factory=Counter)
    gathered: Gathered = field(default_factory=Gathered)
    missing: int = 0
    absent: Absent = field(default_factory=dict)
    newly_absent: Absent = field(default_factory=dict)
    looked_into: bool = False
    told: dict[int, dict[str, Any]] = field(default_factory=dict)
    query_us: Counter[str] = field(default_factory=Counter)
    sink_us: Counter[str] = field(default_factory=Counter)
    writing: float = 0.0
    written: int = 0
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)

    def update(self) -> None:
        """Add up the batches that Spark has told of since the last time."""
        if self.batch_reports is None:
            return
        for batch in self.batch_reports.after(self.seen):
            observed = observed_in(batch["observedMetrics"])
            if batch["batchId"] in self.told:
                observed[METRICS] = self.told[batch["batchId"]]
            if METRICS in observed:
                self.seen = batch["batchId"]
                self._take_report(batch["batchId"])
                self._add(batch, observed)
        self.told = {number: told for number, told in self.told.items() if number > self.seen}

    def tell(self, batch: int, shards: list[dict[str, Any]]) -> None:
        """Note what the shards of a batch have counted, where Spark does not observe it."""
        self.told[batch] = added_up(shards, COUNTS)

    def count(self, rows: dict[str, int], query_us: Mapping[str, int], sink_us: Mapping[str, int]) -> None:
        """Count the rows of a batch by query, and what queries and sinks took."""
        self.query_us.update(query_us)
        self.sink_us.update(sink_us)
        self.rows.update(rows)
        self.recent_rows.append(rows)

    def lack(self, absent: Absent) -> None:
        """Count columns that files, or all events of a batch, lack; those that were never before are `newly_absent`."""
        for column, (files, rows) in absent.items():
            if column not in self.absent:
                self.newly_absent[column] = files, rows
            add_absent(self.absent, column, files, rows)

    def _take_report(self, batch: int) -> None:
        """Count what another process has told of a batch that it wrote."""
        report = None if self.reports is None else self.reports.of(batch)
        if report is not None:
            self.writing += report.seconds
            self.count(report.rows, report.query_us, report.sink_us)

    def _add(self, batch: Any, observed: Observed) -> None:
        counts = observed[METRICS]
        if counts["windows"] is None:
            return
        measures = total_measures(observed)
        self.batches += 1
        events = measures["events"] if self.by_name else _events(batch, self.control)
        self.events += events
        rejected = 0
        for name, cause in _REJECTED.items():
            if counts[name]:
                self.rejected[cause] = self.rejected.get(cause, 0) + counts[name]
                rejected += counts[name]
        self.in_part += counts["late_in_part"]
        self.corrected += counts["corrected"]
        self.duplicates += counts["duplicates"]
        self.seam += counts["seam"]
        self.shed += counts["shed"]
        self.failed += counts["failed"]
        self.dropped += counts["dropped"]
        self.windows += counts["windows"]
        self.groups, self.memory_bytes = counts["groups"], measures["memory"]
        if counts["clock"] is not None and counts["clock"] != NO_PROBE:
            self.clock = counts["clock"]
        self.state_bytes = sum(
            operator["customMetrics"].get("rocksdbSstFileSize", 0) or operator["memoryUsedBytes"]
            for operator in batch["stateOperators"]
        )
        by_shard = shard_measures(observed)
        _add_shards(self.shards, by_shard)
        seen = seen_by_tasks(observed)
        self.gathered.add_tasks(seen)
        if not self.looked_into:
            self.lack(absent_in_batch(seen))
        self.gathered.add_shards(by_shard)
        for measure in by_shard:
            self.heavy.update(dict(json.loads(measure["heaviest"])))
            self.query_us.update(json.loads(measure["took"] or "{}"))
        self.heavy = Counter(dict(heaviest(self.heavy, REMEMBERED)))
        duration = batch["durationMs"]
        started = datetime.fromisoformat(batch["timestamp"].replace("Z", "+00:00")).timestamp()
        seconds = duration.get("triggerExecution", 0) / 1000
        self.lag, self.ends = lag_of(batch["sources"]), ends_of(batch["sources"])
        if self.recent and events:
            self.waited.add(seconds, started - self.recent[-1]["started"] + seconds, events)
        cold = self.batches <= COLD
        parts = {name: measures[f"{name}_us"] / 1e6 for name in ("scan", "slice", "slide", "state")}
        about = {"events": events, "started": started, "seconds": seconds, "clock": self.clock, "cold": cold}
        about |= {"batch": batch["batchId"], "windows": counts["windows"], "parts": parts}
        self.recent.append(about | {"rejected": rejected, "shed": counts["shed"]})
        for name, value in parts.items():
            self.seconds[name] += value
        self.seconds["sinks"] = max(0.0, self.writing - sum(self.seconds[name] for name in parts))


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
