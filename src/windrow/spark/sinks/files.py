"""Result files, moved into place when their batch is committed: a plain reader of the folder sees each row once."""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.places.home import Entry
from windrow.places.place import Place, place_of
from windrow.plan.sink import Sink, check_partitions
from windrow.spark.plain_types import ZONES
from windrow.spark.sinks.file_format import FileFormat, file_format
from windrow.spark.sinks.staged_files import STAGING, StagedFile, StagedFiles

_SETTINGS = ("spark.sql.parquet.compression.codec", "spark.sql.jsonGenerator.ignoreNullFields")


class FileSink:
    """Writes a batch's rows to files named after the batch, so that a batch that runs again replaces itself.

    Tasks, or Spark, write into a hidden folder beside the results; then each file is moved into place, which shows it
    whole or not at all. A job that was killed between two moves runs the batch again, with the same rows under the same
    names. All queries of a stream that name the sink share it, and its files.
    """

    takes_empty = False

    def __init__(self, sink: Sink, prefix: str, spark: SparkSession, place: Place | None = None) -> None:
        """`prefix` begins the names of its files: it tells the job and the sink; `place` is the folder of the sink."""
        path = sink.path
        assert path is not None, "checked when the sink was declared"
        self._sink, self.prefix, self._spark = sink, prefix, spark
        self._folder = (place or place_of(path)).absolute()
        self._options = {name: value for name, value in sink.spark_options.items() if name != "path"}
        self._run = uuid.uuid4().hex[:12]
        self._before: set[str] = {prefix}

    def __getstate__(self) -> dict[str, object]:
        """Where it goes to another process, the session there is given to it by `use`."""
        return {**vars(self), "_spark": None}

    def use(self, spark: SparkSession) -> None:
        """Ask this session for settings from now on."""
        self._spark = spark

    def was_called(self, prefix: str) -> None:
        """Files of an unfinished batch may have names that begin otherwise: of when fewer queries shared the sink."""
        self._before.add(prefix)

    def form(self, schema: pa.Schema) -> FileFormat | str:
        """How rows of these columns become files; or why Spark has to write them."""
        return format_in(self._sink, schema, self._spark)

    def by_tasks(self, schema: pa.Schema) -> StagedFiles | str:
        """How tasks write rows of these columns; or why Spark has to."""
        form = self.form(schema)
        return form if isinstance(form, str) else self._staged(form)

    def stage(self, rows: pa.Table, batch: int) -> list[StagedFile]:
        """Write rows that were ranked in the driver."""
        staged = self.by_tasks(rows.schema)
        assert not isinstance(staged, str), "asked before the rows were sent"
        return staged.put(rows, batch, f"whole-{uuid.uuid4().hex[:8]}")

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        """Have Spark write rows."""
        check_partitions(self._sink, rows.columns)
        name = f"{self.prefix}-{batch:09d}-{self._run}-spark-{uuid.uuid4().hex[:8]}"
        writing = rows.write.format(self._sink.format).options(**self._options).mode("overwrite")
        if self._sink.partition_by:
            writing = writing.partitionBy(*self._sink.partition_by)
        hidden = self._folder / STAGING / name
        writing.save(hidden.for_spark)
        parts = (file for file in hidden.files_below() if posixpath.basename(file.path).startswith("part-"))
        return [
            StagedFile(file.path, posixpath.dirname(file.path[len(hidden.path) + 1 :]))
            for file in parts
            if not self._is_empty(file)
        ]

    def show(self, staged: Sequence[StagedFile], batch: int) -> None:
        """Move files into place, and remove whatever else was staged for this batch or one before."""
        self._move(staged, f"{self.prefix}-{batch:09d}")
        self._tidy(batch)

    def _move(self, staged: Sequence[StagedFile], begins: str) -> list[tuple[str, str]]:
        """Move files into place, under names that begin with `begins`; the folder and the name that each has then."""
        made: set[str] = {""}
        shown = []
        for number, (path, folder) in enumerate(sorted(staged, key=lambda file: (file.folder, file.path))):
            name = f"{begins}-{number:05d}{extension_of(posixpath.basename(path))}"
            place = self._folder / folder
            if folder not in made:
                place.make_folders()
                made.add(folder)
            Place(self._folder.home, path).move(place / name)
            shown.append((folder, name))
        return shown

    def clear(self, batch: int) -> None:
        """Remove what an earlier try of this batch has shown or staged: an earlier run may have begun it."""
        self._tidy(batch)
        begins = tuple(f"{prefix}-{batch:09d}-" for prefix in self._before)
        for file in self._folder.files_below():
            if posixpath.basename(file.path).startswith(begins):
                self._folder.at(file).delete()

    def _tidy(self, batch: int) -> None:
        """Remove what is staged for no later batch: attempts of tasks that died, or whose rows nobody asked for."""
        for entry in (self._folder / STAGING).listed():
            place = self._folder.at(entry)
            if any(_is_staged(place.name, prefix, batch) for prefix in self._before):
                if entry.is_folder:
                    place.delete_folder()
                else:
                    place.delete()

    def _staged(self, form: FileFormat) -> StagedFiles:
        return StagedFiles(self._folder / STAGING, self.prefix, self._run, form)

    def _is_empty(self, file: Entry) -> bool:
        """Whether a file holds no row: Spark writes such files too."""
        if file.size == 0:
            return True
        if self._sink.format == "parquet":
            with self._folder.at(file).open() as content:
                return bool(pq.ParquetFile(content).metadata.num_rows == 0)
        if self._sink.format == "csv" and self._options.get("header", "").lower() == "true":
            if "compression" in self._options or file.size > 1 << 16:
                return False
            return self._folder.at(file).read().count(b"\n") <= 1
        return False


def format_in(sink: Sink, schema: pa.Schema, spark: SparkSession) -> FileFormat | str:
    """How tasks of a Spark session write rows of `schema` into a sink; or why Spark has to."""
    check_partitions(sink, schema.names)
    settings = {name: spark.conf.get(name, None) for name in _SETTINGS}
    own = {name.lower(): value for name, value in sink.spark_options.items()}
    zone = own.get("timezone", spark.conf.get("spark.sql.session.timeZone"))
    return file_format(sink, schema, settings | {"utc": "true" if zone in ZONES else None})


def _is_staged(name: str, prefix: str, batch: int) -> bool:
    """Whether a name in the hidden folder is of a batch up to `batch`.

    >>> [_is_staged(name, "ab-cd", 7) for name in ("ab-cd-000000007-1f", "ab-cd-000000008-1f", "ab-ce-000000007-1f")]
    [True, False, False]
    """
    number = name.removeprefix(f"{prefix}-")[:9]
    return name.startswith(f"{prefix}-") and number.isdigit() and int(number) <= batch


def extension_of(name: str) -> str:
    """What follows a Spark file's name, compression included.

    >>> extension_of("part-00000-0e0f-c000.snappy.parquet")
    '.snappy.parquet'
    """
    return name[name.index(".") :] if "." in name else ""
