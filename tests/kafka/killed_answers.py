"""What a job that is killed must have told in the end: DuckDB's answers, and what a topic of upserts holds."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta

import duckdb
import pyarrow as pa

from .broker import Broker

Rows = Counter[tuple[object, ...]]
"""How often there is a row of window_end, card, total and n."""

SHOWN = "%Y-%m-%dT%H:%M:%S.000Z"


def windows_of_20_seconds(given: pa.Table, until: datetime) -> Rows:
    """Sums and counts by card of every window of 20 seconds that ends at an even second of the day of `until`."""
    return Counter(
        duckdb.sql(
            f"""WITH events AS (SELECT card, amount, ts::TIMESTAMP AS ts FROM given),
                     ends AS (SELECT UNNEST(generate_series(
                         TIMESTAMP '{until:%Y-%m-%d}', TIMESTAMP '{until + timedelta(seconds=30):%Y-%m-%d %H:%M:%S}',
                         INTERVAL 2 SECOND)) AS w)
                SELECT strftime(w, '{SHOWN}'), card, SUM(amount)::BIGINT, COUNT(*)
                FROM events JOIN ends ON ts < w AND ts >= w - INTERVAL 20 SECOND GROUP BY ALL"""
        ).fetchall()
    )


def last_answer(broker: Broker, topic: str) -> dict[bytes, dict[str, object]]:
    """What a topic of upserts and tombstones holds in the end."""
    answer: dict[bytes, dict[str, object]] = {}
    for message in broker.committed(topic):
        if message.value() is None:
            answer.pop(message.key(), None)
        else:
            answer[message.key()] = json.loads(message.value())
    return answer


def last_window(expected: Rows) -> dict[bytes, dict[str, object]]:
    """The answer of the last window that holds an event: none is answered after it."""
    last = max(str(end) for end, *_ in expected)
    rows = [(str(card), total, n) for end, card, total, n in expected if end == last]
    return {card.encode(): {"card": card, "n": n, "total": total} for card, total, n in rows}
