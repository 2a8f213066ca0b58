"""The current answer of a query that emits changes, as one file that is replaced whole."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from zlib import crc32

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.errors import SettingsError, StateError
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.sink import Sink
from windrow.spark.job.checkpoint import make_folder
from windrow.spark.places import file_system
from windrow.spark.sinks.files import extension_of
from windrow.spark.sinks.staged_files import STAGING
from windrow.spark.sinks.writers import WrittenBySpark

ANSWER = "answer"
"""The name of the file, before its extension."""

UNKNOWN = (
    "the answer has lost a row that it never had: its query ran on this checkpoint before the sink held the answer."
    " Start it on a new checkpoint"
)


class AnswerSink(WrittenBySpark):
    """Adds up the changes of each batch, and shows the answer as one file of the folder.

    An answer is a multiset of rows: that of a batch is the one before, and the batch's `+` and `-` rows. It is kept in
    `home`, a folder of the checkpoint, under the batch's number; a batch that runs again begins with the same answer as
    the first time and replaces itself. So two are kept, the newest and the one before. The file that a reader sees
    appears by a move over the one before: a reader finds the one or the other, whole.
    """

    why = "the whole answer is written anew"

    def __init__(self, sink: Sink, home: str, leading: int) -> None:
        """The first `leading` columns of a change say how and when it came; the first of them is `op`."""
        path = sink.path
        assert path is not None, "checked when the sink was declared"
        self._sink, self._home, self._leading = sink, os.path.abspath(home), leading
        self._files, self._folder = file_system(path)
        self._address = path.rstrip("/")
        self._options = {name: value for name, value in sink.spark_options.items() if name != "path"}
        others = [name for name in self._shown() if not name.startswith(f"{ANSWER}.")]
        if others:
            raise SettingsError(f"{path!r} has other files, such as {others[0]}: an answer needs a folder of its own")
        for folder in (os.path.dirname(os.path.dirname(self._home)), os.path.dirname(self._home), self._home):
            make_folder(folder)

    def write(self, rows: DataFrame, batch: int) -> None:
        """Show the answer after `batch`."""
        before = max((number for number in self._kept() if number < batch), default=None)
        if before is not None:
            self._check(before)
        self._keep(self._added_up(rows, before), batch)
        self._show(rows, batch)
        for number in self._kept():
            if number not in (before, batch):
                os.remove(self._place(number))

    def _added_up(self, rows: DataFrame, before: int | None) -> DataFrame:
        """The rows of the answer `before`, and those of a batch, as often as they are there after it."""
        names = rows.columns[self._leading :]
        signed = signed_rows(rows, self._leading)
        columns = signed.columns[:-1]
        if before is not None:
            held = rows.sparkSession.read.schema(self._schema(rows)).parquet(self._place(before))
            signed = signed.unionAll(held.toDF(*columns).withColumn("weight", F.lit(1)))
        net = net_rows(signed)
        copies = F.when(F.col("copies") > 0, F.col("copies")).otherwise(F.raise_error(F.lit(UNKNOWN)).cast("int"))
        whole = net.select(*columns, F.explode(F.array_repeat(F.lit(True), copies)).alias("copy"))
        return whole.select(*columns).toDF(*names)

    def _keep(self, answer: DataFrame, batch: int) -> None:
        """Keep the answer after `batch`, whole or not at all."""
        written = os.path.join(self._home, "writing")
        options = self._options if self._sink.format == "parquet" else {}
        answer.coalesce(1).write.options(**options).mode("overwrite").parquet(written)
        os.replace(os.path.join(written, _part(os.listdir(written))), self._place(batch))
        shutil.rmtree(written)

    def _show(self, rows: DataFrame, batch: int) -> None:
        """Put the answer that is kept before its readers."""
        staged = posixpath.join(self._folder, STAGING, ANSWER)
        if self._sink.format == "parquet":
            self._files.create_dir(staged, recursive=True)
            source, name = self._place(batch), f"{ANSWER}.parquet"
            whole = posixpath.join(staged, name)
            pafs.copy_files(source, whole, source_filesystem=pafs.LocalFileSystem(), destination_filesystem=self._files)
        else:
            answer = rows.sparkSession.read.schema(self._schema(rows)).parquet(self._place(batch))
            writing = answer.coalesce(1).write.format(self._sink.format).options(**self._options).mode("overwrite")
            writing.save(f"{self._address}/{STAGING}/{ANSWER}")
            found = self._files.get_file_info(pafs.FileSelector(staged))
            whole = posixpath.join(staged, _part([info.base_name for info in found]))
            name = ANSWER + extension_of(posixpath.basename(whole))
        for other in self._shown():
            if other != name:  # the answer in another format, or compressed in another way
                self._files.delete_file(posixpath.join(self._folder, other))
        self._files.move(whole, posixpath.join(self._folder, name))
        self._files.delete_dir(posixpath.join(self._folder, STAGING))

    def _schema(self, rows: DataFrame) -> StructType:
        return StructType(rows.schema.fields[self._leading :])

    def _shown(self) -> list[str]:
        """The files that a reader of the folder finds."""
        found = self._files.get_file_info(pafs.FileSelector(self._folder, allow_not_found=True))
        return [info.base_name for info in found if not info.base_name.startswith(("_", "."))]

    def _kept(self) -> list[int]:
        """The batches whose answers are kept."""
        names = (re.fullmatch(r"(\d{9})\.parquet", name) for name in os.listdir(self._home))
        return [int(name[1]) for name in names if name is not None]

    def _check(self, batch: int) -> None:
        """Raise, by name, if the answer that was kept is not whole: no answer can follow from it."""
        try:
            pq.read_metadata(self._place(batch))
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(
                f"{self._place(batch)}, the answer as it was kept, is damaged: bring it back from a copy, or start with"
                " a new checkpoint"
            ) from error

    def _place(self, batch: int) -> str:
        return os.path.join(self._home, f"{batch:09d}.parquet")


def signed_rows(rows: DataFrame, leading: int) -> DataFrame:
    """Changes as rows with a `weight`, 1 or -1; columns are numbered, since they may have any name."""
    columns = [f"c{i}" for i in range(len(rows.columns) - leading)]
    numbered = rows.toDF("op", *(f"leading_{i}" for i in range(1, leading)), *columns)
    return numbered.select(*columns, F.when(F.col("op") == "+", 1).otherwise(-1).alias("weight"))


def net_rows(signed: DataFrame) -> DataFrame:
    """Each row once, with how many `copies` of it there are more, or fewer."""
    columns = signed.columns[:-1]
    return signed.groupBy(*columns).agg(F.sum("weight").cast("int").alias("copies")).where("copies <> 0")


def answer_home(checkpoint: str, query: QueryPlan | ChangePlan) -> str:
    """Where a checkpoint keeps the answer of a query. Another query of the same name begins with none."""
    return os.path.join(_homes(checkpoint, query.name), query.answer_name)


def forget_answers(checkpoint: str, name: str) -> None:
    """Remove the answers that are kept of queries that were called `name`."""
    shutil.rmtree(_homes(checkpoint, name), ignore_errors=True)


def _homes(checkpoint: str, name: str) -> str:
    return os.path.join(checkpoint, "answers", f"{crc32(name.encode('utf-8', 'surrogatepass')):08x}")


def _part(names: list[str]) -> str:
    """The one file with rows that Spark has written."""
    return next(name for name in names if name.startswith("part-"))
