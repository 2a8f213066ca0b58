"""SHED ABOVE on Spark: a job that falls behind takes fewer rows, as the checkpoint notes, and says so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import windrow
from windrow.cli.figures import line_of
from windrow.serve.metrics import metrics_text

from .streams import START, finish, instants, put, rows_of, stream_of, until

ROWS = 200
TEXT = "SELECT k, COUNT(*) AS n, SUM(x) AS s, SLOWLY(x) AS m FROM e [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY k"


def slow_maximum() -> type:
    """The greatest value, where each one takes two milliseconds; made here, so that it travels by value."""

    class Slowly:
        returns = "BIGINT"

        def init(self) -> int:
            return -1

        def add(self, state: int, value: int) -> int:
            time.sleep(0.002)
            return max(state, value)

        def merge(self, older: int, newer: int) -> int:
            return max(older, newer)

        def finish(self, state: int) -> int:
            return state

    return Slowly


def batches(count: int) -> list[pa.Table]:
    """Each has a second of events."""
    chance = np.random.default_rng(5)
    times = START + (np.arange(count * ROWS) * 1_000_000) // ROWS
    events = pa.table(
        {"ts": instants(times.tolist()), "k": chance.integers(0, 3, len(times)), "x": np.arange(len(times))}
    )
    return [events.slice(batch * ROWS, ROWS) for batch in range(count)]


def share_of(checkpoint: Path, batch: int) -> float:
    since = json.loads((checkpoint / "e" / "shed.json").read_text())["since"]
    return float(0.5 ** [halvings for first, halvings in since if first <= batch][-1])


def test_a_job_that_falls_behind_takes_the_share_that_its_checkpoint_notes_and_a_batch_again_the_same(
    spark: SparkSession, tmp_path: Path
):
    events, checkpoint = batches(7), tmp_path / "checkpoint"

    def start(trigger: str | None) -> windrow.Job:
        session = windrow.Session(spark, shards=2)
        session.aggregate("slowly", slow_maximum())
        stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k BIGINT, x BIGINT")
        session.stream("e", stream, time="ts", ahead="unbounded", shed_above="100 milliseconds")
        session.query("q", TEXT)
        return session.start(str(checkpoint), {"q": windrow.sink("parquet", path=tmp_path / "out")}, trigger)

    put(tmp_path / "in", *events[:5])  # each takes 0.4 seconds of sleep, and more
    job = start(None)
    until(lambda: job.progress()["e"].batches >= 5)
    shown = job.progress()["e"]
    job.stop()
    assert shown.shed > ROWS // 4  # the share may be larger again by now, where little is gained
    assert "shed" in str(shown) and f"shed: {shown.shed:,} rows left out" in line_of("e", shown)
    text = metrics_text({"e": shown})
    assert f'windrow_shed_events_total{{stream="e"}} {float(shown.shed)}' in text
    assert f'windrow_share{{stream="e"}} {shown.share}' in text
    shares = [share_of(checkpoint, batch) for batch in range(6)]
    assert shares[:4] == [1.0, 1.0, 0.5, 0.25]  # from then on what batches took says whether half of that is a gain
    seen = json.loads((checkpoint / "e" / "shed.json").read_text())["seen"]
    assert [one[0] for one in seen] == [1, 2, 3] and [one[1] for one in seen] == [0, 1, 2]
    assert [one[2] for one in seen] == [ROWS] * 3 and all(one[3] < ROWS for one in seen[1:])

    commits = checkpoint / "e" / "spark" / "commits"  # the last batch is to run again
    for name in ("4", ".4.crc"):
        (commits / name).unlink(missing_ok=True)
    put(tmp_path / "in", *events[5:])
    finish(start("available now"))
    shares = [*shares[:5], 1.0, 1.0]  # where nobody waits, nothing is left out
    assert [share_of(checkpoint, batch) for batch in range(7)] == shares
    expected = windrow.replay(
        TEXT,
        e=pa.concat_tables(events),
        batch_rows=ROWS,
        shares=shares,
        flush=True,
        aggregates={"slowly": slow_maximum()},
    )
    assert sorted(map(repr, rows_of(tmp_path / "out"))) == sorted(map(repr, rows_of(expected)))
    assert min(expected["sampled"].to_pylist()) < 0.7


def test_shed_is_added_to_a_job_that_had_run_without_it_and_files_outrun_it(spark: SparkSession, tmp_path: Path):
    """What ran before is whole. A live source then brings a file every 0.1 s, which takes 0.4 s to work off."""
    events, checkpoint = batches(7), tmp_path / "checkpoint"

    def start(shed_above: str | None, trigger: str | None) -> windrow.Job:
        session = windrow.Session(spark, shards=2)
        session.aggregate("slowly", slow_maximum())
        stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k BIGINT, x BIGINT")
        session.stream("e", stream, time="ts", ahead="unbounded", shed_above=shed_above)
        session.query("q", TEXT)
        return session.start(str(checkpoint), {"q": windrow.sink("parquet", path=tmp_path / "out")}, trigger)

    put(tmp_path / "in", *events[:2])
    finish(start(None, "available now"), flush=False)
    assert not (checkpoint / "e" / "shed.json").exists()
    job = start("100 milliseconds", None)
    for each in events[2:]:
        put(tmp_path / "in", each)
        time.sleep(0.1)
    until(lambda: job.progress()["e"].batches >= 5)
    shown = job.progress()["e"]
    job.stop()
    assert shown.shed > 0
    shares = [1.0, 1.0, *(share_of(checkpoint, batch) for batch in range(2, 7))]
    expected = windrow.replay(
        TEXT, e=pa.concat_tables(events), batch_rows=ROWS, shares=shares, aggregates={"slowly": slow_maximum()}
    )
    found = rows_of(tmp_path / "out")
    # before the change there was no full window, and one with events of both states is not answered
    whole = [row for row in rows_of(expected) if row["window_start"] >= START + 2_000_000]
    assert sorted(map(repr, found)) == sorted(map(repr, whole))
    assert min(row["sampled"] for row in found) < 1
