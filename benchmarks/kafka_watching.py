"""What it costs a job to be watched: the CPU time of each scrape of its metrics and of each note of its status.

Throughput with and without them differs from turn to turn by more than they could cost. So the asks themselves are
measured, each by the clocks of the two threads that work for it, one of Python and the one of the JVM that belongs to
it, while the job works as fast as it can and has new batches to tell of. What a request is besides, the server's, is
measured by one for a job that has nothing to tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
from lab.broker import Broker
from pyspark.sql import SparkSession

import windrow
from windrow.serve.metrics import metrics_text
from windrow.serve.metrics_port import MetricsPort
from windrow.spark.job.status_note import EVERY_SECONDS, StatusNote

from .cpu_time import cpu_seconds

QUERY = "SELECT card, SUM(amount) AS total, COUNT(*) AS n FROM tx [RANGE 1 MINUTE SLIDE 1 SECOND] GROUP BY card"
EVERY_BATCH = 5_000
"""So many messages a batch: batches come faster than those who ask, so that each ask finds new ones."""


@dataclass(frozen=True, slots=True)
class Watching:
    """Milliseconds of CPU time, by their medians, and the job's own seconds of CPU in a second."""

    case: str
    asks: int
    scrape_ms: float
    scrape_jvm_ms: float
    request_ms: float
    note_ms: float
    note_jvm_ms: float
    job_cpu_per_second: float
    share: float
    """Of the job's CPU time, where metrics are asked for each second and status is noted as jobs do it."""


def watching(
    spark: SparkSession, broker: Broker, home: Path, topic: str, schema: str, asks: int, queries: int
) -> Watching:
    """Ask a job of so many `queries` that works off a topic so often, a second apart or less."""
    place = home / f"watching-{queries}"
    session = windrow.Session(spark, shards=2)
    options = {"maxOffsetsPerTrigger": EVERY_BATCH}
    session.stream_kafka("tx", broker.address, topic, schema=schema, time="ts", options=options)
    for number in range(queries):
        session.query(f"sums_{number}", QUERY.replace("1 MINUTE", f"{60 + number} SECONDS"))
    sinks = {f"sums_{number}": windrow.sink("noop") for number in range(queries)}
    job = session.start(str(place / "checkpoint"), sinks)
    note = StatusNote(place, job.progress, lambda: job.queries, lambda: True, job.keep_statistics)
    note.end()  # it writes when it is told to, here
    timed = _Timed(spark)
    try:
        while not job.progress() or next(iter(job.progress().values())).batches < 3:
            assert not job.wait(0.2), "the job has ended"
        began, before = time.monotonic(), cpu_seconds(without=[broker.process])
        scrapes, notes = list[tuple[float, float]](), list[tuple[float, float]]()
        for _ in range(asks):
            assert not job.wait(0.5), "the job has worked off its topic: it needs to be longer"
            scrapes.append(timed(lambda: metrics_text(job.progress())))
            assert not job.wait(0.5), "the job has worked off its topic: it needs to be longer"
            notes.append(timed(lambda: note._write("running")))
        spent = sum(map(sum, (*scrapes, *notes))) / 1000
        took, used = time.monotonic() - began, cpu_seconds(without=[broker.process]) - before
    finally:
        job.stop()
    own, (scrape, scrape_jvm), (note_ms, note_jvm) = (used - spent) / took, *map(_medians, (scrapes, notes))
    request = _request_ms()
    a_second = (scrape + scrape_jvm + request + (note_ms + note_jvm) / EVERY_SECONDS) / 1000
    name = f"watching a job of {queries} quer{'y' if queries == 1 else 'ies'}"
    return Watching(name, asks, scrape, scrape_jvm, request, note_ms, note_jvm, own, a_second / own)


class _Timed:
    """Measures calls by the clocks of this thread and of the thread of the JVM that works for it."""

    def __init__(self, spark: SparkSession) -> None:
        self._bean: Any = spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()  # type: ignore[union-attr]
        self._empty = np.median([self._once(lambda: None) for _ in range(50)], axis=0)

    def __call__(self, ask: Callable[[], object]) -> tuple[float, float]:
        took = np.maximum(0, self._once(ask) - self._empty)
        return float(took[0]), float(took[1])

    def _once(self, ask: Callable[[], object]) -> np.ndarray:
        jvm, here = self._bean.getCurrentThreadCpuTime(), time.thread_time_ns()
        ask()
        here = time.thread_time_ns() - here
        return np.array([here, self._bean.getCurrentThreadCpuTime() - jvm]) / 1e6


def _request_ms(times: int = 200) -> float:
    """Of a request for the metrics of no job, with the one who asks: all of it is in this process."""
    with MetricsPort("127.0.0.1:0").serving() as port:
        before = time.process_time()
        for _ in range(times):
            with urlopen(f"http://{port.address}/metrics", timeout=30) as answer:
                answer.read()
        return (time.process_time() - before) * 1000 / times


def _medians(took: list[tuple[float, float]]) -> tuple[float, float]:
    here, jvm = np.median(took, axis=0)
    return float(here), float(jvm)
