"""Files that hold each row exactly once, for a plain reader of the folder."""

from __future__ import annotations

import os
import posixpath

import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from windrow.plan.sink import Sink

STAGING = "_windrow"
"""Readers of a folder pass over names that begin with an underscore."""


class FileSink:
    """Writes a batch's rows to files named after the batch, so that a batch that runs again replaces itself.

    Spark writes into a hidden folder beside the results; then each file is moved into place, which shows it whole or
    not at all. A job that was killed between two moves runs the batch again, with the same rows under the same names.
    """

    takes_empty = False

    def __init__(self, sink: Sink, job: str) -> None:
        path = sink.path
        assert path is not None, "checked when the sink was declared"
        self._sink, self._job = sink, job
        self._files, self._folder = file_system(path)
        self._address = path.rstrip("/")
        self._options = {name: value for name, value in sink.spark_options.items() if name != "path"}

    def write(self, rows: DataFrame, batch: int) -> None:
        """Write the rows of `batch`, replacing what an earlier try has left."""
        staged = f"{STAGING}/{self._job}-{batch:09d}"
        rows.write.format(self._sink.format).options(**self._options).mode("overwrite").save(
            f"{self._address}/{staged}"
        )
        self._clear(batch)
        number = 0
        selector = pafs.FileSelector(posixpath.join(self._folder, staged))
        for info in sorted(self._files.get_file_info(selector), key=lambda info: info.base_name):
            if info.is_file and info.base_name.startswith("part-") and not self._is_empty(info):
                name = f"{self._prefix(batch)}{number:05d}{extension_of(info.base_name)}"
                self._files.move(info.path, posixpath.join(self._folder, name))
                number += 1
        self._files.delete_dir(posixpath.join(self._folder, staged))

    def _clear(self, batch: int) -> None:
        """Remove the files of an earlier try of this batch."""
        for info in self._files.get_file_info(pafs.FileSelector(self._folder)):
            if info.base_name.startswith(self._prefix(batch)):
                self._files.delete_file(info.path)

    def _prefix(self, batch: int) -> str:
        return f"{self._job}-{batch:09d}-"

    def _is_empty(self, info: pafs.FileInfo) -> bool:
        """Whether a file holds no row: Spark writes such files too."""
        if info.size == 0:
            return True
        if self._sink.format == "parquet":
            with self._files.open_input_file(info.path) as file:
                return pq.ParquetFile(file).metadata.num_rows == 0
        if self._sink.format == "csv" and self._options.get("header", "").lower() == "true":
            if "compression" in self._options or info.size > 1 << 16:
                return False
            with self._files.open_input_stream(info.path) as stream:
                return stream.read().count(b"\n") <= 1
        return False


def file_system(path: str) -> tuple[pafs.FileSystem, str]:
    if "://" in path:
        return pafs.FileSystem.from_uri(path)
    return pafs.LocalFileSystem(), os.path.abspath(path.removeprefix("file:"))


def extension_of(name: str) -> str:
    """What follows a Spark file's name, compression included.

    >>> extension_of("part-00000-0e0f-c000.snappy.parquet")
    '.snappy.parquet'
    """
    return name[name.index(".") :] if "." in name else ""
