"""Which items recur, from SQL: by bits alone, and by counts, which are there where a query asks for them too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import windrow

from .level_chain import PAIRS, SECOND, Line
from .level_sql import window
from .size import Size

ASKED = {
    "bits": "SELECT item, RECURRING(item) AS again FROM seen {} GROUP BY item",
    "counts": "SELECT item, RECURRING(item) AS again, COUNT(*) AS n FROM seen {} GROUP BY item",
}
PER_ITEM = 3
"""Events of each item in an instant, in the mean: some items are in no granule."""


def instants(items: int, count: int) -> list[pa.Table]:
    """Events of `items`, of which some come seldom, an instant a table."""
    random = np.random.default_rng(5)
    seldom = random.random(items) ** 3
    tables = []
    for number in range(count):
        seen = np.flatnonzero(random.random(items) < seldom)
        drawn = np.repeat(seen, random.integers(1, 2 * PER_ITEM, len(seen)))
        times = number * SECOND + np.sort(random.integers(0, SECOND, len(drawn)))
        tables.append(
            pa.table({"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "item": random.permutation(drawn)})
        )
    return tables


def cases(size: Size) -> Iterator[Line]:
    """CPU an instant and bytes of the state, by items, after the widest window has filled; answers are the same."""
    filling, timed = PAIRS[-1][0], size.of(4, 16, 40)
    for items in size.of((50,), (10, 1_000, 10_000), (10, 1_000, 10_000, 100_000)):
        batches = instants(items, filling + timed)
        told = {}
        for way, text in ASKED.items():
            held: Any = windrow.Replay(text.format(window(PAIRS)), seen=batches[0].slice(0, 0))
            answers, spent = [], 0.0
            for number, batch in enumerate(batches):
                started = time.process_time()
                answers += held.step(batch)
                held.shard.save()
                spent += time.process_time() - started if number >= filling else 0.0
            rows = pa.concat_tables(answers).select(["window_end", "level", "item", "again"])
            told[way] = rows.sort_by([(name, "ascending") for name in rows.column_names])
            size_held = held.blocks.bytes_held + len(held.shard.save())
            yield {
                "figure": "recurring",
                "operation": "recurring",
                "way": way,
                "items": items,
                "ms_per_instant": spent / timed * 1e3,
                "bytes": size_held,
            }
        assert told["bits"].equals(told["counts"]), items
