"""Speeds and delays of a stream, from its recent batches."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np


def row_rates(batches: list[dict[str, int]], seconds: float) -> dict[str, float]:
    """Rows in a second of each query, over some batches that took `seconds` together."""
    total = Counter[str]()
    for rows in batches:
        total.update(rows)
    return {name: count / seconds for name, count in total.items()} if seconds else dict.fromkeys(total, 0.0)


def stream_rate(batches: list[dict[str, Any]]) -> float | None:
    """How many events there are in a second of the stream's own time.

    >>> stream_rate([{"clock": 1_000_000, "events": 5}, {"clock": 3_000_000, "events": 500}])
    250.0
    """
    timed = [batch for batch in batches if batch["clock"] is not None]
    passed = timed[-1]["clock"] - timed[0]["clock"] if timed else 0
    events = sum(batch["events"] for batch in timed[1:])
    return events / passed * 1e6 if events and passed > 0 else None


def delays(batches: list[dict[str, float]]) -> dict[str, float] | None:
    """How long events waited for their results, in seconds, if they arrived evenly between the batches' starts.

    An event that arrives while a batch runs waits for the next one, and then for that one's end. Batches that are
    `cold` are left out, where there are others.

    >>> delays([{"started": 0.0, "seconds": 1.0, "events": 5}, {"started": 1.0, "seconds": 2.0, "events": 5}])
    {'p50': 2.5, 'p99': 2.99, 'max': 3.0}
    """
    waits = []
    warm = any(batch["events"] and not batch.get("cold") for batch in batches[1:])
    for before, batch in pairwise(batches):
        if batch["events"] and not (warm and batch.get("cold")):
            longest = batch["started"] - before["started"] + batch["seconds"]
            waits.append(np.linspace(batch["seconds"], longest, 101))
    if not waits:
        return None
    p50, p99, most = np.percentile(np.concatenate(waits), (50, 99, 100))
    return {"p50": round(float(p50), 3), "p99": round(float(p99), 3), "max": round(float(most), 3)}
