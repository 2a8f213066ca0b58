"""Five levels on Spark beside the one-level query of the benchmark of sliding aggregates."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import windrow

from .bench_spark import bench_spark
from .size import Size
from .sliding import Bench
from .ticks import SCHEMA, Ticks

LEVELS = {60: 1, 300: 10, 600: 30, 1_800: 60, 3_600: 300}
"""Seconds of range and of slide, the finest level first."""

VWAP = """
    SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap
    FROM ticks [RANGES {ranges} SLIDES {slides}] GROUP BY symbol"""


def nested(bench: Bench, ticks: Ticks) -> Any:
    """The VWAP of each symbol on five levels."""
    lengths = [list(reversed(seconds)) for seconds in (list(LEVELS), list(LEVELS.values()))]
    ranges, slides = (", ".join(f"{second} SECONDS" for second in seconds) for seconds in lengths)
    session = windrow.Session(bench.spark, shards=2)
    files = ticks.files_per_batch
    session.stream_files("ticks", str(ticks.folder), schema=SCHEMA, time="ts", maxFilesPerTrigger=files)
    return session.sql(VWAP.format(ranges=ranges, slides=slides))


def measure_spark(size: Size) -> Iterator[dict[str, Any]]:
    """Events a second: five levels, and one, by turns on the same files."""
    rows, batches, rounds = size.of((3_000, 2, 1), (100_000, 3, 1), (600_000, 6, 2))
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        bench = Bench(spark, Path(folder), size)
        ticks = bench.ticks("ticks", rows, batches)
        check(bench, ticks)
        for _ in range(rounds):
            one = bench.measure("one level", 600, bench.windrow(ticks, "10 MINUTES", "1 SECOND"), ticks=ticks)
            five = bench.measure("five levels", 60, nested(bench, ticks), ticks=ticks)
            for found in (one, five):
                yield {"figure": "spark", "way": found.case, "events_per_second": found.events_per_second}


def check(bench: Bench, ticks: Ticks) -> None:
    """Some windows of each level have the answers of plain arithmetic over exactly their events."""
    kept: list[pa.Table] = []
    bench.run(nested(bench, ticks), lambda rows, _: kept.append(rows.toArrow()))
    answers, events = pa.concat_tables(kept), pq.read_table(ticks.folder)
    times = events["ts"].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_numpy()
    symbols, traded = events["symbol"].to_numpy(), events["price"].to_numpy() * events["volume"].to_numpy()
    for level, reach in enumerate(LEVELS):
        own = answers.filter(pc.equal(answers["level"], level))
        ends = pc.cast(pc.cast(own["window_end"], pa.timestamp("us", tz="UTC")), pa.int64()).to_numpy()
        assert level > 1 or len(ends), f"level {level} has not answered"  # coarser ones may slide later
        for end in np.unique(np.unique(ends)[[0, -1]] if len(ends) else ends):
            rows = own.filter(pa.array(ends == end)).to_pylist()
            inside = (times >= end - reach * 1_000_000) & (times < end)
            assert {row["symbol"] for row in rows} == set(np.unique(symbols[inside])), f"level {level} has other groups"
            for row in rows[:5]:
                mine = inside & (symbols == row["symbol"])
                expected = traded[mine].sum() / events["volume"].to_numpy()[mine].sum()
                assert abs(row["vwap"] - expected) <= 1e-9 * abs(expected), f"level {level} differs at {end}"
