"""Congested areas on Spark, from files to clusters."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import windrow

from .arriving import put
from .bench_spark import bench_spark
from .size import Size

BEGIN_US = 1_700_000_000_000_000
RATE, PLACES, SPREAD = 10_000, 25, 20.0
SCHEMA = "ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE"
QUERY = """SELECT CENTER(cid) AS center, RADIUS(cid) AS radius, COUNT(cid) AS cars
           FROM vehicle_positions [RANGE 10 MINUTES SLIDE 2 SECONDS] WHERE speed < 30
           CLUSTER BY x, y AS cid USING C_BIRCH(50)"""


def vehicles(folder: Path, rows: int, batches: int, rate: int) -> pa.Table:
    """Positions about 25 places of a city 10 km wide, 10,000 a second, half of them slow; two files a batch."""
    random = np.random.default_rng(7)
    places = random.uniform(0, 10_000, (PLACES, 2))
    tables = []
    for batch in range(batches):
        times = BEGIN_US + np.arange(batch * rows, (batch + 1) * rows) * (1_000_000 // rate)
        points = places[random.integers(0, PLACES, rows)] + random.normal(0, SPREAD, (rows, 2))
        columns = {"ts": pa.array(times, pa.timestamp("us", tz="UTC")), "x": points[:, 0], "y": points[:, 1]}
        tables.append(pa.table(columns | {"speed": random.uniform(0, 60, rows)}))
        for part in range(2):
            half = tables[-1].slice(part * rows // 2, rows // 2)
            put(folder, 2 * batch + part, half)
    return pa.concat_tables(tables)


def measure_spark(size: Size) -> Iterator[dict[str, Any]]:
    """The query of congested areas on Spark: events a second at a ratio of 300, local[2]."""
    rows, batches = size.of((2_000, 2), (100_000, 4), (600_000, 12))
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as kept, bench_spark() as spark:
        session = windrow.Session(spark, shards=2)
        folder = Path(kept) / "vehicles"
        events = vehicles(folder, rows, batches, size.of(200, RATE, RATE))
        files = session.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 2).parquet(str(folder))
        session.stream("vehicle_positions", files, time="ts")
        results = session.sql(QUERY)
        found: list[pa.Table] = []
        checked = results.writeStream.foreachBatch(lambda rows, _: found.append(rows.toArrow()))
        checked.trigger(availableNow=True).start().awaitTermination()
        check(pa.concat_tables(found), events)
        run = results.writeStream.format("noop").trigger(availableNow=True).start()
        run.awaitTermination()
        timed = run.recentProgress[1:]
    seconds = sum(batch["durationMs"]["triggerExecution"] for batch in timed) / 1000
    counted = sum(batch["numInputRows"] for batch in timed)
    yield {"case": "spark", "ratio": 300, "way": "SBM-CI", "events_per_second": counted / seconds}


def check(answers: pa.Table, events: pa.Table) -> None:
    """Some windows count the slow vehicles of exactly their time, one cluster at each of the places."""
    ends = pc.cast(pc.cast(answers["window_end"], pa.timestamp("us", tz="UTC")), pa.int64()).to_numpy()
    times = events["ts"].cast(pa.int64()).to_numpy()
    slow = events["speed"].to_numpy() < 30
    known = np.unique(ends)
    for end in known[:: max(1, len(known) // 5)]:
        clusters = answers.filter(pa.array(ends == end))
        inside = slow & (times >= end - 600_000_000) & (times < end)
        assert sum(clusters["cars"].to_pylist()) == inside.sum(), f"the window that ends at {end} counts others"
        centers = np.array(clusters["center"].to_pylist())
        weights = clusters["cars"].to_numpy()
        mean = [events[axis].to_numpy()[inside].mean() for axis in "xy"]
        assert np.allclose(weights @ centers / weights.sum(), mean), "the centres are not the points'"
