"""The memory limit on Spark: a job that needs more stops and says so, and goes on with more; its size is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError, SettingsError

from .streams import PATIENCE, START, finish, instants, put, rows_of, stream_of

TEXT = "SELECT MEDIAN(x) AS middle FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]"


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
    with pytest.raises(SettingsError, match="two blocks"):
        windrow.Session(spark, shards=2, memory="1 MB")
    with pytest.raises(SettingsError, match="neither 'rows' nor 'partials'"):
        windrow.Session(spark, shards=2, keep="both")
    session = windrow.Session(spark, shards=2)
    put(tmp_path / "in", pa.table({"ts": instants([START]), "x": [1.0]}))
    session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, x DOUBLE"), time="ts")
    session.query("middles", TEXT)
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"cannot be written: .*; name another folder"):
        session.start(str(tmp_path / "file" / "checkpoint"), {"middles": windrow.sink("console")})
