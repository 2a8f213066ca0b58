"""Figures of a job are sums over all its batches, however seldom somebody looks."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row

from windrow.spark.job.measures import HEAVIEST, METRICS, SHARD_MEASURES, SLIDE_MEASURES
from windrow.spark.job.progress import ShardProgress
from windrow.spark.job.watched import Watched
from windrow.spark.sinks.costs import Costs
from windrow.spark.stages.slide import COUNTS

KEPT = 100
"""Spark keeps the reports of so many batches."""


NO_SHARD = dict.fromkeys(SHARD_MEASURES, 0) | {HEAVIEST: "[]"}


def report(number: int, **counts: int) -> dict[str, Any]:
    """What Spark says of a batch of 10 events."""
    source = {"description": "FileStreamSource[file:/in]", "numInputRows": 10}
    words = {"description": "FileStreamSource[file:/control]", "numInputRows": 1}
    return {
        "batchId": number,
        "observedMetrics": {METRICS: Row(**(dict.fromkeys((*COUNTS, "windows"), 0) | counts))},
        "sources": [source, words],
        "stateOperators": [],
        "durationMs": {"triggerExecution": 500, "addBatch": 400},
        "timestamp": "2024-01-01T00:00:00.000Z",
    }


def running(reports: list[dict[str, Any]], waits: bool = False) -> SimpleNamespace:
    """A Spark query that runs, or waits for input, and has told this of its batches."""
    status = {"message": "", "isDataAvailable": not waits, "isTriggerActive": not waits}
    return SimpleNamespace(recentProgress=reports, isActive=True, status=status)


def test_rows_are_counted_by_query_and_waiting_is_told():
    watched = Watched()
    watched.watch("ticks", running([report(0), report(1)], waits=True), "/control")
    for rows, costs in (({"a": 30, "b": 0}, Costs(Counter(a=2_000_000, b=1))), ({"a": 10}, Costs(Counter(a=500_000)))):
        watched.wrote("ticks", rows, costs)
    figures = watched.progress()["ticks"]
    assert (figures.query_seconds, figures.sink_seconds) == ({"a": 2.5, "b": 1e-6}, {})
    assert (figures.rows, figures.rows_per_second, figures.waiting) == ({"a": 40, "b": 0}, {"a": 40.0, "b": 0.0}, True)
    watched.watch("ticks", running([]), "/control")
    assert not watched.progress()["ticks"].waiting


def test_no_batch_is_forgotten_before_it_is_counted():
    query = running([])
    watched = Watched()
    watched.watch("ticks", query, "/control")
    for number in range(1_000):
        with watched.writing("ticks"):
            pass
        query.recentProgress = [*query.recentProgress, report(number, late=1)][-KEPT:]
    figures = watched.progress()["ticks"]
    assert (figures["batches"], figures["events"], figures["rejected"]["late"]) == (1_000, 10_000, 1_000)


def test_what_spark_tells_of_a_batch_before_it_runs_is_not_that_batch():
    idle, ran = report(1), report(1)
    idle |= {"durationMs": {"triggerExecution": 1}, "observedMetrics": {}}
    idle["sources"] = [source | {"numInputRows": 0} for source in idle["sources"]]
    ran["observedMetrics"] = {}
    watched = Watched()
    watched.watch("ticks", running([idle, ran]), "/control")
    shard = dict.fromkeys(COUNTS, 0) | dict.fromkeys(SLIDE_MEASURES, 0) | NO_SHARD | {"alone": 3, "shared": []}
    watched.counted("ticks", 1, [shard])
    figures = watched.progress()["ticks"]
    assert (figures["batches"], figures["events"], figures["windows"]) == (1, 10, 3)


def test_a_stream_that_is_started_again_goes_on_counting():
    watched = Watched()
    for _ in range(2):
        watched.watch("ticks", running([report(0, untimed=2), report(1)]), "/control")
    figures = watched.progress()["ticks"]
    assert (figures["batches"], figures["rejected"]["no time"]) == (4, 4)


@pytest.mark.parametrize(
    ("clock", "shown"),
    [
        (1_700_000_000_123_457, datetime(2023, 11, 14, 22, 13, 20, 123_457, UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)),
        (2**63 - 1, datetime.max.replace(tzinfo=UTC)),
        (-(2**62), datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_the_clock_is_shown_wherever_it_stands(clock: int, shown: datetime):
    watched = Watched()
    watched.watch("ticks", running([report(0, clock=clock)]), "/control")
    assert watched.progress()["ticks"]["clock"] == shown


def test_figures_are_read_as_attributes_by_name_and_as_text():
    watched = Watched()
    watched.watch("ticks", running([report(0, late=3, clock=1_700_000_000_000_000)]), "/control")
    progress = watched.progress()
    figures = progress["ticks"]
    assert figures.events == figures["events"] == 10
    assert dict(figures) == {name: getattr(figures, name) for name in figures}
    assert {"events", "batches", "windows", "clock", "rejected", "late_in_part", "failed", "groups"} <= set(figures)
    assert json.loads(json.dumps(progress.to_dict()))["ticks"]["clock"] == "2023-11-14T22:13:20+00:00"
    assert str(progress).startswith("ticks: 10 events in 1 batches, 20 a second, clock 2023-11-14 22:13:20+00:00")
    assert str(progress).endswith("late: 3")
    with pytest.raises(KeyError):
        figures["nothing"]


def test_a_shard_that_holds_up_the_others_is_seen_and_so_are_those_that_move():
    def batch(number: int, slow_us: int, moved: int) -> dict[str, Any]:
        told = report(number)
        shards = [
            NO_SHARD
            | dict(number=n, slide_us=[slow_us, 100_000][n], received=9, memory=7, moved=moved, arrived=4, held=3)
            | {HEAVIEST: json.dumps([("k = a", 2 + n), (f"k = {n}", 1)])}
            for n in (0, 1)
        ]
        stage = NO_SHARD | dict(number=1, slide_us=50_000, state_us=50_000, received=1, memory=1, state_written=8)
        first = Row(by_shard=[stage])
        metrics = told["observedMetrics"]
        metrics[METRICS] = Row(**metrics[METRICS].asDict(), by_shard=shards)
        metrics[f"{METRICS} stage 0"] = first
        return told

    watched = Watched()
    watched.watch("ticks", running([batch(0, 5_000_000, 1), batch(1, 2_000_000, 0)]), "/control")
    figures = watched.progress()["ticks"]
    assert [shard.moved for shard in figures.shards.values()] == [1, 1]
    assert [(s.events, s.groups, s.written_bytes) for s in figures.shards.values()] == [(8, 3, 0), (8, 3, 16)]
    assert list(figures.heaviest.items()) == [("k = a", 10), ("k = 0", 2), ("k = 1", 2)]
    assert figures.shards[0].seconds == 7.0 and figures.shards[0].last_seconds == 2.0
    assert (figures.shards[1].last_seconds, figures.shards[1].received_bytes, figures.shards[1].memory_bytes) == (
        0.2,
        20,
        8,
    )
    assert "shard 0 takes" not in str(
        figures
    )  # of two shards none can take twice their mean, if the other works at all
    assert json.loads(json.dumps(watched.progress().to_dict()))["ticks"]["shards"]["0"]["moved"] == 1
    slow = replace(figures, shards={0: ShardProgress(last_seconds=9.0), 1: ShardProgress(), 2: ShardProgress()})
    assert "shard 0 takes 9.0 s" in str(slow) and "most events have k = a (10)" in str(slow)
