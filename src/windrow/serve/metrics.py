"""The figures of a job as Prometheus has them: names, types and units by its conventions.

Whoever serves them calls `metrics_text` with what `job.progress()` gives: a port of our own, or a page that has others.
Nothing is kept between two calls, so that who asks often costs no more than `job.progress()` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from windrow.errors import SettingsError
from windrow.plan.nodes.run_names import streams_in
from windrow.spark.job.progress import skew

if TYPE_CHECKING:
    from prometheus_client.core import Metric

Figures = Mapping[str, Any]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

COUNTERS = {
    "windrow_batches": ("batches", "Micro-batches that are done."),
    "windrow_events": ("events", "Events that were read."),
    "windrow_windows": ("windows", "Windows that were answered."),
    "windrow_corrected_events": ("corrected", "Late events for which windows were answered again."),
    "windrow_late_in_part": ("late_in_part", "Events that came when some of their windows had been answered."),
    "windrow_missing_files": ("missing_files", "Files that were gone when a batch was to read them."),
    "windrow_failed_values": ("failed", "Values that overflowed or could not be cast, and are NULL."),
    "windrow_dropped": ("dropped", "Panes and rows that were given up when the clock was set back."),
    "windrow_duplicate_events": ("duplicates", "Events that had come before, and were left out."),
    "windrow_seam_events": ("seam", "Events at the seam of a history and its stream, left to the other of the two."),
    "windrow_shed_events": ("shed", "Events that were left out since the stream was delayed: SHED ABOVE."),
    "windrow_missing_messages": ("missing_messages", "Messages that were gone from a topic before they were read."),
    "windrow_restarts": ("restarts", "Times that the Spark query of the stream died and came back."),
}
"""By name the figure that only grows, and what it counts."""

GAUGES = {
    "windrow_events_per_second": ("events_per_second", "Events worked off in a second, over the last batches."),
    "windrow_groups": ("groups", "Groups in state."),
    "windrow_state_bytes": ("state_bytes", "State on disk."),
    "windrow_memory_bytes": ("memory_bytes", "State that workers have in memory."),
    "windrow_share": ("share", "Share of the events that is taken now: 1 unless some are shed."),
    "windrow_waiting": ("waiting", "1 where all that came is worked off."),
}


SHARD_GAUGES = {
    "windrow_shard_groups": ("groups", "Groups in the state of a shard."),
    "windrow_shard_memory_bytes": ("memory_bytes", "State of a shard that a worker has in memory."),
    "windrow_shard_last_batch_seconds": ("last_seconds", "What the last batch took a shard."),
}
SHARD_COUNTERS = {
    "windrow_shard_seconds": ("seconds", "What a shard has taken in all."),
    "windrow_shard_events": ("events", "Events that were sent to a shard."),
    "windrow_shard_state_written_bytes": ("written_bytes", "State that a shard has written."),
    "windrow_shard_moves": ("moved", "Times that a shard was read anew, since another worker had run it last."),
}


def metrics_text(progress: Mapping[str, Figures], now: float | None = None) -> str:
    """All metrics of a job in Prometheus' text format, from `job.progress()` or its `to_dict()`.

    `now` is the wall clock, in seconds since 1970, to which the clocks of streams are compared.
    """
    from_client = _client()
    registry = from_client.CollectorRegistry()
    registry.register(_Collected(lambda: families(progress, now)))
    text: str = from_client.generate_latest(registry).decode()
    return text


class _Collected:
    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self.collect = collect


def families(progress: Mapping[str, Figures], now: float | None = None) -> list[Metric]:
    """The metrics of all streams of a job, each family once."""
    core = _client().core
    instant = time.time() if now is None else now
    streams = {", ".join(streams_in(run)): figures for run, figures in progress.items()}
    found: list[Metric] = []

    def counter(name: str, help: str, rows: Iterable[tuple[list[str], float]], labels: list[str]) -> None:
        family = core.CounterMetricFamily(name, help, labels=labels)
        for values, value in rows:
            family.add_metric(values, float(value))
        found.append(family)

    def gauge(name: str, help: str, rows: Iterable[tuple[list[str], float]], labels: list[str]) -> None:
        family = core.GaugeMetricFamily(name, help, labels=labels)
        for values, value in rows:
            family.add_metric(values, float(value))
        found.append(family)

    def each(figure: str) -> list[tuple[list[str], float]]:
        return [([stream], figures[figure]) for stream, figures in streams.items()]

    def by(figure: str) -> list[tuple[list[str], float]]:
        pairs = ((stream, figures[figure]) for stream, figures in streams.items())
        return [([stream, label], value) for stream, counts in pairs for label, value in counts.items()]

    def by_shard(figure: str) -> list[tuple[list[str], float]]:
        pairs = ((stream, figures["shards"]) for stream, figures in streams.items())
        return [([stream, str(number)], _of(own, figure)) for stream, shards in pairs for number, own in shards.items()]

    for name, (figure, help) in COUNTERS.items():
        counter(name, help, each(figure), ["stream"])
    for name, (figure, help) in GAUGES.items():
        gauge(name, help, each(figure), ["stream"])
    for name, (figure, help) in SHARD_GAUGES.items():
        gauge(name, help, by_shard(figure), ["stream", "shard"])
    for name, (figure, help) in SHARD_COUNTERS.items():
        counter(name, help, by_shard(figure), ["stream", "shard"])
    skews = [([stream], skew(figures["shards"])) for stream, figures in streams.items()]
    gauge(
        "windrow_shard_skew",
        "How many times the mean of all shards the slowest took for the last batch.",
        [(labels, value) for labels, value in skews if value is not None],
        ["stream"],
    )
    errors = [([s], own["last_error"]["at"]) for s, own in streams.items() if own.get("last_error") is not None]
    gauge("windrow_last_error_timestamp_seconds", "When something of the stream last died.", errors, ["stream"])
    counter("windrow_rejected_events", "Events that no window took, by cause.", by("rejected"), ["stream", "cause"])
    absent = [(s, column, n) for s, own in streams.items() for column, n in own.get("absent", {}).items()]
    labels = ["stream", "column"]
    lacking = [([stream, column], counted["files"]) for stream, column, counted in absent]
    counter("windrow_absent_column_files", "Files that lack a column which queries read.", lacking, labels)
    without = [([stream, column], counted["rows"]) for stream, column, counted in absent]
    counter("windrow_absent_column_rows", "Rows in which a column is NULL since it is not there.", without, labels)
    counter("windrow_stage_seconds", "Where the time went, by step.", by("seconds"), ["stream", "stage"])
    counter("windrow_query_seconds", "What tasks took for each query.", by("query_seconds"), ["stream", "query"])
    counter("windrow_sink_seconds", "What it took to write into each sink.", by("sink_seconds"), ["stream", "sink"])
    counter("windrow_answers", "Rows that each query has given.", by("rows"), ["stream", "query"])
    gauge("windrow_answers_per_second", "Rows of each query lately.", by("rows_per_second"), ["stream", "query"])
    histories = [([s], own["history"]["left"]) for s, own in streams.items() if own.get("history") is not None]
    gauge("windrow_history_files_left", "Files of a history that are not read yet.", histories, ["stream"])
    stopped = [([stream, query], 1.0) for stream, figures in streams.items() for query in figures["stopped"]]
    gauge("windrow_query_stopped", "1 for a query that has stopped, while others go on.", stopped, ["stream", "query"])
    clocks = [(stream, _seconds(figures["clock"])) for stream, figures in streams.items()]
    known = [(stream, clock) for stream, clock in clocks if clock is not None]
    gauge(
        "windrow_clock_timestamp_seconds",
        "How far the time of the stream has come, in seconds since 1970.",
        [([stream], clock) for stream, clock in known],
        ["stream"],
    )
    gauge(
        "windrow_clock_behind_seconds",
        "How far the time of the stream is behind the wall clock.",
        [([stream], instant - clock) for stream, clock in known],
        ["stream"],
    )
    gauge(
        "windrow_kafka_lag_messages",
        "Messages of a partition that were not read when the last batch began.",
        [
            ([stream, *partition.rsplit("/", 1)], lag)
            for stream, figures in streams.items()
            for partition, lag in figures["lag"].items()
        ],
        ["stream", "topic", "partition"],
    )
    delays = core.HistogramMetricFamily(
        "windrow_delay_seconds", "How long events waited for their answers.", labels=["stream"]
    )
    for stream, figures in streams.items():
        waited = figures["waited"]
        if waited is not None:
            buckets = [*waited["counts"].items(), ("+Inf", waited["events"])]
            delays.add_metric([stream], buckets, waited["seconds"])
    found.append(delays)
    return found


def _of(shard: Any, figure: str) -> float:
    return float(shard[figure] if isinstance(shard, dict) else getattr(shard, figure))


def _seconds(clock: datetime | str | None) -> float | None:
    if clock is None:
        return None
    return (clock if isinstance(clock, datetime) else datetime.fromisoformat(clock)).timestamp()


def _client() -> Any:
    try:
        import prometheus_client
        import prometheus_client.core
    except ImportError:
        raise SettingsError("metrics need prometheus-client\nhint: pip install 'windrow[metrics]'") from None
    return prometheus_client
