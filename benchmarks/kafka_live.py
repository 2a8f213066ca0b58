"""Kafka, live: from the moment the newest event of a window is sent to the moment its answer is received.

`python -m benchmarks.kafka_live quick`: 5,000 events a second from one topic, a window each second, into another.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from lab.broker import Broker, missing, running_broker
from pyspark.sql import SparkSession
from rich.console import Console

import windrow
from windrow.spark.packages import with_packages
from windrow.spark.settings import local_spark

from .kafka_traffic import Sent, receive, send
from .size import Size

RANGE = 60
SCHEMA = "card STRING, amount DOUBLE, ts TIMESTAMP"
QUERY = f"""SELECT card, SUM(amount) AS total, COUNT(*) AS n
            FROM tx [RANGE {RANGE} SECONDS SLIDE 1 SECOND] GROUP BY card"""


def delays(spark: SparkSession, broker: Broker, folder: Path, rate: int, settle: int, seconds: int) -> list[float]:
    """Seconds for each window that was answered while events came, after the job had settled."""
    source, answers = broker.topic(1), broker.topic(1)
    processes = multiprocessing.get_context("spawn")
    told, received = processes.Queue(), processes.Queue()
    enough, stop, newest = processes.Event(), processes.Event(), processes.Value("q", 0)
    session = windrow.Session(spark, shards=2)
    session.stream_kafka("tx", broker.address, source, schema=SCHEMA, time="ts")
    session.query("sums", QUERY)
    sink = windrow.sink("kafka", bootstrap=broker.address, topic=answers, key="card")
    job = session.start(str(folder / "checkpoint"), {"sums": sink})
    reader = processes.Process(target=receive, args=(broker.address, answers, newest, stop, received), daemon=True)
    writer = processes.Process(target=send, args=(broker.address, source, rate, enough, told), daemon=True)
    reader.start()
    writer.start()

    def await_window(end: int) -> None:
        until = time.monotonic() + 180
        while newest.value < end:
            assert not job.wait(0.1) and time.monotonic() < until, f"no window has come that ends at {end} or later"

    await_window(1)
    began = time.time()
    time.sleep(settle + seconds)
    enough.set()
    sent: Sent = told.get(timeout=60)
    await_window(max(sent.newest))  # what was sent last has closed it
    job.wait(1)  # its rows are many
    stop.set()
    came, counts = received.get(timeout=60)
    job.stop()
    check(sent, counts)
    return [came[end] - sent.newest[end - 1] for end in range(int(began) + settle, max(sent.newest) + 1)]


def check(sent: Sent, counts: Counter[int]) -> None:
    """Each window holds exactly the events of its seconds."""
    for end, found in counts.items():
        expected = sum(sent.events[second] for second in range(end - RANGE, end))
        assert found == expected, (end, found, expected)


def compare(size: str = "full") -> dict[str, float]:
    """Run it and tell: `p50`, `p99` and `most` in seconds."""
    lacks = missing("broker", "kafka")
    if lacks is not None:
        Console().print(lacks)
        return {}
    rate, settle, seconds = Size(size).of((500, 2, 6), (5_000, 20, 30), (5_000, 30, 120))
    spark = local_spark("local[2]", with_packages({}, ["kafka"]))
    with tempfile.TemporaryDirectory() as temporary:
        (Path(temporary) / "broker").mkdir()
        with running_broker(Path(temporary) / "broker") as broker:
            took = delays(spark, broker, Path(temporary), rate, settle, seconds)
    spark.stop()
    found = {name: float(np.quantile(took, q)) for name, q in (("p50", 0.5), ("p99", 0.99), ("most", 1.0))}
    told = ", ".join(f"{name} {value:.2f} s" for name, value in found.items())
    Console().print(f"{rate:,} events a second, {len(took)} windows: {told} (aim p99 at most 1.5 s)")
    return found


if __name__ == "__main__":
    compare(*sys.argv[1:])
