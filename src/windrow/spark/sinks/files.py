"""Files that hold each row exactly once, for a plain reader of the folder."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.plan.sink import Sink
from windrow.spark.places import file_system
from windrow.spark.sinks.outlets import StagedFiles

STAGING = "_windrow"
"""Readers of a folder pass over names that begin with an underscore."""


_EXTENSIONS = {"snappy": ".snappy", "gzip": ".gz", "zstd": ".zstd", "none": "", "uncompressed": ""}
"""The compressions that tasks know, and what Spark adds to names for them."""


class FileSink:
    """Writes a batch's rows to files named after the batch, so that a batch that runs again replaces itself.

    Tasks, or Spark, write into a hidden folder beside the results; then each file is moved into place, which shows it
    whole or not at all. A job that was killed between two moves runs the batch again, with the same rows under the same
    names.
    """

    takes_empty = False

    def __init__(self, sink: Sink, job: str, spark: SparkSession) -> None:
        path = sink.path
        assert path is not None, "checked when the sink was declared"
        self._sink, self._job = sink, job
        self._files, self._folder = file_system(path)
        self._address = path.rstrip("/")
        self._options = {name: value for name, value in sink.spark_options.items() if name != "path"}
        own = {name.lower(): value.lower() for name, value in self._options.items()}
        usual = spark.conf.get("spark.sql.parquet.compression.codec", "snappy")
        compression = own.pop("compression", f"{usual}".lower())
        self._by_tasks = sink.format == "parquet" and not own and compression in _EXTENSIONS
        extension = f"{_EXTENSIONS.get(compression, '')}.parquet"
        pressed = "none" if compression == "uncompressed" else compression
        self.staged = StagedFiles(f"{self._address}/{STAGING}/{job}", uuid.uuid4().hex, pressed, extension)

    @property
    def tables(self) -> FileSink | None:
        """Tasks write what needs no option of Spark's own writer."""
        return self if self._by_tasks else None

    def write(self, rows: DataFrame, batch: int) -> None:
        """Have Spark write the rows of `batch`, replacing what an earlier try has left."""
        staged = f"{STAGING}/{self._job}-{batch:09d}"
        rows.write.format(self._sink.format).options(**self._options).mode("overwrite").save(
            f"{self._address}/{staged}"
        )
        found = self._files.get_file_info(pafs.FileSelector(posixpath.join(self._folder, staged)))
        parts = (info for info in found if info.is_file and info.base_name.startswith("part-"))
        self.show([info.path for info in parts if not self._is_empty(info)], batch)

    def take(self, rows: pa.Table, batch: int) -> None:
        """Write rows that were ranked in the driver."""
        self.show([self.staged.put(rows, batch, "whole")], batch)

    def show(self, staged: Sequence[str], batch: int) -> None:
        """Move files into place, and remove whatever else was staged for `batch`, now or in an earlier try."""
        self._clear(batch)
        for number, path in enumerate(sorted(staged, key=posixpath.basename)):
            name = f"{self._prefix(batch)}{number:05d}{extension_of(posixpath.basename(path))}"
            self._files.move(path, posixpath.join(self._folder, name))
        staging = pafs.FileSelector(posixpath.join(self._folder, STAGING), allow_not_found=True)
        for info in self._files.get_file_info(staging):
            if info.base_name.startswith(f"{self._job}-{batch:09d}"):
                self._files.delete_dir(info.path)

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
                return bool(pq.ParquetFile(file).metadata.num_rows == 0)
        if self._sink.format == "csv" and self._options.get("header", "").lower() == "true":
            if "compression" in self._options or info.size > 1 << 16:
                return False
            with self._files.open_input_stream(info.path) as stream:
                return bool(stream.read().count(b"\n") <= 1)
        return False


def extension_of(name: str) -> str:
    """What follows a Spark file's name, compression included.

    >>> extension_of("part-00000-0e0f-c000.snappy.parquet")
    '.snappy.parquet'
    """
    return name[name.index(".") :] if "." in name else ""
