"""Events per second of a job that reads JSON from Kafka, beside Spark that only decodes it; and what metrics cost."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch
from urllib.request import urlopen

import duckdb
from lab.broker import Broker
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import windrow
from windrow.plan.kafka_options import BATCH_MESSAGES
from windrow.serve.metrics_port import MetricsPort
from windrow.spark.job import status_note

from .cpu_time import cpu_seconds
from .size import Size

CARDS = 100
SCHEMA = "card STRING, amount DOUBLE, ts TIMESTAMP"
QUERY = "SELECT card, SUM(amount) AS total, COUNT(*) AS n FROM tx [RANGE 1 MINUTE SLIDE 1 SECOND] GROUP BY card"
NEVER = 1e6


@dataclass(frozen=True, slots=True)
class Measurement:
    """Events per second of one way, over the same topic, in one run; the ratio is to the one before.

    CPU seconds are those of the driver, the JVM and the workers for a whole run, with its first batch.
    """

    case: str
    events: int
    events_per_second: float
    ratio: float | None
    cpu_seconds: float
    spread: float
    """How much longer the slowest turn took than the best: a difference that is smaller says nothing."""


def events(count: int) -> Iterator[bytes]:
    """A thousand events in a second of their own time."""
    begin = 1_767_225_600
    for i in range(count):
        instant = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(begin + i // 1000))
        yield json.dumps({"card": f"c{(i * 7) % CARDS}", "amount": float(i % 1000), "ts": instant}).encode()


class Bench:
    """Reads one topic again and again, in one Spark."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path, count: int, batch: int) -> None:
        self._spark, self._broker, self._folder, self._batch = spark, broker, folder, batch
        self._count, self.timed, self._runs = count, count - batch, 0
        self._topic = broker.topic(2)
        # by turns, or batches would have one partition ahead of the other, and events late
        broker.send(self._topic, ({"value": event, "partition": i % 2} for i, event in enumerate(events(count))))

    def decode(self) -> float:
        """Seconds that Spark takes to read and decode the topic, into nothing, once it is warm."""
        rows = self._spark.readStream.format("kafka").option("kafka.bootstrap.servers", self._broker.address)
        rows = rows.option("subscribe", self._topic).option("startingOffsets", "earliest")
        rows = rows.option("maxOffsetsPerTrigger", self._batch)
        decoded = rows.load().select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("e")).select("e.*")
        writing = decoded.writeStream.format("noop").option("checkpointLocation", str(self._place() / "checkpoint"))
        query = writing.trigger(availableNow=True).start()
        query.awaitTermination()
        return _seconds([progress["durationMs"]["triggerExecution"] for progress in query.recentProgress])

    def answer(self, *, watched: bool = True) -> float:
        """Seconds that a job with one query takes for the same, once it is warm; its answers are DuckDB's.

        Where it is `watched`, it notes its status, and its metrics are asked for each second; else neither.
        """
        session, place = windrow.Session(self._spark, shards=2), self._place()
        options = {"maxOffsetsPerTrigger": self._batch}
        session.stream_kafka("tx", self._broker.address, self._topic, schema=SCHEMA, time="ts", options=options)
        session.query("sums", QUERY)
        sinks = {"sums": windrow.sink("parquet", path=place / "sums")}
        every = status_note.EVERY_SECONDS if watched else NEVER
        with patch.object(status_note, "EVERY_SECONDS", every):
            job = session.start(str(place / "checkpoint"), sinks, "available now")
        with scraped(job, every=1.0 if watched else NEVER):
            job.wait()
        query = next(iter(job._running.queries.values()))
        took = _seconds([progress["durationMs"]["triggerExecution"] for progress in query.recentProgress])
        job.stop()
        self._check(place / "sums")
        return took

    def timed_by_cpu(self, way: Callable[[], float]) -> tuple[float, float]:
        """What a way says, and the CPU time that it took, without the broker's."""
        before = cpu_seconds(without=[self._broker.process])
        told = way()
        return told, cpu_seconds(without=[self._broker.process]) - before

    def _place(self) -> Path:
        self._runs += 1
        place = self._folder / f"run-{self._runs}"
        place.mkdir()
        return place

    def _check(self, out: Path) -> None:
        """Answers are what the events say, before anything is told."""
        ((answered,),) = duckdb.sql(f"SELECT SUM(n) FROM read_parquet('{out}/*.parquet')").fetchall()
        ends = self._count // 1000 - 1  # the last second is not over
        expected = sum(min(end, 60) * 1000 for end in range(1, ends + 1))
        assert answered == expected, (answered, expected)
        last = f"epoch(window_end) = 1767225600 + {ends}"
        ((total,),) = duckdb.sql(f"SELECT SUM(total) FROM read_parquet('{out}/*.parquet') WHERE {last}").fetchall()
        assert total == sum(i % 1000 for i in range(max(0, ends - 60) * 1000, ends * 1000))


@contextmanager
def scraped(job: windrow.Job, every: float) -> Iterator[None]:
    """Metrics are served, and asked for so often."""
    ended, port = threading.Event(), MetricsPort("127.0.0.1:0")
    port.tell(job.progress)

    def scrape() -> None:
        while not ended.wait(every):
            with urlopen(f"http://{port.address}/metrics", timeout=30) as answer:
                assert b"windrow_events_total" in answer.read()

    asking = threading.Thread(target=scrape, daemon=True)
    with port.serving():
        asking.start()
        yield
        ended.set()
        asking.join()


def _seconds(batches: list[int]) -> float:
    """Of all batches but the first, which loads and compiles."""
    return sum(batches[1:]) / 1000


def reading(spark: SparkSession, broker: Broker, home: Path, size: Size, messages: int | None) -> list[Measurement]:
    """Each way, by turns: the best of each counts. Both read so many `messages` a batch.

    In the full size these are those of a stream that does not say how many.
    """
    count, batch, turns = size.of((9_000, 3_000, 1), (600_000, 100_000, 2), (4_000_000, BATCH_MESSAGES, 3))
    bench = Bench(spark, broker, home, count, messages or batch)
    took: dict[str, list[tuple[float, float]]] = {"decode": [], "unwatched": [], "watched": []}
    for _ in range(turns):
        took["decode"].append(bench.timed_by_cpu(bench.decode))
        took["unwatched"].append(bench.timed_by_cpu(lambda: bench.answer(watched=False)))
        took["watched"].append(bench.timed_by_cpu(lambda: bench.answer(watched=True)))
    names = (
        f"Spark reads and decodes into noop, {messages or batch:,} a batch",
        "Windrow, one query, no metrics, no status",
        "the same with status, and metrics asked each second",
    )
    found: list[Measurement] = []
    for name, runs in zip(names, took.values()):
        rate, cpu = bench.timed / min(seconds for seconds, _ in runs), min(cpu for _, cpu in runs)
        spread = max(seconds for seconds, _ in runs) / min(seconds for seconds, _ in runs) - 1
        before = found[-1].events_per_second if found else None
        found.append(Measurement(name, bench.timed, rate, None if before is None else rate / before, cpu, spread))
    return found
