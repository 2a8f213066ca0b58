"""Sessions, first rows of each key, joins by time and without an equality: events a second of a core, and on Spark."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from windrow.local.replay import Replay

from . import queries_judge as judge
from .size import Size

KEYS = 10_000
RATE = 10_000
"""Events of the stream in a second, so that a key has one each second."""

WINDOW = 30
"""Seconds of a window: a key has some 30 events in it."""

FIRST = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC)"
INTERVAL, OUTER = "interval join", "outer interval join, EMIT FINAL"
ANY = "join without an equality"


class Case(NamedTuple):
    """A query over windows of {0} seconds, and what DuckDB is asked where these are of one."""

    text: str
    judge: str
    streams: int = 1


CASES = {
    "sessions": Case(
        "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM a [PARTITION BY k SESSION 2 SECONDS] GROUP BY k", judge.SESSIONS
    ),
    "top 10 of each key": Case(
        f"SELECT k, id, {FIRST} AS place FROM a [RANGE {{0}} SECONDS SLIDE {{0}} SECONDS] QUALIFY place <= 10",
        judge.TOP,
    ),
    "ORDER BY ... LIMIT 10": Case(
        "SELECT k, id FROM a [RANGE {0} SECONDS SLIDE {0} SECONDS] ORDER BY x DESC LIMIT 10", judge.LIMIT
    ),
    INTERVAL: Case(
        "SELECT a.k, a.id, b.id AS other FROM a JOIN b ON a.k = b.k "
        "AND a.ts BETWEEN b.ts - INTERVAL 5 SECONDS AND b.ts",
        judge.INTERVAL,
        2,
    ),
    OUTER: Case(
        "SELECT a.k, a.id, b.id AS other FROM a LEFT JOIN b ON a.k = b.k "
        "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 SECOND EMIT FINAL",
        judge.OUTER,
        2,
    ),
}

LEAST = 1.9
PAIRS = f"SELECT a.id, b.id AS other FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR] ON a.x + b.x > {LEAST}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Events that one core has worked off in a second of its time: read, told, saved; and how fast to plain loops."""

    query: str
    keys: int
    events: int
    rows: int
    events_a_second: float
    to_loops_over_arrow: float | None = None
    to_loops_over_lists: float | None = None


def main(size: str, json_path: Path | None, plot_path: Path | None) -> None:
    """Check each query over few events beside DuckDB, then measure it over many; in replay, then on Spark."""
    from .queries_spark import measure_spark  # which has the cases from here

    chosen = Size(size)
    found = []
    for name, case in CASES.items():
        judge.check(name, case.text.format(1), case.judge, events_of(2, 6, chosen.of(50, 300, 300), 2_000))
        given = events_of(case.streams, chosen.of(4, 100, 300), KEYS, chosen.of(500, RATE, RATE))
        found.append(_measured(name, case.text.format(WINDOW), given, chosen.of(1_000, 100_000, 100_000)))
    found.append(_pairs(chosen))
    table = Table(
        "query", "keys", "events", "rows", "events/s of one core", "to loops: Arrow, lists", title="queries in replay"
    )
    for each in found:
        beside = (each.to_loops_over_arrow, each.to_loops_over_lists)
        told = ", ".join(f"{times:.1f}" for times in beside if times is not None)
        table.add_row(
            each.query, f"{each.keys:,}", f"{each.events:,}", f"{each.rows:,}", f"{each.events_a_second:,.0f}", told
        )
    Console().print(table)
    on_spark = list(measure_spark(chosen))
    table = Table("query", "keys", "events", "rows", "events/s", title="queries on Spark local[2], files to files")
    for job in on_spark:
        table.add_row(
            job.query, f"{job.keys:,}", f"{job.events:,}", f"{job.rows:,}", f"{job.events_a_second_on_spark:,.0f}"
        )
    Console().print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in (*found, *on_spark)))
    if plot_path is not None:
        _plot(found, plot_path)


def events_of(streams: int, seconds: int, keys: int, rate: int, begin: int = 0) -> dict[str, pa.Table]:
    """Streams `a` and perhaps `b` that have `rate` events a second between them, of random keys, from `begin` on."""
    found = {}
    for name in ("a", "b")[:streams]:
        random = np.random.default_rng(ord(name) + begin)
        count = seconds * rate // streams
        us = (1_700_000_000 + begin) * 1_000_000 + np.arange(count, dtype=np.int64) * (streams * 1_000_000 // rate)
        columns = {"ts": pa.array(us).cast(pa.timestamp("us", tz="UTC")), "id": np.arange(count)}
        found[name] = pa.table(columns | {"k": random.integers(0, keys, count), "x": random.random(count)})
    return found


def _measured(name: str, text: str, streams: dict[str, pa.Table], batch_rows: int) -> Measurement:
    """All batches but the first third, in which windows fill and loops are compiled."""
    replay = Replay(text, streams={stream: table.slice(0, 0) for stream, table in streams.items()})
    rows, step = len(streams["a"]), batch_rows // len(streams)
    took, told = [], 0
    for start in range(0, rows, step):
        began = time.process_time()
        answers = replay.step({stream: table.slice(start, step) for stream, table in streams.items()})
        took.append(time.process_time() - began)
        told += sum(answer.num_rows for answer in answers)
    skipped = len(took) // 3
    events = (rows - skipped * step) * len(streams)
    return Measurement(name, KEYS, events, told, events / sum(took[skipped:]))


def _pairs(size: Size) -> Measurement:
    """New rows, each with all rows of the other side's window; loops do the same over Arrow and over lists."""
    held, new = size.of((200, 50), (10_000, 1_000), (10_000, 1_000))
    kept = events_of(1, 1, KEYS, held)["a"]
    came = events_of(1, 1, KEYS, new + 1, begin=1)["a"]  # the instant of the last one is not settled
    columns = kept["x"].combine_chunks(), came["x"].combine_chunks().slice(0, new)
    over_arrow, over_lists = _loops(*columns, size.of(50, 1_000, 1_000))
    none, took, rows = kept.slice(0, 0), [], 0
    for _ in range(3):  # the first time compiles what is compiled
        replay = Replay(PAIRS, a=none, b=none)
        replay.step({"a": kept, "b": none})
        began = time.process_time()
        rows = sum(answer.num_rows for answer in replay.step({"a": none, "b": came}))
        took.append(time.process_time() - began)
    with duckdb.connect() as connection:
        connection.register("a", kept)
        connection.register("b", came.slice(0, new))
        ((wanted,),) = connection.execute(f"SELECT count(*) FROM a, b WHERE a.x + b.x > {LEAST}").fetchall()
    assert rows == wanted > 0, f"{ANY} differs"
    best = min(took)
    return Measurement(ANY, held, held + new, rows, new / best, over_arrow / best, over_lists / best)


def _loops(ones: pa.Array, others: pa.Array, most: int) -> tuple[float, float]:
    """CPU of two plain loops, over values of Arrow and over lists, reckoned from the first rows of the outer one."""
    began = time.process_time()
    for one in ones.slice(0, most):
        for other in others:
            _ = one.as_py() + other.as_py() > LEAST
    arrow, began = time.process_time() - began, time.process_time()
    first, second = ones.slice(0, most).to_pylist(), others.to_pylist()
    _ = [(one, other) for one in first for other in second if one + other > LEAST]
    lists = time.process_time() - began
    return arrow * len(ones) / most, lists * len(ones) / most


def _plot(found: list[Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 2.8))
    axes.barh([each.query for each in found], [each.events_a_second for each in found])
    axes.set_xscale("log")
    axes.set_xlabel("events a second of one core, 10,000 keys")
    figure.savefig(path, bbox_inches="tight", dpi=150)
    plt.close(figure)
