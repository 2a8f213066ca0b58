"""The memory limit on Spark: a job that needs more stops and says so, and goes on with more; its size is told."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError, SettingsError
from windrow.spark.job.checkpoint import kept_in

from .streams import PATIENCE, START, finish, instants, put, rows_of, stream_of

TEXT = "SELECT MEDIAN(x) AS middle FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]"


@pytest.mark.slow
def test_a_median_that_outgrows_the_limit_stops_and_goes_on_with_more_memory(spark: SparkSession, tmp_path: Path):
    values = np.random.default_rng(5).permutation(160_000).astype(float)
    times = START + np.arange(len(values)) * 62
    for part in (slice(0, 80_000), slice(80_000, None)):
        put(tmp_path / "in", pa.table({"ts": instants(times[part].tolist()), "x": values[part]}))
    sinks = {"middles": windrow.sink("parquet", path=tmp_path / "out")}

    def started(memory: str):
        session = windrow.Session(spark, shards=2, memory=memory)
        session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, x DOUBLE"), time="ts")
        session.query("middles", TEXT)
        return session.start(str(tmp_path / "checkpoint"), sinks, "available now")

    with pytest.raises(JobError, match=r"middles hold \d\.\d MB .* limit is 2\.2 MB: .*APPROX_QUANTILE"):
        started("2.2 MB").wait(PATIENCE)
    job = started("64 MB")
    finish(job, flush=False)
    figures = job.progress()["ticks"]
    assert 1_000_000 < figures["memory_bytes"] <= 2 * 64_000_000
    found = {row["window_end"]: row["middle"] for row in rows_of(tmp_path / "out")}
    for end, middle in found.items():
        assert middle == np.median(values[times < end])
    assert len(found) == 9


def test_options_that_are_wrong_are_refused_before_anything_runs(spark: SparkSession, tmp_path: Path):
    for memory in ("1 MB", 0, "2 KB"):
        with pytest.raises(SettingsError, match=r"is too little: a shard keeps at least two blocks"):
            windrow.Session(spark, shards=2, memory=memory)
    for memory in ("much", "-5 MB", "5 XB"):
        with pytest.raises(SettingsError, match=r"is no size: write it as '256 MB'"):
            windrow.Session(spark, shards=2, memory=memory)
    with pytest.raises(SettingsError, match="neither 'rows' nor 'partials'"):
        windrow.Session(spark, shards=2, keep="both")
    session = windrow.Session(spark, shards=2)
    put(tmp_path / "in", pa.table({"ts": instants([START]), "x": [1.0]}))
    session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, x DOUBLE"), time="ts")
    session.query("middles", TEXT)
    (tmp_path / "file").write_text("")
    with tempfile.TemporaryDirectory() as mine:
        kept_in(f"{mine}/kept", 2)
        with not_to_be_written(mine, f"{mine}/kept"):
            for folder in (tmp_path / "file" / "new", "/proc/windrow", f"{mine}/new", f"{mine}/kept"):
                with pytest.raises(SettingsError, match=rf"{folder} cannot be written: .*; name another folder"):
                    session.start(str(folder), {"middles": windrow.sink("console")})


@contextmanager
def not_to_be_written(*folders: str) -> Iterator[None]:
    """For a while this process may not write to `folders`, whoever runs it."""
    owner = os.geteuid()
    for folder in folders:
        os.chmod(folder, 0o555)
    if owner == 0:  # whom no mode keeps out
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(owner)
        for folder in folders:
            os.chmod(folder, 0o755)
