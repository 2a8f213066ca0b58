"""How the streams of a job are doing: what their batches have come to, as the figures that are shown."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from windrow.plan.instants import shown_instant
from windrow.plan.nodes.run_names import streams_in
from windrow.plan.stream_statistics import StreamStatistics
from windrow.runtime.reject import LATE
from windrow.runtime.weigh import heaviest
from windrow.spark.job.batch_reports import BatchReports
from windrow.spark.job.progress import Progress, StreamProgress
from windrow.spark.job.rates import delays, row_rates, stream_rate
from windrow.spark.job.reports import Reports
from windrow.spark.job.stream_totals import StreamTotals
from windrow.spark.sinks.costs import Costs
from windrow.spark.sources.absent import Absent, told_of_absent
from windrow.spark.sources.history import FilesLeft

LOGGER = logging.getLogger("windrow")

TOLD = 5
"""So many of the heaviest groups are told."""

_OFTEN = 25
"""After so many batches their reports are added up, asked for or not: Spark forgets all but the last hundred."""


class Watched:
    """Adds up what each batch of each stream reports.

    Events that all lay there when the job began have not waited for anything: where they do, there is no `delay`.
    """

    def __init__(self, *, live: bool = True) -> None:
        self._live, self._lock = live, Lock()
        self._streams: dict[str, StreamTotals] = {}

    def watch(
        self,
        stream: str,
        query: StreamingQuery,
        control: str,
        by_name: bool = False,
        reports: Reports | None = None,
        left: FilesLeft | None = None,
    ) -> None:
        """Follow the Spark query of a stream, whose shards get their words from the folder `control`.

        Where Spark reads files only `by_name`, its own count of rows is one of names. `reports` are where another
        process that writes the batches tells of them. `left` says how far a history is that it reads.
        """
        watched = self._streams.setdefault(stream, StreamTotals())
        self._update(stream)
        watched.query, watched.seen, watched.control, watched.by_name = query, -1, control, by_name
        watched.reports, watched.left, watched.batch_reports = reports, left, BatchReports(query)

    @contextmanager
    def writing(self, stream: str) -> Iterator[None]:
        """Time a batch from its first row asked for to its last row written."""
        began = time.perf_counter()
        yield
        watched = self._streams.setdefault(stream, StreamTotals())
        watched.writing += time.perf_counter() - began
        watched.written += 1
        if watched.written % _OFTEN == 0:
            self._update(stream)

    def miss(self, stream: str, files: int) -> None:
        """Count files that a batch was to read, and that were gone."""
        self._streams.setdefault(stream, StreamTotals()).missing += files

    def lack(self, stream: str, absent: Absent | None) -> None:
        """Count columns that the files of a batch lack; None where nobody has looked into them."""
        with self._lock:
            watched = self._streams.setdefault(stream, StreamTotals())
            watched.looked_into = absent is not None
            watched.lack(absent or {})

    def lose(self, stream: str, messages: int) -> None:
        """Count messages that were gone from a topic before they were read."""
        self._streams.setdefault(stream, StreamTotals()).lost += messages

    def late(self, stream: str) -> int:
        """How many events of a stream were late, since the job was started."""
        watched = self._streams.setdefault(stream, StreamTotals())
        self._update(stream)
        return watched.rejected.get(LATE, 0)

    def take(self, stream: str, share: float) -> None:
        """Tell which share of its rows a stream takes from now on."""
        self._streams.setdefault(stream, StreamTotals()).share = share

    def left_us(self, stream: str) -> int:
        """How long it would take to read what was left in the topics of a stream when the last told batch began."""
        watched = self._streams.setdefault(stream, StreamTotals())
        self._update(stream)
        left = sum(watched.lag.values())
        if not left or not watched.recent or not watched.recent[-1]["events"]:
            return 0
        seconds: float = left * watched.recent[-1]["seconds"] / watched.recent[-1]["events"]
        return round(1e6 * seconds)

    def recent(self, stream: str) -> list[dict[str, Any]]:
        """What is noted of the last batches of a stream, the oldest first."""
        watched = self._streams.setdefault(stream, StreamTotals())
        self._update(stream)
        return list(watched.recent)

    def batches(self) -> dict[str, list[dict[str, Any]]]:
        """What is noted of the last batches of each stream, the oldest first."""
        found = {}
        for stream, watched in list(self._streams.items()):
            self._update(stream)
            found[stream] = list(watched.recent)
        return found

    def ends(self, stream: str) -> list[Mapping[str, Mapping[str, int]]]:
        """Up to where the last finished batch of a stream has read the topics that it reads."""
        watched = self._streams.setdefault(stream, StreamTotals())
        self._update(stream)
        return list(watched.ends)

    def wrote(self, stream: str, rows: dict[str, int], costs: Costs) -> None:
        """Count the rows of a batch by query, and what queries and sinks took."""
        self._streams.setdefault(stream, StreamTotals()).count(rows, costs.queries, costs.sinks)

    def counted(self, stream: str, batch: int, shards: list[dict[str, Any]]) -> None:
        """Note what the shards of a batch have counted, where Spark does not observe it."""
        if shards:
            with self._lock:  # whoever asks for figures takes them from there
                self._streams.setdefault(stream, StreamTotals()).tell(batch, shards)

    def table_read(self, stream: str, table: str, version: str, read_us: int, failed: str | None) -> None:
        """Tell which version of a table is joined, when it was read, and why it was not read again, if it was not."""
        told = {"version": version, "read": shown_instant(read_us).isoformat(), "failed": failed}
        self._streams.setdefault(stream, StreamTotals()).tables[table] = told

    def query_stopped(self, stream: str, name: str, why: str) -> None:
        """Tell of a query that has stopped while others go on."""
        self._streams.setdefault(stream, StreamTotals()).stopped[name] = why

    def query_resumed(self, name: str) -> None:
        """It has been brought back, or replaced by another one of its name."""
        for watched in self._streams.values():
            watched.stopped.pop(name, None)

    def restarted(self, stream: str) -> None:
        """Count that the Spark query of a stream has died and comes back."""
        self._streams.setdefault(stream, StreamTotals()).restarts += 1

    def failed(self, stream: str, why: str) -> None:
        """Note what something of a stream has died of, whatever becomes of it."""
        self._streams.setdefault(stream, StreamTotals()).last_error = {"why": why, "at": time.time()}

    def progress(self) -> Progress:
        """The figures of each stream, up to its last finished batch."""
        return Progress({stream: self._figures(stream) for stream in list(self._streams)})

    def _figures(self, stream: str) -> StreamProgress:
        self._update(stream)
        watched = self._streams[stream]
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
            seam=watched.seam,
            shed=watched.shed,
            share=watched.share,
            history=_history(watched.left),
            last_error=watched.last_error,
            missing_files=watched.missing,
            absent={name: {"files": own[0], "rows": own[1]} for name, own in list(watched.absent.items())},
            missing_messages=watched.lost,
            failed=watched.failed,
            dropped=watched.dropped,
            delay=delays(list(watched.recent)) if self._live else None,
            groups=watched.groups,
            state_bytes=watched.state_bytes,
            memory_bytes=watched.memory_bytes,
            seconds=dict(watched.seconds),
            rows=dict(watched.rows),
            rows_per_second=row_rates(list(watched.recent_rows), wall),
            waiting=_waits(watched.query),
            query_seconds=_dearest(watched.query_us),
            sink_seconds=_dearest(watched.sink_us),
            stopped=dict(watched.stopped),
            restarts=watched.restarts,
            tables={name: dict(told) for name, told in watched.tables.items()},
            lag=dict(watched.lag),
            waited=watched.waited.figures() if self._live else None,
            heaviest=dict(heaviest(watched.heavy, TOLD)),
            shards={number: replace(shard) for number, shard in sorted(watched.shards.items())},
        )

    def statistics(self) -> dict[str, dict[str, StreamStatistics]]:
        """What the streams of each run are like, as far as it was measured."""
        found = {}
        for run, watched in list(self._streams.items()):
            self._update(run)
            recent = list(watched.recent)
            delay = delays(recent) if self._live else None
            late = watched.rejected.get(LATE, 0)
            found[run] = watched.gathered.statistics(stream_rate(recent), late, delay)
        return found

    def _update(self, stream: str) -> None:
        watched = self._streams[stream]
        with self._lock:  # a stream's own thread and whoever asks for figures
            watched.update()
            news, watched.newly_absent = watched.newly_absent, {}
        for column, (files, rows) in news.items():
            LOGGER.warning(told_of_absent(", ".join(streams_in(stream)), column, files, rows))


def _history(left: FilesLeft | None) -> dict[str, int] | None:
    """How many files a history has that is being read, and how many of them no batch has been made of yet."""
    return None if left is None else {"files": left.files, "left": max(0, left.files - left.noted())}


def _dearest(microseconds: Counter[str]) -> dict[str, float]:
    """Seconds by name, most first.

    >>> _dearest(Counter(a=1_500_000, b=2_000_000))
    {'b': 2.0, 'a': 1.5}
    """
    return {name: took / 1e6 for name, took in microseconds.most_common()}


def _waits(query: StreamingQuery | None) -> bool:
    """Whether a Spark query runs and has nothing to do."""
    if query is None or not query.isActive:
        return False
    status = query.status
    return not status["isDataAvailable"] and not status["isTriggerActive"]
