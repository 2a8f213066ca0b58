"""Functions that remember: events a second, told one by one or many at once."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from rich.console import Console
from rich.table import Table

from windrow.local.replay import Replay

from .size import Size

KEYS, LIMIT = 10_000, 0.9
QUERY = "SELECT * FROM peaks(TABLE s PARTITION BY k)"


class Peaks:
    """The events above a limit, each with the time since the last of its key."""

    returns = "apart_us BIGINT"

    def init(self) -> dict[str, int]:
        return {"n": 0, "last": 0}

    def step(self, state: dict[str, int], event: Any) -> tuple[int] | None:
        state["n"] += 1
        apart, state["last"] = event.time_us - state["last"], event.time_us
        return (apart,) if event.x > LIMIT else None


class Rejecting(Peaks):
    """The same, ready to go back to before an event that it would fail with."""

    errors = "reject"


class PeaksAtOnce:
    """The same, over columns."""

    returns = "apart_us BIGINT"

    def init(self) -> dict[str, int]:
        return {"n": 0, "last": 0}

    def step_many(self, states: dict[str, np.ndarray], keys: np.ndarray, events: pa.RecordBatch) -> Any:
        apart = np.empty(len(keys), np.int64)
        times, x = events["time_us"].to_numpy(), events["x"].to_numpy()
        _walk(states["n"], states["last"], keys, times, apart)
        where = np.flatnonzero(x > LIMIT)
        return where, [apart[where]]


@njit
def _walk(count: np.ndarray, last: np.ndarray, keys: np.ndarray, times: np.ndarray, apart: np.ndarray) -> None:
    for i in range(keys.size):
        key = keys[i]
        count[key] += 1
        apart[i], last[key] = times[i] - last[key], times[i]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Events of so many keys that one core has worked off in a second of its time, read, told and saved."""

    way: str
    keys: int
    events: int
    rows: int
    events_a_second: float


def main(size: str, json_path: Path | None, plot_path: Path | None) -> None:
    """Measure all ways over the same events, whose rows must be the same."""
    many, single = Size(size).of((40_000, 20_000), (2_000_000, 1_000_000), (10_000_000, 2_000_000))
    events, batch = _events(max(many, single)), Size(size).of(10_000, 200_000, 200_000)
    found = [_measured("step_many", PeaksAtOnce, events.slice(0, many), batch)]
    found += [_measured("step", Peaks, events.slice(0, single), batch)]
    found += [_measured("step, rejecting", Rejecting, events.slice(0, single), batch)]
    table = Table("way", "keys", "events", "events/s of one core", title="functions that remember, in replay")
    for each in found:
        table.add_row(each.way, f"{each.keys:,}", f"{each.events:,}", f"{each.events_a_second:,.0f}")
    Console().print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in found))
    if plot_path is not None:
        _plot(found, plot_path)


def _plot(found: list[Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 2.4))
    axes.barh([each.way for each in found], [each.events_a_second for each in found])
    axes.set_xscale("log")
    axes.set_xlabel("events a second of one core, 10,000 keys")
    figure.savefig(path, bbox_inches="tight", dpi=150)
    plt.close(figure)


def _measured(way: str, function: type, events: pa.Table, batch_rows: int) -> Measurement:
    replay = Replay(QUERY, s=events.slice(0, 0), functions={"peaks": function})
    batches = [events.slice(start, batch_rows) for start in range(0, len(events), batch_rows)]
    rows = replay.step(batches[0])  # compiles what is compiled
    _check(rows, batches[0])
    began, count = time.process_time(), 0
    for batch in batches[1:]:
        count += sum(part.num_rows for part in replay.step(batch))
    taken = time.process_time() - began
    return Measurement(way, KEYS, len(events), count, (len(events) - batch_rows) / taken)


def _check(rows: list[pa.Table], batch: pa.Table) -> None:
    """Compare the rows of the first batch with a plain loop; the last instant has not been settled."""
    last: dict[int, int] = {}
    expected = []
    for instant, key, x in zip(*(batch[name].to_pylist() for name in ("us", "k", "x"))):
        if x > LIMIT:
            expected.append(instant - last.get(key, 0))
        last[key] = instant
    told = pa.concat_tables(rows)["apart_us"].to_pylist()
    assert told == expected[: len(told)] and len(expected) - len(told) <= 1


def _events(count: int) -> pa.Table:
    random = np.random.default_rng(5)
    us = 1_700_000_000_000_000 + np.arange(count, dtype=np.int64) * 66
    times = pa.array(us).cast(pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": times, "us": us, "k": random.integers(0, KEYS, count), "x": random.random(count)})
