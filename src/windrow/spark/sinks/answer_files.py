"""The current answer of a query that emits changes, as one file that is replaced whole."""

from __future__ import annotations

import re
from contextlib import suppress
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.errors import SettingsError, StateError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.sink import ANSWER_FILES, Sink
from windrow.spark.job.checkpoint import read_back, write_whole
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

    why = ANSWER_FILES

    def __init__(self, sink: Sink, home: AnyPlace, leading: int, place: Place | None = None) -> None:
        """The first `leading` columns of a change say how and when it came; the first of them is `op`."""
        path = sink.path
        assert path is not None, "checked when the sink was declared"
        self._sink, self._home, self._leading = sink, place_of(home).absolute(), leading
        self._folder = (place or place_of(path)).absolute()
        self._options = {name: value for name, value in sink.spark_options.items() if name != "path"}
        self._check_alone()
        for folder in (self._home.parent.parent, self._home.parent, self._home):
            folder.make_folder()

    def _check_alone(self) -> None:
        """Refuse a folder with other files: a reader would take them for the answer's."""
        others = [name for name in self._shown() if not name.startswith(f"{ANSWER}.")]
        if others:
            path = self._sink.path
            raise SettingsError(f"{path!r} has other files, such as {others[0]}: an answer needs a folder of its own")

    def write(self, rows: DataFrame, batch: int) -> None:
        """Show the answer after `batch`."""
        before = max((number for number in self._kept() if number < batch), default=None)
        if before is not None:
            self._check(before)
        self._keep(self._added_up(rows, before), batch)
        self._show(rows, batch)
        for number in self._kept():
            if number not in (before, batch):
                self._place(number).delete()

    def _added_up(self, rows: DataFrame, before: int | None) -> DataFrame:
        """The rows of the answer `before`, and those of a batch, as often as they are there after it."""
        names = rows.columns[self._leading :]
        signed = signed_rows(rows, self._leading)
        columns = signed.columns[:-1]
        if before is not None:
            held = rows.sparkSession.read.schema(self._schema(rows)).parquet(self._place(before).for_spark)
            signed = signed.unionAll(held.toDF(*columns).withColumn("weight", F.lit(1)))
        net = net_rows(signed)
        copies = F.when(F.col("copies") > 0, F.col("copies")).otherwise(F.raise_error(F.lit(UNKNOWN)).cast("int"))
        whole = net.select(*columns, F.explode(F.array_repeat(F.lit(True), copies)).alias("copy"))
        return whole.select(*columns).toDF(*names)

    def _keep(self, answer: DataFrame, batch: int) -> None:
        """Keep the answer after `batch`, whole or not at all."""
        written = self._home / "writing"
        options = self._options if self._sink.format == "parquet" else {}
        answer.coalesce(1).write.options(**options).mode("overwrite").parquet(written.for_spark)
        (written / _part(written.names())).move(self._place(batch))
        written.delete_folder()

    def _show(self, rows: DataFrame, batch: int) -> None:
        """Put the answer that is kept before its readers."""
        staged = self._folder / STAGING / ANSWER
        if self._sink.format == "parquet":
            staged.make_folders()
            whole = staged / f"{ANSWER}.parquet"
            self._place(batch).copy(whole)
        else:
            answer = rows.sparkSession.read.schema(self._schema(rows)).parquet(self._place(batch).for_spark)
            writing = answer.coalesce(1).write.format(self._sink.format).options(**self._options).mode("overwrite")
            writing.save(staged.for_spark)
            whole = staged / _part(staged.names())
        name = ANSWER + extension_of(whole.name)
        for other in self._shown():
            if other != name:  # the answer in another format, or compressed in another way
                (self._folder / other).delete()
        whole.move(self._folder / name)
        (self._folder / STAGING).delete_folder()

    def _schema(self, rows: DataFrame) -> StructType:
        return StructType(rows.schema.fields[self._leading :])

    def _shown(self) -> list[str]:
        """The files that a reader of the folder finds."""
        return [name for name in self._folder.names() if not name.startswith(("_", "."))]

    def _kept(self) -> list[int]:
        """The batches whose answers are kept."""
        names = (re.fullmatch(r"(\d{9})\.parquet", name) for name in self._home.names())
        return [int(name[1]) for name in names if name is not None]

    def _check(self, batch: int) -> None:
        """Raise, by name, if the answer that was kept is not whole: no answer can follow from it."""
        try:
            with self._place(batch).open() as file:
                pq.read_metadata(file)
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(
                f"{self._place(batch)}, the answer as it was kept, is damaged: bring it back from a copy, or start with"
                " a new checkpoint"
            ) from error

    def _place(self, batch: int) -> Place:
        return self._home / f"{batch:09d}.parquet"


def signed_rows(rows: DataFrame, leading: int) -> DataFrame:
    """Changes as rows with a `weight`, 1 or -1; columns are numbered, since they may have any name."""
    columns = [f"c{i}" for i in range(len(rows.columns) - leading)]
    numbered = rows.toDF("op", *(f"leading_{i}" for i in range(1, leading)), *columns)
    return numbered.select(*columns, F.when(F.col("op") == "+", 1).otherwise(-1).alias("weight"))


def net_rows(signed: DataFrame) -> DataFrame:
    """Each row once, with how many `copies` of it there are more, or fewer."""
    columns = signed.columns[:-1]
    return signed.groupBy(*columns).agg(F.sum("weight").cast("int").alias("copies")).where("copies <> 0")


def answer_home(checkpoint: AnyPlace, query: QueryPlan | ChangePlan) -> Place:
    """Where a checkpoint keeps the answer of a query. Another query of the same name begins with none."""
    return _homes(checkpoint, query.name) / query.answer_name


def forget_answers(checkpoint: AnyPlace, name: str) -> None:
    """Let the answer of the next query that is called `name` begin anew: what is kept of earlier ones is removed."""
    with suppress(OSError):
        _homes(checkpoint, name).delete_folder()
    _begun(checkpoint, name).parent.make_folders()
    write_whole(_begun(checkpoint, name), times_begun_anew(checkpoint, name) + 1)


def times_begun_anew(checkpoint: AnyPlace, name: str) -> int:
    """How often the answer of the query that is called `name` has begun anew in a checkpoint.

    Tables and topics are elsewhere: those that hold an answer note its batches under another mark each time, so that
    they know of none, and begin anew, too.
    """
    place = _begun(checkpoint, name)
    return read_back(place, int) if place.exists() else 0


def _begun(checkpoint: AnyPlace, name: str) -> Place:
    homes = _homes(checkpoint, name)
    return homes.parent / f"{homes.name}.begun"


def _homes(checkpoint: AnyPlace, name: str) -> Place:
    return place_of(checkpoint) / "answers" / f"{crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def _part(names: list[str]) -> str:
    """The one file with rows that Spark has written."""
    return next(name for name in names if name.startswith("part-"))
