"""Files that tasks write where no reader looks, under names that no other attempt of a task has."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.fs as pafs
from pyspark import TaskContext

from windrow.errors import JobError
from windrow.spark.places import file_system
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.partition_folders import by_folder

STAGING = "_windrow"
"""Readers of a folder pass over names that begin with an underscore."""


class StagedFile(NamedTuple):
    """Where a file waits, and in which folder below that of its sink it is to be shown."""

    path: str
    folder: str = ""


class Staged(Protocol):
    """Where a task puts rows; the driver is told under which names they are there.

    `kind` tells rows apart that a task has for one place and that cannot be in one file.
    """

    def write(self, rows: pa.Table, batch: int, kind: int = 0) -> list[StagedFile]: ...


@dataclass(frozen=True, slots=True)
class Nowhere:
    """Rows that nobody wants: they are finished all the same."""

    def write(self, rows: pa.Table, batch: int, kind: int = 0) -> list[StagedFile]:
        return []


@dataclass(frozen=True, slots=True)
class StagedFiles:
    """Files in a hidden folder at `address`, whose names begin with `prefix`: a job and a sink of it.

    `run` tells the tries of a batch apart: one before a restart may still be writing.
    """

    address: str
    prefix: str
    run: str
    format: FileFormat

    def write(self, rows: pa.Table, batch: int, kind: int = 0) -> list[StagedFile]:
        """Write what a task has for `batch`, a file for each folder."""
        context = TaskContext.get()
        assert context is not None
        return self.put(rows, batch, f"{context.partitionId():05d}-{context.taskAttemptId()}-{kind}")

    def put(self, rows: pa.Table, batch: int, name: str) -> list[StagedFile]:
        """Write rows under names that begin with those of the batch and the run, and `name`."""
        files, hidden = file_system(self.address)
        stem = posixpath.join(hidden, f"{self.prefix}-{batch:09d}-{self.run}-{name}")
        staged = []
        for number, (folder, part) in enumerate(by_folder(rows, self.format.partition_by)):
            path = f"{stem}-{number:05d}{self.format.extension}"
            write_file(files, path, self.format, part)
            staged.append(StagedFile(path, folder))
        return staged


def write_file(files: pafs.FileSystem, path: str, format: FileFormat, rows: pa.Table) -> None:
    """Write a file; one that cannot be written whole is removed, and named."""
    with _named(files, path):
        try:
            stream = files.open_output_stream(path, compression=None)
        except FileNotFoundError:
            files.create_dir(posixpath.dirname(path), recursive=True)
            stream = files.open_output_stream(path, compression=None)
        with stream:
            format.write(rows, stream)


@contextmanager
def _named(files: pafs.FileSystem, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        with suppress(OSError):
            files.delete_file(path)
        raise not_written(path, error) from error


def not_written(path: str, error: OSError) -> JobError:
    """What is told of a file that could not be written, in a line."""
    why = str(error).split("Detail:")[-1].strip().replace("\n", " ")
    return JobError(f"{path} cannot be written: {why}; when there is a way, start the job again: it goes on from there")
