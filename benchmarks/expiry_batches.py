"""Output delay under four ways to expire where rows come in batches and work takes no time: replay, batch by batch.

It tells what of a live delay is waiting, for a batch to end and for a row that brings the expiry, and what is work.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from windrow.local.replay import Replay
from windrow.plan.expiry import Expiry

from .expiry_cases import SECOND, arrivals, tables
from .expiry_delays import FEW_ITEMS, MORE_ITEMS, Delay
from .expiry_sql import BEGIN_US, SNAPSHOTS, STREAMS, q1_text, q2_text
from .size import Size

BATCH_US = SECOND // 2
"""How long each batch gathers."""


def measure_in_batches(size: Size) -> Iterator[Delay]:
    """Figures 8 to 11 again, of the same streams as in the simulator."""
    seconds = size.of(3, 10, 30)
    for name in size.of(("Q1",), tuple(SNAPSHOTS), tuple(SNAPSHOTS)):
        yield from _by_way("queries", name, 10, SNAPSHOTS[name], STREAMS[name], seconds)
    for rate in size.of((), (5, 20), (5, 10, 20, 40)):
        for name in ("Q3", "Q4"):
            yield from _by_way("rate", name, rate, SNAPSHOTS[name], "a", seconds, rate)
    for joins in size.of((), (3,), (2, 3, 4, 5)):
        yield from _by_way("joins", "Q2", joins, q2_text(joins), "abcde"[:joins], seconds, items=MORE_ITEMS)
    for selectivity in size.of((), (0.1, 1.0), (0.1, 0.25, 0.5, 0.75, 1.0)):
        yield from _by_way("selectivity", "Q1", selectivity, q1_text(selectivity), "a", seconds)


def _by_way(
    case: str, query: str, at: float, text: str, streams: str, seconds: float, rate: float = 10, items: int = FEW_ITEMS
) -> Iterator[Delay]:
    told: dict[Expiry, int] = {}
    for way in Expiry:
        late = delays_of(text, streams, way, rate, seconds, items)
        told[way] = len(late)
        yield Delay(case, query, way.value, at, float(late.mean()), float(late.max()), len(late))
    others = {count for way, count in told.items() if way is not Expiry.INPUT}
    assert len(others) == 1 and told[Expiry.INPUT] <= max(others), f"the ways differ on {text}"


def delays_of(
    text: str, streams: str, way: Expiry, rate: float, seconds: float, items: int, reach: int = 60
) -> np.ndarray:
    """Seconds from the instant of each change to the end of the batch that tells it, after the first window is full."""
    given = {name: arrivals(i, rate, reach + seconds, items) for i, name in enumerate(streams)}
    events = {
        name: pa.Table.from_batches([one.rows]).append_column(
            "ts", pa.array(BEGIN_US + one.times, pa.timestamp("us", tz="UTC"))
        )
        for name, one in given.items()
    }
    replay = Replay(f"{text} WINDOW {reach} SECONDS", **events, tables=tables(), choose={"expiry": way.value})
    done, late = dict.fromkeys(given, 0), []
    for ends in range(BATCH_US, int((reach + seconds) * SECOND) + 1, BATCH_US):
        until = {name: int(np.searchsorted(one.times, ends, side="right")) for name, one in given.items()}
        batch = {name: table.slice(done[name], until[name] - done[name]) for name, table in events.items()}
        done = until
        for rows in replay.step(batch):
            instants = rows["time"].cast(pa.int64()).to_numpy() - BEGIN_US
            late.append((ends - instants[instants > reach * SECOND]) / SECOND)
    return np.concatenate(late)
