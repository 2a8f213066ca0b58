"""Who sends events to a topic at a steady rate, and who receives answers from another: processes of their own."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

CARDS = 100
STEP = 0.01
"""Seconds between two handfuls of events."""


@dataclass(slots=True)
class Sent:
    """What was sent of each second of the events' own time: how many events, and when the newest of them was sent."""

    events: Counter[int] = field(default_factory=Counter)
    newest: dict[int, float] = field(default_factory=dict)


def send(address: str, topic: str, rate: int, stop: Any, told: Any) -> None:
    """Send events as they happen until told to stop, and tell what was sent."""
    producer = Producer({"bootstrap.servers": address, "linger.ms": 1, "log_level": 0})
    sent, began, number = Sent(), time.time(), 0
    while not stop.is_set():
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        for _ in range(int((now - began) * rate) - number):
            producer.produce(topic, json.dumps({"card": f"c{number % CARDS}", "amount": number % 1000, "ts": stamp}))
            number += 1
            sent.events[int(now)] += 1
            sent.newest[int(now)] = time.time()
        producer.poll(0)
        time.sleep(STEP)
    producer.flush(30)
    told.put(sent)


def receive(address: str, topic: str, newest: Any, stop: Any, told: Any) -> None:
    """Read what is committed until told to stop; tell of each window when its last row came, and its events.

    `newest` is the end of the newest window that has come.
    """
    reader = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": topic,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    reader.assign([TopicPartition(topic, 0, 0)])
    came: dict[int, float] = {}
    counts: Counter[int] = Counter()
    while not stop.is_set():
        message = reader.poll(0.05)
        if message is None or message.error() is not None:
            continue
        now, row = time.time(), json.loads(message.value())
        end = int(datetime.fromisoformat(row["window_end"].replace("Z", "+00:00")).timestamp())
        came[end] = now
        counts[end] += row["n"]
        newest.value = max(newest.value, end)
    reader.close()
    told.put((came, counts))
