"""Look-ups from outside, and requests inside, while a stream runs: how long each takes, and what the stream pays."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import windrow
from windrow.errors import SettingsError
from windrow.spark.job.job import Job

from .bench_spark import bench_spark
from .index_requests import KEYS, QUESTION, check_answers, written_requests
from .index_requests import SCHEMA as ASKING
from .linear_road import reports
from .size import Size

SCHEMA = "ts TIMESTAMP, vid INT, speed INT, xway INT, dir INT, seg INT"
COUNTS = """SELECT xway, seg, COUNT(*) AS n, AVG(speed) AS mean
            FROM positions [RANGE 1 MINUTE SLIDE 10 SECONDS] GROUP BY xway, seg"""
ALONE, INDEXED, ASKED = "windows alone", "with an index", "with an index that is asked"
REQUESTED = "the same, and requests inside"
TWICE = "the same, in batches of twice as many"
COLD = 2
"""So many batches are not timed: they load and compile what the others find ready."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One job: events and requests a second over its batches but the first two, and what look-ups took, if any.

    Where a job is several Spark queries, the rates are those of the slowest.
    """

    case: str
    events: int
    rate: float
    requests: float = 0.0
    look_ups: int = 0
    median_ms: float | None = None
    p99_ms: float | None = None
    range_p99_ms: float | None = None


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, size = Console(), Size(size)
    with bench_spark() as spark, tempfile.TemporaryDirectory() as folder:
        found = list(measure(spark, Path(folder), size))
    table = Table(title="positions of Linear Road, local[2]")
    for column in ("job", "events/s", "requests/s", "look-ups", "median ms", "p99 ms", "ranges p99 ms"):
        table.add_column(column, justify="right")
    for line in found:
        times = ("-" if value is None else f"{value:.1f}" for value in (line.median_ms, line.p99_ms, line.range_p99_ms))
        table.add_row(line.case, f"{line.rate:,.0f}", f"{line.requests:,.0f}", f"{line.look_ups:,}", *times)
    console.print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(line)) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


def measure(spark: SparkSession, folder: Path, size: Size) -> Iterator[Measurement]:
    """The same events through the same windows, without an index, with one, with one that is asked meanwhile, and with
    one that a stream of requests is joined with too; that once more in fewer and larger batches."""
    batches, rows, asked = size.of((3, 500, 25), (8, 200_000, 10_000), (30, 200_000, 10_000))
    events = written(folder / "in", batches, rows)
    requests = written_requests(folder / "requests", events, rows, asked)
    cases = size.of((ALONE, REQUESTED), (ALONE, INDEXED, ASKED, REQUESTED), (ALONE, INDEXED, ASKED, REQUESTED, TWICE))
    for number, case in enumerate(cases):
        session = windrow.Session(spark, shards=2, memory="2 GB")  # five minutes are five million positions
        files = 2 if case == TWICE else 1
        session.stream_files("positions", str(folder / "in"), schema=SCHEMA, time="ts", maxFilesPerTrigger=files)
        session.query("counts", COUNTS)
        if case != ALONE:
            session.index("speeds", "positions", KEYS, include=["speed"], range="5 minutes", slide="1 minute")
        sinks, answers = {"counts": windrow.sink("noop")}, folder / f"answers{number}"
        if case in (REQUESTED, TWICE):
            asking = str(folder / "requests")
            session.stream_files("requests", asking, schema=ASKING, time="ts", maxFilesPerTrigger=files)
            session.query("answered", QUESTION)
            sinks["answered"] = windrow.sink("parquet", path=answers)
        job = session.start(str(folder / f"kept{number}"), sinks, "available now")
        points, ranges = asked_until_done(job, events) if case in (ASKED, REQUESTED, TWICE) else ([], [])
        assert job.wait(600), "the job is stuck"
        seconds = slowest_batch(job) / files
        if case != ALONE:
            check(job, events)
        if case in (REQUESTED, TWICE):
            check_answers(answers, events, requests)
        points = points or ([] if case in (ALONE, INDEXED) else asked_once(job, events))
        told = [float(value) for value in np.percentile(points, (50, 99))] if points else [None, None]
        wide = float(np.percentile(ranges, 99)) if ranges else None
        joined = asked / seconds if case in (REQUESTED, TWICE) else 0.0
        yield Measurement(case, events.num_rows, rows / seconds, joined, len(points), told[0], told[1], wide)


def slowest_batch(job: Job) -> float:
    """Seconds that a batch takes in the slowest Spark query of a job: all of them read all positions."""
    job.progress()
    taken = []
    for stream in job._watched._streams.values():
        batches = [batch["seconds"] for batch in stream.recent if batch["events"]]
        taken.append(float(np.mean(batches[COLD:] or batches)))
    return max(taken)


def written(folder: Path, batches: int, rows: int) -> pa.Table:
    """Files of so many reports each; one file is a batch."""
    folder.mkdir()
    seconds = reports(2, 10_000, entering=rows / 400, seed=3)
    whole: list[pa.Table] = []
    have = 0
    for second in seconds:
        whole.append(second)
        have += second.num_rows
        if have >= batches * rows:
            break
    events = pa.concat_tables(whole).slice(0, batches * rows).combine_chunks()
    for batch in range(batches):
        path = folder / f"{batch:05d}.parquet"
        pq.write_table(events.slice(batch * rows, rows), path)
        os.utime(path, (batch + 1,) * 2)
    return events


def asked_until_done(job: Job, events: pa.Table) -> tuple[list[float], list[float]]:
    """Ask for keys and segments, one after the other, as long as the job runs; milliseconds of each."""
    points: list[float] = []
    ranges: list[float] = []
    random = np.random.default_rng(1)
    while job.is_active:
        row = events.slice(int(random.integers(0, events.num_rows)), 1).to_pylist()[0]
        try:
            began = time.perf_counter()
            job.lookup("speeds", **{name: row[name] for name in KEYS})
            points.append((time.perf_counter() - began) * 1000)
            if len(points) % 10 == 0:
                began = time.perf_counter()
                job.scan("speeds", xway=row["xway"], dir=row["dir"], seg=row["seg"])
                ranges.append((time.perf_counter() - began) * 1000)
        except SettingsError:  # before the first batch
            time.sleep(0.05)
        time.sleep(0.01)
    return points, ranges


def asked_once(job: Job, events: pa.Table) -> list[float]:
    row = events.slice(0, 1).to_pylist()[0]
    began = time.perf_counter()
    job.lookup("speeds", **{name: row[name] for name in KEYS})
    return [(time.perf_counter() - began) * 1000]


def check(job: Job, events: pa.Table) -> None:
    """What is found is what the window holds: a job that found something else is not timed."""
    times = events["ts"].cast(pa.int64()).to_numpy()
    clock = int(times.max())
    held = events.filter(pa.array((times < clock) & (times >= clock - 300_000_000)))
    assert job.scan("speeds").num_rows == held.num_rows
    row = held.slice(held.num_rows // 2, 1).to_pylist()[0]
    key = {name: row[name] for name in KEYS}
    own = (
        [other["speed"] for other in held.to_pylist() if all(other[name] == key[name] for name in key)]
        if (held.num_rows < 10_000)
        else None
    )
    found = job.lookup("speeds", **key)["speed"].to_pylist()
    assert row["speed"] in found and (own is None or found == own)


def plot(found: list[Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 3.5))
    axis.barh([line.case for line in found], [line.rate for line in found])
    axis.set(title="events a second")
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)
