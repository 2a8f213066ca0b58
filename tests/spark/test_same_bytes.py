"""A task that runs again sends the same bytes: Spark takes what differs for a wrong answer, and may end the job."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.tws_tester import TwsTester

import windrow
from windrow.spark.job.measures import SLIDE_MEASURES
from windrow.spark.sources.source import Source
from windrow.spark.stages import slide_shard
from windrow.spark.stages.pipeline import _sliced
from windrow.spark.stages.premerge import premerge_payloads
from windrow.spark.stages.slice import PAYLOAD
from windrow.spark.stages.slide import SlideProcessor

from .streams import SECOND, START, instants, put, stream_of

SHARDS = [0, 1]
EVENTS = 3_000
CLUSTERED = (
    "SELECT cid, COUNT(*) AS n FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] CLUSTER BY x, y AS cid USING C_BIRCH(5)"
)
QUERIES = {
    "panes": "SELECT k, SUM(x) AS s, MEDIAN(x) AS m FROM ev [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k",
    "rows": "SELECT SUM(x) AS s FROM ev [ROWS 100 SLIDE 10]",
    "rows of keys": "SELECT k, SUM(x) AS s FROM ev [PARTITION BY k ROWS 100 SLIDE 10] GROUP BY k",
    "clusters": CLUSTERED,
    "changes": "SELECT DISTINCT k FROM ev [RANGE 3 SECONDS]",
}
TWO_STAGES = """
    SELECT t.n, COUNT(*) AS many FROM (SELECT k, COUNT(*) AS n FROM ev [RANGE 5 SECONDS] GROUP BY k) AS t GROUP BY t.n"""


@pytest.fixture
def session(spark: SparkSession, tmp_path) -> windrow.Session:
    session = windrow.Session(spark, shards=len(SHARDS))
    session.stream("ev", stream_of(spark, tmp_path, "ts TIMESTAMP, k STRING, x DOUBLE, y DOUBLE"), time="ts")
    return session


@pytest.fixture(autouse=True)
def fresh_worker() -> Iterator[None]:
    slide_shard._HELD.clear()
    yield
    slide_shard._HELD.clear()


def some_events() -> pa.Table:
    random = np.random.default_rng(7)
    return pa.table(
        {
            "ts": instants((START + np.sort(random.integers(0, 30 * SECOND, EVENTS))).tolist()),
            "k": pa.array(random.integers(0, 20, EVENTS)).cast(pa.string()),
            "x": random.normal(0, 30, EVENTS),
            "y": random.normal(0, 30, EVENTS),
        }
    )


def sent(session: windrow.Session, text: str, folder) -> list[dict]:
    """What all map tasks send to the shards for the rows in `folder`."""
    plan = session.stream_plan([session.plan("query", text)])
    frame = session.spark.read.schema("ts TIMESTAMP, k STRING, x DOUBLE, y DOUBLE").parquet(str(folder))
    source = Source(frame, "unix_micros(ts)")
    payloads = _sliced({"ev": source}, plan.stages[0], SHARDS)
    if text == CLUSTERED:
        payloads = premerge_payloads(payloads, plan.stages[0], SHARDS)
    assert payloads.columns == PAYLOAD.names, "what is measured is left behind"
    order = ("shard", "task", "part", "name")
    return sorted(map(lambda row: row.asDict(), payloads.collect()), key=lambda row: [row[name] for name in order])


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES.keys())
def test_a_slice_task_that_runs_again_sends_the_same_bytes(session: windrow.Session, tmp_path, text: str):
    events = some_events()
    put(tmp_path / "kept", events.slice(0, 1_000), events.slice(1_000))
    first = sent(session, text, tmp_path / "kept")
    assert len(first) >= len(SHARDS)
    assert sent(session, text, tmp_path / "kept") == first


def test_a_stage_that_runs_again_sends_the_same_bytes_whatever_its_worker_holds(session: windrow.Session, tmp_path):
    plan = session.stream_plan([session.plan("query", TWO_STAGES)])
    first, _ = plan.stages
    events = some_events()
    put(tmp_path / "kept", events)
    payloads = pd.DataFrame(sent(session, TWO_STAGES, tmp_path / "kept"))
    own = payloads[payloads["shard"] == 0]
    runs = []
    for rows in (own, own.sample(frac=1, random_state=3)):  # what comes first over the network differs
        shard = TwsTester(SlideProcessor(first, len(SHARDS), "run"))
        slide_shard._HELD.clear()
        frame = shard.testInPandas(0, rows)
        assert frame[list(SLIDE_MEASURES)].to_numpy().any()
        runs.append(frame.drop(columns=list(SLIDE_MEASURES)))
    assert len(runs[0]) > 1
    pd.testing.assert_frame_equal(*runs)
