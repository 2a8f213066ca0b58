"""Files that tasks write where no reader looks, under names that no other attempt of a task has."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa
from pyspark import TaskContext

from windrow.errors import JobError
from windrow.places.place import Place
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.partition_folders import by_folder

STAGING = "_windrow"
"""Readers of a folder pass over names that begin with an underscore."""


class StagedFile(NamedTuple):
    """Where a file waits, by its path in the home of its sink, and in which folder below that it is to be shown."""

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
    """Files in the hidden folder `home`, whose names begin with `prefix`: a job and a sink of it.

    `run` tells the tries of a batch apart: one before a restart may still be writing.
    """

    home: Place
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
        stem = f"{self.prefix}-{batch:09d}-{self.run}-{name}"
        staged = []
        for number, (folder, part) in enumerate(by_folder(rows, self.format.partition_by, whole=self.format.whole)):
            place = self.home / f"{stem}-{number:05d}{self.format.extension}"
            write_file(place, self.format, part)
            staged.append(StagedFile(place.path, folder))
        return staged


def write_file(place: Place, format: FileFormat, rows: pa.Table) -> None:
    """Write a file; one that cannot be written whole is removed, and named.

    Nobody looks for it before its task has ended, so on this machine it is written as it comes. Elsewhere what is
    closed is shown, even if it is half a file: there it is made in memory first.
    """
    try:
        if place.is_local:
            _write_here(place, format, rows)
        else:
            whole = io.BytesIO()
            format.write(rows, whole)
            place.write(whole.getvalue())
    except OSError as error:
        with suppress(OSError):
            place.delete()
        raise not_written(str(place), error) from error


def _write_here(place: Place, format: FileFormat, rows: pa.Table) -> None:
    try:
        stream = pa.OSFile(place.path, "wb")
    except FileNotFoundError:
        os.makedirs(place.parent.path, exist_ok=True)
        stream = pa.OSFile(place.path, "wb")
    with stream:
        format.write(rows, stream)


def not_written(path: str, error: OSError) -> JobError:
    """What is told of a file that could not be written, in a line."""
    why = str(error).split("Detail:")[-1].strip().replace("\n", " ")
    return JobError(f"{path} cannot be written: {why}; when there is a way, start the job again: it goes on from there")
