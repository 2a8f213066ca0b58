"""Files that tasks stage: attempts that run twice, die half-way or find no room leave no row twice, and none by halves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import windrow
from windrow.errors import JobError
from windrow.spark.sinks import staged_files
from windrow.spark.sinks.files import FileSink

from .streams import rows_of

ROWS = pa.table({"k": ["a", "b", "b"], "n": pa.array([1, 2, 3], pa.int64())})


class Attempt:
    """One attempt of a task, as Spark tells it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, partition: int, attempt: int) -> None:
        told = SimpleNamespace(partitionId=lambda: partition, taskAttemptId=lambda: attempt)
        monkeypatch.setattr(staged_files.TaskContext, "get", lambda: told)


class Killed(BaseException):
    """What no code catches, like the end of its process."""


def dying(real: Callable[..., Any], number: int, after: bool) -> Callable[..., Any]:
    """`real`, but the process dies in its call of that number, before it or after it."""
    left = [number]

    def call(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == -1 and not after:
            raise Killed
        result = real(*arguments, **named)
        if left[0] == -1:
            raise Killed
        return result

    return call


def file_sink(folder: Path, format: str = "parquet", **options: str) -> FileSink:
    conf = SimpleNamespace(get=lambda name, usual=None: "UTC" if name.endswith("timeZone") else usual)
    return FileSink(windrow.sink(format, path=folder, **options), "job-sink", SimpleNamespace(conf=conf))


def hidden(folder: Path) -> list[str]:
    return os.listdir(folder / "_windrow")


@pytest.mark.parametrize(("format", "options"), [("parquet", {}), ("csv", {"header": "true"}), ("json", {})])
def test_of_two_attempts_the_one_that_spark_took_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, options: dict[str, str]
):
    sink = file_sink(tmp_path, format, **options)
    staged = sink.by_tasks(ROWS.schema)
    Attempt(monkeypatch, partition=0, attempt=3)
    staged.write(ROWS, 0)  # Spark never hears of it
    Attempt(monkeypatch, partition=0, attempt=5)
    taken = staged.write(ROWS, 0)
    assert len(hidden(tmp_path)) == 2
    sink.show(taken, 0)
    assert rows_of(tmp_path) == ROWS.to_pylist() and hidden(tmp_path) == []


def test_an_attempt_that_ends_after_its_batch_goes_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sink = file_sink(tmp_path)
    staged = sink.by_tasks(ROWS.schema)
    for batch in range(3):
        Attempt(monkeypatch, partition=0, attempt=batch)
        sink.show(staged.write(ROWS, batch), batch)
        Attempt(monkeypatch, partition=0, attempt=100 + batch)
        staged.write(ROWS, batch)  # speculative, and late
    assert len(rows_of(tmp_path)) == 3 * len(ROWS) and len(hidden(tmp_path)) == 1


def test_a_batch_that_runs_again_in_a_new_process_replaces_what_the_first_try_has_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options = {"partitionBy": "k"}
    first = file_sink(tmp_path, **options)
    Attempt(monkeypatch, partition=0, attempt=1)
    first.show(first.by_tasks(ROWS.schema).write(ROWS, 7), 7)
    Attempt(monkeypatch, partition=1, attempt=2)
    taken = first.by_tasks(ROWS.schema).write(ROWS, 8)
    first.show(taken[:1], 8)  # killed between two moves
    again = file_sink(tmp_path, **options)
    again.clear(8)
    again.show(again.by_tasks(ROWS.schema).write(ROWS, 8), 8)
    shown = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.parquet"))
    assert shown == [
        *("k=a/job-sink-000000007-00000.snappy.parquet", "k=a/job-sink-000000008-00000.snappy.parquet"),
        *("k=b/job-sink-000000007-00001.snappy.parquet", "k=b/job-sink-000000008-00001.snappy.parquet"),
    ]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str):
    sink = file_sink(tmp_path, format)
    Attempt(monkeypatch, partition=0, attempt=1)
    staged = sink.by_tasks(ROWS.schema)

    def full(self: object, rows: pa.Table, file: pa.NativeFile) -> None:
        file.write(b"half of it")
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(staged.format), "write", full)
        with pytest.raises(JobError, match=r"_windrow/job-sink-0.* cannot be written: .*No space left on device"):
            staged.write(ROWS, 0)
    assert hidden(tmp_path) == [] and rows_of_nothing(tmp_path)
    sink.show(staged.write(ROWS, 0), 0)  # there is room again
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [f".{format}"]


def rows_of_nothing(folder: Path) -> bool:
    return [path.name for path in folder.iterdir()] == ["_windrow"]
