"""Tables that get the batches of a while in one commit: none is lost and none twice, wherever the job dies."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from spark.streams import SECOND
from spark.test_staged_files import Attempt, Killed, dying
from windrow.places.local_home import LocalHome
from windrow.spark.sinks import rolling
from windrow.spark.sinks.forgotten import roll_forgotten
from windrow.spark.sinks.lake import LakeCommits
from windrow.spark.sinks.rolling_lake import RollingLake

from .test_versions import KINDS, read_by_library, sink_of

CONF = SimpleNamespace(get=lambda name, usual=None: "UTC" if name.endswith("timeZone") else usual)
SPARK = SimpleNamespace(conf=CONF)


def rows(batch: int) -> pa.Table:
    return pa.table({"k": ["a", "b"], "batch": pa.array([batch, batch], pa.int64())})


class Run:
    """Batches of two rows each, into a table; a new one is a new process."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, kind: str) -> None:
        folder.mkdir(exist_ok=True)
        sink = sink_of(kind, folder, roll="1 minute", partitionBy="k")
        home = folder / "checkpoint" / "rolling" / "job-sink"
        home.parent.mkdir(parents=True, exist_ok=True)
        self.sink = RollingLake(sink, "mark", "job-sink", SPARK, str(home))  # type: ignore[arg-type]
        self._declared, self._goes_on, self._patch = sink, False, patch

    def batch(self, number: int, second: int, *, flushed: bool = False) -> None:
        if not self._goes_on:
            self.sink.clear(number)
        Attempt(self._patch, partition=0, attempt=number)
        files = self.sink.by_tasks(rows(0).schema).write(rows(number), number)
        self.sink.turn(second * SECOND, flushed=flushed)
        self.sink.show(files, number)
        self._goes_on = True

    def held(self) -> list[int]:
        return sorted(read_by_library(self._declared)["batch"].to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_a_minute_of_batches_is_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    commits: list[int] = []
    real = LakeCommits.commit

    def counted(self, folder, shown, schema, batch, **how):  # type: ignore[no-untyped-def]
        commits.append(batch)
        real(self, folder, shown, schema, batch, **how)

    monkeypatch.setattr(LakeCommits, "commit", counted)
    run = Run(tmp_path, monkeypatch, kind)
    for number, second in enumerate((0, 20, 59, 60, 61)):
        run.batch(number, second)
    assert commits == [2] and run.held() == [0, 0, 1, 1, 2, 2]
    run.sink.roll_all(committed=4)
    assert commits == [2, 4] and run.held() == sorted(2 * [0, 1, 2, 3, 4])


STEPS = ["commit", "move", "delete", "delete_folder", "write", "put"]


@pytest.mark.parametrize(("step", "kind"), [(step, "delta") for step in STEPS] + [("commit", "iceberg")])
@pytest.mark.parametrize("after", [False, True])
def test_none_lost_and_none_twice_wherever_a_roll_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, kind: str, after: bool
) -> None:
    """Killed at every call that changes something; the batch under way comes again, and says that the input ends."""
    done, number = False, 0
    owner = {"commit": LakeCommits, "put": rolling.StagedFiles}.get(step, LocalHome)
    while not done:
        folder = tmp_path / str(number)
        with monkeypatch.context() as patch:
            run = Run(folder, patch, kind)
            run.batch(0, 0)
            run.batch(1, 30)
            patch.setattr(owner, step, dying(getattr(owner, step), number, after))
            try:
                run.batch(2, 60, flushed=True)
                done = True
            except Killed:
                pass
        again = Run(folder, monkeypatch, kind)
        again.batch(2, 60, flushed=True)  # Spark had not committed it
        again.batch(3, 90)
        again.sink.roll_all(committed=3)
        assert again.held() == sorted(2 * list(range(4)))
        number += 1
    assert number > 1


def test_a_batch_that_the_table_has_is_not_shown_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Run(tmp_path, monkeypatch, "delta").batch(0, 0, flushed=True)
    again = Run(tmp_path, monkeypatch, "delta")
    again.batch(0, 0)  # it comes again, and this time nobody says that the input has ended
    again.batch(1, 1)
    again.sink.roll_all(committed=1)
    assert again.held() == [0, 0, 1, 1]


def test_rows_that_wait_for_a_table_that_is_written_no_more_are_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, monkeypatch, "delta")
    run.batch(0, 0)
    run.batch(1, 1)
    roll_forgotten(str(tmp_path / "checkpoint"), [], 0, SPARK)  # type: ignore[arg-type]
    assert run.held() == [0, 0]  # Spark had not committed the other
    assert list((tmp_path / "checkpoint" / "rolling").iterdir()) == []
