"""Kafka, live: from the moment the newest event of a window is sent to the moment its answer is received."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from pathlib import Path

from lab.broker import Broker
from pyspark.sql import SparkSession

import windrow

from .kafka_traffic import Sent, receive, send

RANGE = 60
RATE = 5_000
"""Events a second."""

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
    job = session.start(str(folder / "live"), {"sums": sink})
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
