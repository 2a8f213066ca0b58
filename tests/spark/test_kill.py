"""A job that is killed at any moment, and started again, leaves the same files as one that ran through."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from . import killed_job
from .streams import PATIENCE, SECOND, START, instants, put

ROWS, SEED = 396, 11


def some_events(files: int) -> list[pa.Table]:
    draw, rows = np.random.default_rng(SEED), ROWS
    table = pa.table(
        {
            "ts": instants((START + np.arange(rows) * SECOND // 4 + draw.integers(0, 5 * SECOND, rows)).tolist()),
            "k": pa.array(draw.choice(["a", "b", "c", "d", None], rows).tolist()),
            "x": pa.array(draw.normal(size=rows)),
            "i": pa.array(draw.integers(-9, 9, rows)),
        }
    )
    return [table.slice(start, rows // files) for start in range(0, rows, rows // files)]


class Output:
    """The folder that a job writes to, watched from outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spark = folder / "checkpoint" / "ticks" / "spark"

    def begun(self) -> set[str]:
        """The batches that were begun."""
        return self._names(self._spark / "offsets")

    def done(self) -> set[str]:
        """The batches that were committed."""
        return self._names(self._spark / "commits")

    def staged(self) -> set[str]:
        """What is being written, before it is moved into place."""
        return {name for query in killed_job.QUERIES for name in self._names(self.folder / query / "_windrow")}

    def shown(self, query: str) -> set[str]:
        """The files that a reader finds."""
        return self._names(self.folder / query)

    def files_a_batch(self) -> list[int]:
        """How many files each batch has taken.

        Spark's source may be killed between its own note of a file and that of the batch: then the next takes two.
        """
        noted = self._spark / "sources" / "0"
        files = [len((noted / name).read_text().splitlines()) - 1 for name in sorted(self._names(noted), key=int)]
        batches = [self._spark / "offsets" / name for name in sorted(self.begun(), key=int)]
        last = [json.loads(batch.read_text().splitlines()[2])["logOffset"] for batch in batches]
        read = [sum(files[: note + 1]) for note in last]
        return [size for size in np.diff(read, prepend=0).tolist() if size]

    def rows(self, query: str) -> list[tuple]:
        """What a plain reader finds in the folder of a query, in some fixed order."""
        format = killed_job.FORMATS[query]
        columns = ", header = false" if format == "csv" else ""
        found = duckdb.sql(f"SELECT * FROM read_{format}('{self.folder / query}/*.{format}'{columns})")
        return sorted(found.fetchall(), key=repr)

    @staticmethod
    def _names(folder: Path) -> set[str]:
        with suppress(FileNotFoundError):
            return {name for name in os.listdir(folder) if not name.startswith((".", "_"))}
        return set()


Moment = Callable[[], Callable[[], bool]]
"""Looks at the folder when a life of the job begins, and says from then on whether the time has come."""


@contextmanager
def child(
    source: Path, output: Path, *queries: str, script: str = killed_job.__file__
) -> Iterator[subprocess.Popen[bytes]]:
    """The job in a process of its own; at the end of the block nothing of it is left."""
    command = [sys.executable, script, str(source), str(output), *queries]
    with open(output / "log", "ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # Python and the JVM, at once
        while left := _members(process.pid):  # workers have a process group of their own in the same session
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.poll()
            time.sleep(0.01)
        process.wait()


def _members(session: int) -> list[int]:
    """The living processes of a session."""
    members = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, of = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                members.append(int(pid))
    return members


def watch(process: subprocess.Popen[bytes], output: Output, until: Callable[[], bool]) -> None:
    """Wait until the folder looks as wanted."""
    deadline = time.monotonic() + PATIENCE
    while not until():
        assert process.poll() is None, f"the job ended by itself: {(output.folder / 'log').read_text()[-2000:]}"
        assert time.monotonic() < deadline, "the job is stuck"
        time.sleep(0.002)


def moments(output: Output) -> list[Moment]:
    """When to kill: a batch was committed, is being written, was written for the first of three sinks, was begun."""

    def news(look: Callable[[], set[str]]) -> Moment:
        def begin() -> Callable[[], bool]:
            before = look()
            return lambda: bool(look() - before)

        return begin

    return [
        news(output.done),
        news(output.staged),
        news(lambda: output.shown("sums")),
        news(output.begun),
    ]


@pytest.mark.parametrize(
    ("chosen", "files", "queries"),
    [
        pytest.param(slice(1, 2), 3, killed_job.FEW, id="once"),
        pytest.param(slice(None), 6, tuple(killed_job.QUERIES), id="often", marks=pytest.mark.slow),
    ],
)
def test_none_lost_and_none_twice_however_often_it_is_killed(
    spark: SparkSession, tmp_path: Path, chosen: slice, files: int, queries: tuple[str, ...]
):
    source, output = tmp_path / "in", Output(tmp_path / "killed")
    events = some_events(files)
    put(source, *events)
    output.folder.mkdir()
    delays = random.Random(SEED)
    for moment in moments(output)[chosen]:
        with child(source, output.folder, *queries) as process:
            watch(process, output, moment())
            time.sleep(delays.choice([0, 0.05, 0.3]))
    assert len(output.begun()) < files, "it was killed while there was work left"
    killed_job.run(
        spark, source, output.folder, queries
    )  # in a process that was there all the time: it knows only the folder
    assert output.begun() == output.done()

    whole, left = Output(tmp_path / "whole"), events
    for size, batches in groupby(output.files_a_batch()):  # who is late depends on what came in the same batch
        taken, left = left[: (count := size * len(list(batches)))], left[count:]
        put(tmp_path / "again", *taken)
        killed_job.run(spark, tmp_path / "again", whole.folder, queries, size, flush=not left)
    assert whole.files_a_batch() == output.files_a_batch()
    for query in queries:
        expected = whole.rows(query)
        assert len(expected) > 50
        assert output.rows(query) == expected
