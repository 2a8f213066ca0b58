"""A stopped job that goes on with more shards: from a new checkpoint, with the answers of one that was never stopped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import windrow
from windrow.cli.main import app
from windrow.errors import SettingsError, StateError
from windrow.places.place import place_of
from windrow.session import Session
from windrow.spark.job.reshard import reshard
from windrow.spark.job.spark_logs import copy_logs, move_state

from .streams import SECOND, START, assert_same, finish, instants, put, rows_of, stream_of

QUERIES = {
    "time": "SELECT k, SUM(x) AS s, MAX(x) AS m FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k",
    "ever": "SELECT k, SUM(x) AS s, COUNT(*) AS n FROM ticks [RANGE UNBOUNDED SLIDE 9 SECONDS] GROUP BY k",
    "rows": "SELECT k, SUM(x) AS s FROM ticks [ROWS 40 SLIDE 7] GROUP BY k",
    "one": "SELECT COUNT(*) AS n, SUM(x) AS s FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS]",
}
TWO_STAGES = """SELECT COUNT(*) AS n, MAX(s) AS m FROM
    (SELECT k, SUM(x) AS s FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k) [RANGE 30 SECONDS SLIDE 10 SECONDS]"""
BATCH_ROWS = 60


def events(batches: int) -> pa.Table:
    random, rows = np.random.default_rng(8), batches * BATCH_ROWS
    return pa.table(
        {
            "ts": instants((START + np.arange(rows) * SECOND // 4 + random.integers(0, 2 * SECOND, rows)).tolist()),
            "k": pa.array(random.choice(list("abcdefghijklm"), rows)),
            "x": pa.array(random.integers(-9, 9, rows)),
        }
    )


def session_over(spark: SparkSession, folder: Path, shards: int, queries: dict[str, str]) -> Session:
    session = windrow.Session(spark, shards=shards)
    session.stream(
        "ticks", stream_of(spark, folder, "ts TIMESTAMP, k STRING, x BIGINT"), time="ts", lateness="2 seconds"
    )
    for name, text in queries.items():
        session.query(name, text)
    return session


@pytest.mark.slow
@pytest.mark.parametrize("queries", [QUERIES, {"stages": TWO_STAGES}])
def test_a_job_goes_on_with_more_shards_as_if_it_had_never_stopped(
    spark: SparkSession, tmp_path: Path, queries: dict[str, str]
):
    """The old checkpoint stays, and the new one begins where the old has ended."""
    sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in queries}
    stream = events(batches=4)
    batches = [stream.slice(start, BATCH_ROWS) for start in range(0, stream.num_rows, BATCH_ROWS)]
    put(tmp_path / "in", *batches[:2])
    old, new = tmp_path / "old", tmp_path / "new"
    finish(session_over(spark, tmp_path / "in", 2, queries).start(str(old), sinks, "available now"), flush=False)
    assert reshard(spark, old, 4, new) == ["changes-2-ticks" if "stages" in queries else "ticks"]
    assert [json.loads((place / "windrow.json").read_text())["shards"] for place in (old, new)] == [2, 4]
    put(tmp_path / "in", *batches[2:])
    job = session_over(spark, tmp_path / "in", 2, queries).start(str(new), sinks, "available now")
    finish(job)
    assert [list(stream.shards) for stream in job.progress().values()] == [[0, 1, 2, 3]]
    for name, text in queries.items():
        wanted = windrow.replay(text, lateness="2 seconds", batch_rows=BATCH_ROWS, flush=True, ticks=stream)
        assert_same(rows_of(tmp_path / name), rows_of(wanted), [] if name in ("one", "stages") else ["k"])


def test_what_cannot_be_split_is_refused_by_name(spark: SparkSession, tmp_path: Path):
    put(tmp_path / "in", events(batches=1))
    queries = {"distinct": "SELECT DISTINCT k FROM ticks [RANGE 20 SECONDS]"}
    sinks = {"distinct": windrow.sink("parquet", path=tmp_path / "out")}
    finish(session_over(spark, tmp_path / "in", 2, queries).start(str(tmp_path / "old"), sinks, "available now"))
    with pytest.raises(StateError, match=r"cannot be split: .*distinct.*over changes"):
        reshard(spark, tmp_path / "old", 4, tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(SettingsError, match="has 2 shards: they can be split, and not put together"):
        reshard(spark, tmp_path / "old", 3, tmp_path / "new")


def test_the_command_refuses_before_spark_is_started(tmp_path: Path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "windrow.json").write_text(json.dumps({"job": "a", "shards": 4, "expiry": None}))
    for shards, to, message in ((6, "new", "a multiple, such as 8 or 16"), (8, "old", "is not empty")):
        asked = ["reshard", str(tmp_path / "old"), "--shards", str(shards), "--to", str(tmp_path / to)]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 2 and message in result.output, result.output
    result = CliRunner().invoke(app, ["reshard", str(tmp_path), "--shards", "8", "--to", str(tmp_path / "new")])
    assert result.exit_code == 2 and "there is no checkpoint" in result.output


def test_a_batch_that_was_begun_is_begun_again_and_state_gets_its_number(tmp_path: Path):
    """Of Hadoop's checksums nothing stays beside files that are another's now."""
    old, new = tmp_path / "old", tmp_path / "new"
    for number in (5, 6, 7):
        _write(old / "offsets" / str(number), f'v1\n{{"conf": {{"partitions": "2"}}}}\n{{"logOffset":{number}}}')
    for name in ("commits/6", "sources/0/6", "sources/0/.6.crc", "metadata"):
        _write(old / name, name)
    for name in ("metadata", ".metadata.crc", "offsets/0", "commits/0", "sources/0/0"):
        _write(new / name, "of the seed")
    for name in ("1.zip", ".1.zip.crc", "1.zip.crc", "SSTs/1-a.sst"):
        _write(new / "state" / "0" / "3" / name, name)
    move_state(place_of(new), 6)
    copy_logs(place_of(old), place_of(new), 6, {"partitions": "8"})
    there = {str(path.relative_to(new)) for path in new.rglob("*") if path.is_file()}
    state = {"state/0/3/7.zip", "state/0/3/7.zip.crc", "state/0/3/SSTs/1-a.sst"}
    assert there == {"offsets/5", "offsets/6", "offsets/7", "commits/6", "sources/0/6", "metadata"} | state
    assert (new / "offsets" / "7").read_text() == 'v1\n{"conf": {"partitions": "8"}}\n{"logOffset":7}'
    _write(old / "offsets" / "7", 'v1\n{"conf": {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}}\n')
    with pytest.raises(StateError, match="checkpointFormatVersion=2: only 1 can be resharded"):
        copy_logs(place_of(old), place_of(new), 6, {})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
