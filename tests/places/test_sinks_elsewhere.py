"""Sinks whose folder, and whose part of the checkpoint, are in a bucket: killed at every step, none lost and none twice."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from spark.test_staged_files import Attempt, Killed, dying
from windrow.places.object_home import ObjectHome
from windrow.places.place import Place
from windrow.spark.sinks.compact import compact
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.rolling import RollingSink

from .stores import new_folder, s3_server

SECOND, NAME = 1_000_000, "job-0badcafe"
STEPS = ["write", "move", "delete", "delete_folder"]
CONF = SimpleNamespace(get=lambda name, usual=None: "UTC" if name.endswith("timeZone") else usual)
SPARK = SimpleNamespace(conf=CONF)


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    with s3_server() as known:
        yield known


def rows(batch: int) -> pa.Table:
    return pa.table({"k": ["a", "b"], "batch": pa.array([batch, batch], pa.int64())})


class Run:
    """Batches of two rows each, into a sink; a new one is a new process."""

    def __init__(self, folder: Path | Place, patch: pytest.MonkeyPatch, roll: str | None) -> None:
        options = {"roll": roll, "partitionBy": "k"} if roll else {"partitionBy": "k"}
        sink = windrow.sink("parquet", path="elsewhere", **options)
        home, place = folder / "checkpoint" / "rolling" / NAME, folder / "out"
        self.rolls, self._goes_on, self._patch = roll is not None, False, patch
        self.sink = RollingSink(sink, NAME, SPARK, home, place) if roll else FileSink(sink, NAME, SPARK, place)

    def batch(self, number: int, second: int) -> None:
        if not self._goes_on:
            self.sink.clear(number)
        Attempt(self._patch, partition=0, attempt=number)
        staged = self.sink.by_tasks(rows(0).schema)
        staged.write(rows(number), number)  # an attempt that nobody asks for
        Attempt(self._patch, partition=0, attempt=100 + number)
        files = staged.write(rows(number), number)
        if self.rolls:
            self.sink.turn(second * SECOND, flushed=False)
        self.sink.show(files, number)
        self._goes_on = True


def shown(folder: Place) -> list[int]:
    """The batches of all rows that a reader finds."""
    found = [place for place in map(folder.at, folder.files_below()) if "/_windrow/" not in place.path]
    return sorted(n for place in found for n in pq.read_table(io.BytesIO(place.read())).column("batch").to_pylist())


def killed_at(
    folder: Place, monkeypatch: pytest.MonkeyPatch, roll: str | None, step: str, number: int, after: bool
) -> bool:
    """Some batches, of which one is killed at the call of that number; whether there was no such call."""
    done = False
    with monkeypatch.context() as patch:
        run = Run(folder, patch, roll)
        run.batch(0, 0)
        run.batch(1, 30)
        patch.setattr(ObjectHome, step, dying(getattr(ObjectHome, step), number, after))
        try:
            run.batch(2, 60)
            if roll:
                run.sink.roll_all(committed=2)
            done = True
        except Killed:
            pass
    again = Run(folder, monkeypatch, roll)
    again.batch(3 if done else 2, 90 if done else 60)
    if roll:
        again.sink.roll_all(committed=3)
    assert shown(folder / "out") == sorted(2 * list(range(3 + done)))
    return done


@pytest.mark.parametrize("roll", [None, "1 minute"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_none_lost_and_none_twice_wherever_a_batch_is_killed(tmp_path, monkeypatch, roll, step: str, after: bool):
    number = 0
    while not killed_at(new_folder("memory", tmp_path), monkeypatch, roll, step, number, after):
        number += 1


def test_so_it_is_in_s3(s3: dict[str, str], tmp_path, monkeypatch):
    killed_at(new_folder("s3", tmp_path, s3), monkeypatch, "1 minute", "move", 1, after=True)


@pytest.mark.parametrize("step", ["write", "move", "delete"])
@pytest.mark.parametrize("after", [False, True])
def test_compaction_that_dies_anywhere_is_finished_by_the_next(tmp_path, monkeypatch, step: str, after: bool):
    done, number = False, 0
    while not done:
        folder = new_folder("memory", tmp_path)
        run = Run(folder, monkeypatch, None)
        for batch in range(4):
            run.batch(batch, batch)
        with monkeypatch.context() as patch:
            patch.setattr(ObjectHome, step, dying(getattr(ObjectHome, step), number, after))
            patch.setattr("windrow.places.lease._age", lambda folder, number: 99.0)  # who died is not waited for
            try:
                compact(folder / "out", 10**8, None, lambda text: None)
                done = True
            except Killed:
                assert set(shown(folder / "out")) == set(range(4)), "never is a row missing"
        monkeypatch.setattr("windrow.places.lease._age", lambda folder, number: 99.0)
        compact(folder / "out", 10**8, None, lambda text: None)
        assert shown(folder / "out") == sorted(2 * list(range(4)))
        number += 1
    assert number > 1
