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
from windrow.errors import SettingsError
from windrow.spark.job.checkpoint import kept_in

from .streams import START, finish, instants, put, rows_of, stream_of

TEXT = "SELECT MEDIAN(x) AS middle FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]"


@pytest.mark.slow
def test_a_median_runs_beyond_the_limit_that_its_values_do_not_fit_into(spark: SparkSession, tmp_path: Path):
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

    job = started("2.2 MB")
    finish(job, flush=False)
    assert 0 < job.progress()["ticks"]["memory_bytes"] <= 2 * 2_200_000
    found = {row["window_end"]: row["middle"] for row in rows_of(tmp_path / "out")}
    for end, middle in found.items():
        assert middle == np.median(values[times < end])
    assert len(found) == 9


@pytest.mark.slow
def test_a_list_runs_beyond_the_limit_that_its_rows_do_not_fit_into(spark: SparkSession, tmp_path: Path):
    """The second batch is another start, and reads the panes that the first has left in the state store."""
    texts = [f"{number:050}" for number in np.random.default_rng(5).permutation(60_000)]
    times = START + np.arange(len(texts)) * 160
    for part in (slice(0, 30_000), slice(30_000, None)):
        put(tmp_path / "in", pa.table({"ts": instants(times[part].tolist()), "s": texts[part]}))
        session = windrow.Session(spark, shards=2, memory="2.1 MB")
        session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, s STRING"), time="ts")
        session.query(
            "lists", "SELECT COLLECT_LIST(s) AS a, COUNT(DISTINCT s) AS n FROM ticks [RANGE 9 SECONDS SLIDE 1 SECOND]"
        )
        sinks = {"lists": windrow.sink("parquet", path=tmp_path / "out")}
        job = session.start(str(tmp_path / "checkpoint"), sinks, "available now")
        finish(job, flush=False)
    assert 0 < job.progress()["ticks"]["memory_bytes"] <= 2 * 2_100_000
    found = {row["window_end"]: (row["a"], row["n"]) for row in rows_of(tmp_path / "out")}
    assert len(found) == 9
    for end, (listed, distinct) in found.items():
        inside = (times < end) & (times >= end - 9_000_000)
        assert listed == [text for text, there in zip(texts, inside) if there] and distinct == len(listed)


@pytest.mark.slow
def test_query_3_runs_under_two_megabytes_and_answers_as_replay_does(spark: SparkSession, tmp_path: Path):
    """More rows than that are in the window of each shard; the second batch is another start."""
    text = "SELECT k, SUM(x * v) / SUM(v) AS vwap FROM ticks [RANGE 1 HOUR] GROUP BY k"
    random, rows = np.random.default_rng(6), 160_000
    times = START + np.arange(rows) * 25_000
    events = pa.table(
        {
            "ts": instants(times.tolist()),
            "k": random.integers(0, 9, rows),
            "x": random.integers(0, 400, rows) / 4,
            "v": random.integers(1, 9, rows),
        }
    )
    for part in (0, 80_000):
        put(tmp_path / "in", events.slice(part, 80_000))
        session = windrow.Session(spark, shards=2, memory="2.1 MB")
        stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k BIGINT, x DOUBLE, v BIGINT")
        session.stream("ticks", stream, time="ts")
        session.query("vwap", text)
        sinks = {"vwap": windrow.sink("parquet", path=tmp_path / "out")}
        job = session.start(str(tmp_path / "checkpoint"), sinks, "available now")
        finish(job, flush=False)
    assert 0 < job.progress()["ticks"]["memory_bytes"] <= 2 * 2_100_000
    found = [(row["time"], row["op"], row["k"], row["vwap"]) for row in rows_of(tmp_path / "out")]
    whole = windrow.replay(text, ticks=events, batch_rows=80_000)
    wanted = [(row["time"], row["op"], row["k"], row["vwap"]) for row in rows_of(whole)]
    assert sorted(found, key=str) == sorted(wanted, key=str)


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
