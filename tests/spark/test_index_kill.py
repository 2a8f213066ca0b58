"""A job with an index that is killed: what is found is always the window of a batch, and each request is answered once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from windrow.indexes.published import MANIFEST
from windrow.places.place import place_of
from windrow.spark.job.job_indexes import index_folder, published_index

from . import indexed_job
from .streams import PATIENCE, SECOND, START, instants, put, rows_of
from .test_kill import child

FILES, ROWS, RANGE = 6, 120, 30 * SECOND


def some_events() -> tuple[pa.Table, pa.Table]:
    """Readings a quarter of a second apart, up to five seconds out of order, and requests in between."""
    draw, rows = np.random.default_rng(8), FILES * ROWS
    times = START + np.arange(rows) * SECOND // 4 + draw.integers(0, 5 * SECOND, rows)
    keys = pa.array(draw.integers(0, 7, rows), pa.int32())
    events = pa.table({"ts": instants(times.tolist()), "k": keys, "x": draw.integers(0, 99, rows)})
    asked = np.sort(START + draw.integers(0, rows * SECOND // 4, rows // 4))
    keys = pa.array(draw.integers(0, 8, rows // 4), pa.int32())
    return events, pa.table({"ts": instants(asked.tolist()), "id": np.arange(rows // 4), "k": keys})


def check_window(checkpoint: Path, events: list[dict[str, int]]) -> int:
    """What is published holds exactly the events of the window that ends at its clock; returns the clock."""
    index = published_index(place_of(str(checkpoint)), "readings")
    clock = index.manifest()[0].clock_us
    assert clock is not None
    found = rows_of(index.scan())
    expected = [row for row in events if clock - RANGE <= row["ts"] < clock]
    assert sorted((row["k"], row["time"], row["x"]) for row in found) == sorted(
        (row["k"], row["ts"], row["x"]) for row in expected
    )
    return clock


@pytest.mark.slow
def test_a_killed_index_is_that_of_a_batch_and_requests_are_answered_once(spark: SparkSession, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    output.mkdir()
    checkpoint = output / "checkpoint"
    events, requests = some_events()
    put(source / "events", *(events.slice(number * ROWS, ROWS) for number in range(FILES)))
    put(source / "requests", *(requests.slice(number * ROWS // 4, ROWS // 4) for number in range(FILES)))
    home = Path(str(index_folder(place_of(str(checkpoint)), "readings")))

    def published() -> bytes:
        with suppress(FileNotFoundError):
            return (home / MANIFEST).read_bytes()
        return b""

    def runs() -> set[str]:
        with suppress(FileNotFoundError):
            return {name for name in os.listdir(home) if name.startswith("run-")}
        return set()

    moments: list[Callable[[], object]] = [published, runs, published]  # committed, staged and not committed, and again
    clocks = []
    for look in moments:
        with child(source, output, script=indexed_job.__file__) as process:
            before, deadline = look(), time.monotonic() + PATIENCE
            while look() == before:
                assert process.poll() is None, f"the job ended by itself: {(output / 'log').read_text()[-2000:]}"
                assert time.monotonic() < deadline, "the job is stuck"
                time.sleep(0.002)
        if published():
            clocks.append(check_window(checkpoint, rows_of(events)))
    assert clocks == sorted(clocks) and len(clocks) > 1
    indexed_job.run(spark, source, output)
    assert check_window(checkpoint, rows_of(events)) > clocks[-1]
    answers = rows_of(output / "answered")
    told = {row["id"]: (row["n"], row["x"]) for row in answers}
    assert len(answers) == len(told) == requests.num_rows, "each request is answered once"
    rows = rows_of(events)
    for request in rows_of(requests):
        end = request["ts"]
        met = [row["x"] for row in rows if row["k"] == request["k"] and end - RANGE <= row["ts"] < end]
        assert told[request["id"]] == (len(met), sum(met) if met else None)
