"""Files that roll: rows wait in the checkpoint, none is lost and none shown twice, whenever the job dies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.places.local_home import LocalHome
from windrow.spark.sinks import rolling
from windrow.spark.sinks.forgotten import roll_forgotten
from windrow.spark.sinks.rolling import RollingSink

from .streams import SECOND, START, assert_same, finish, instants, put, rows_of, stream_of
from .test_staged_files import Attempt, Killed, dying, file_sink

TEXT = "SELECT k, SUM(i) AS total FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k"


def rows(batch: int) -> pa.Table:
    return pa.table({"k": ["a", "b"], "batch": pa.array([batch, batch], pa.int64())})


def sink_of(folder: Path, format: str = "parquet", **options: str) -> RollingSink:
    """A sink whose files roll, as a new process finds it."""
    plain = file_sink(folder / "out", format, roll="1 minute", **options)
    return RollingSink(plain._sink, "job-sink", plain._spark, str(folder / "checkpoint" / "job-sink"))


class Run:
    """Batches of two rows each, into a sink; a new one is a new process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, format: str = "parquet", **options: str) -> None:
        self.sink, self._goes_on, self._patch = sink_of(folder, format, **options), False, monkeypatch

    def batch(self, number: int, second: int, *, flushed: bool = False) -> None:
        if not self._goes_on:
            self.sink.clear(number)
        Attempt(self._patch, partition=0, attempt=number)
        staged = self.sink.by_tasks(rows(0).schema)
        staged.write(rows(number), number)  # an attempt that nobody asks for
        Attempt(self._patch, partition=0, attempt=100 + number)
        files = staged.write(rows(number), number)
        self.sink.turn(second * SECOND, flushed=flushed)
        self.sink.show(files, number)
        self._goes_on = True


def shown(folder: Path) -> dict[str, list[int]]:
    """The batches whose rows each file holds, by what its name says of batches."""
    out = folder / "out"
    files = sorted(path for path in out.rglob("job-*")) if out.exists() else []
    return {path.name.split(".")[0].removeprefix("job-sink-"): [row["batch"] for row in _rows(path)] for path in files}


def _rows(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path, partitioning=None).to_pylist()
    return [json.loads(line) for line in path.read_text().splitlines()]


def waiting(folder: Path) -> list[str]:
    found = (folder / "checkpoint").rglob("*")
    return sorted(path.name for path in found if path.is_file() and path.name != "sink.json")


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_minute_of_batches_is_one_file_that_is_shown_with_the_next_minute(tmp_path, monkeypatch, format: str):
    run = Run(tmp_path, monkeypatch, format)
    for number, second in enumerate((0, 20, 59)):
        run.batch(number, second)
        assert shown(tmp_path) == {} and len(waiting(tmp_path)) == number + 1
    run.batch(3, 60)
    assert shown(tmp_path) == {"000000000-000000002-00000": [0, 0, 1, 1, 2, 2]}
    run.batch(4, 200)
    run.sink.roll_all(committed=4)
    assert list(shown(tmp_path).values()) == [[0, 0, 1, 1, 2, 2], [3, 3], [4, 4]]
    assert waiting(tmp_path) == [] and os.listdir(tmp_path / "out" / "_windrow") == []


def test_the_end_of_the_input_shows_all_rows_and_a_batch_that_says_it_twice_shows_them_once(tmp_path, monkeypatch):
    run = Run(tmp_path, monkeypatch)
    run.batch(0, 0)
    run.batch(1, 1, flushed=True)
    assert shown(tmp_path) == {"000000000-000000000-00000": [0, 0], "000000001-000000001-00000": [1, 1]}
    Run(tmp_path, monkeypatch).batch(1, 1, flushed=True)  # killed before Spark had committed it
    assert shown(tmp_path) == {"000000000-000000000-00000": [0, 0], "000000001-000000001-00000": [1, 1]}


def test_a_stop_shows_what_was_committed_and_drops_what_will_come_again(tmp_path, monkeypatch):
    run = Run(tmp_path, monkeypatch)
    run.batch(0, 0)
    run.batch(1, 1)
    run.sink.roll_all(committed=0)
    assert shown(tmp_path) == {"000000000-000000000-00000": [0, 0]}
    again = Run(tmp_path, monkeypatch)
    again.batch(1, 1)
    again.batch(2, 60)
    assert list(shown(tmp_path).values()) == [[0, 0], [1, 1]]


STEPS = ["move", "write", "delete", "delete_folder", "_move", "put"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_none_lost_and_none_twice_wherever_a_roll_is_killed(tmp_path, monkeypatch, step: str, after: bool):
    """Killed at every call that changes something, once before it and once after it."""
    done, number = False, 0
    while not done:
        folder = tmp_path / str(number)
        with monkeypatch.context() as patch:
            run = Run(folder, patch, partitionBy="k")
            run.batch(0, 0)
            run.batch(1, 30)
            kill_at(patch, step, number, after)
            try:
                run.batch(2, 60)
                run.sink.roll_all(committed=2)
                done = True
            except Killed:
                pass
        again = Run(folder, monkeypatch, partitionBy="k")
        if done:
            again.batch(3, 90)
        else:
            again.batch(2, 60)  # Spark had not committed it, and runs it again
        again.sink.roll_all(committed=3)
        assert sorted(batch for file in shown(folder).values() for batch in file) == sorted(2 * list(range(3 + done)))
        assert waiting(folder) == []
        number += 1
    assert number > 1


def kill_at(patch: pytest.MonkeyPatch, step: str, number: int, after: bool) -> None:
    owners = {"_move": RollingSink, "put": rolling.StagedFiles}
    owner = owners.get(step, LocalHome)
    patch.setattr(owner, step, dying(getattr(owner, step), number, after))


def test_the_checkpoint_does_not_grow(tmp_path, monkeypatch):
    run = Run(tmp_path, monkeypatch)
    most = 0
    for number in range(40):
        run.batch(number, number * 15)
        most = max(most, len(list((tmp_path / "checkpoint").rglob("*"))))
    assert most < 12 and len(shown(tmp_path)) == 9
    assert len(os.listdir(tmp_path / "out" / "_windrow")) == 0


def test_rows_that_wait_for_a_sink_that_is_gone_are_shown(tmp_path, monkeypatch):
    run = Run(tmp_path, monkeypatch)
    run.batch(0, 0)
    (tmp_path / "rolling").mkdir()
    (tmp_path / "checkpoint" / "job-sink").rename(tmp_path / "rolling" / "job-sink")
    roll_forgotten(str(tmp_path), [], 0, run.sink._spark)
    assert shown(tmp_path) == {"000000000-000000000-00000": [0, 0]} and os.listdir(tmp_path / "rolling") == []


@pytest.mark.parametrize(
    ("roll", "told"),
    [("-1 minute", "gathers nothing"), ("0 seconds", "gathers nothing"), ("1 minuet", "cannot be read")],
)
def test_a_roll_that_cannot_be_is_refused(roll: str, told: str):
    from windrow.plan.sink import check_options

    with pytest.raises(SettingsError, match=told):
        check_options({"out": windrow.sink("csv", path="out", roll=roll)})
    with pytest.raises(SettingsError, match="console has no files that roll"):
        check_options({"out": windrow.sink("console", roll="1 minute")})


def test_a_job_with_files_that_roll_holds_the_rows_of_one_without(spark: SparkSession, tmp_path: Path):
    times = range(0, 60)
    ticks = pa.table(
        {
            "ts": instants(START + time * SECOND for time in times),
            "k": pa.array(["a", "b", "c"][time % 3] for time in times),
            "i": pa.array(times, pa.int32()),
        }
    )
    put(tmp_path / "in", *(ticks.slice(place, 20) for place in (0, 20, 40)))
    formats = {"files": "parquet", "texts": "csv", "by_spark": "csv"}
    for flush in (False, True):  # a run that works off what is there, and one more that says that it was all
        session = windrow.Session(spark, shards=2)
        session.stream("ticks", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, i INT"), time="ts")
        for name in ("plain", *formats):
            session.query(name, TEXT)
        sinks = {name: windrow.sink(form, path=tmp_path / name, roll="1 hour") for name, form in formats.items()}
        sinks["by_spark"] = windrow.sink("csv", path=tmp_path / "by_spark", roll="1 hour", quoteAll=True)
        sinks["plain"] = windrow.sink("parquet", path=tmp_path / "plain")
        job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
        finish(job, flush=flush)
        read = spark.read.schema("window_start TIMESTAMP, window_end TIMESTAMP, k STRING, total BIGINT")
        expected = rows_of(tmp_path / "plain")
        assert_same(rows_of(tmp_path / "files"), expected, ["k"])
        for name in ("texts", "by_spark"):
            assert_same(rows_of(read.csv(str(tmp_path / name))), expected, ["k"])
    assert len(list((tmp_path / "plain").glob("*.parquet"))) > len(list((tmp_path / "files").glob("*.parquet"))) <= 3
    assert_same(expected, rows_of(windrow.replay(TEXT, flush=True, ticks=ticks)), ["k"])
