"""Files that gather the batches of a while: their rows wait in the checkpoint, and are shown together."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import StateError
from windrow.plan.sink import Sink
from windrow.spark.job.checkpoint import make_folder, read_back, write_whole
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.files import FileSink, format_in
from windrow.spark.sinks.staged_files import StagedFile, StagedFiles

ROLLING = "rolling"
"""The folder of a stream, in the checkpoint, that has one for each sink whose files roll."""

_STAGED, _SINK = "staged", "sink.json"
_PART = FileFormat("parquet", "snappy")


class RollingSink(FileSink):
    """A sink of files that shows the rows of a while at once, in one file for each kind of rows and each folder.

    A batch's rows wait as parts in `home`, a folder of the checkpoint, below the while that its instant lies in. The
    instant is Spark's, and the same when the batch runs again. The first batch of another while shows what waits:

        <while>/  ->  roll-<first batch>-<last batch>/  ->  the file, under a name of both  ->  done-...  ->  nothing

    Each arrow is one rename, so whoever is killed between two goes on at the same one: the file is written again from
    the same parts, under the same name. Only batches that Spark has committed roll, but for one: a batch that says that
    the input has ended is shown at once, in a file of its own, which it replaces if it runs again.
    """

    def __init__(self, sink: Sink, prefix: str, spark: SparkSession, home: str) -> None:
        super().__init__(sink, prefix, spark)
        self._home = os.path.abspath(home)
        self._while = ""
        self._flushed = False

    def keep_home(self) -> None:
        """Make the folder in the checkpoint, which says whose it is: a later run may not know this sink."""
        for folder in (os.path.dirname(self._home), self._home, os.path.join(self._home, _STAGED)):
            make_folder(folder)
        write_whole(os.path.join(self._home, _SINK), [self._sink.format, list(self._sink.options)])

    def by_tasks(self, schema: pa.Schema) -> StagedFiles:
        format_in(self._sink, schema, self._spark)  # refuses folders by what is no column
        return StagedFiles(os.path.join(self._home, _STAGED), self.prefix, self._run, _PART)

    def stage_by_spark(self, rows: DataFrame, batch: int) -> list[StagedFile]:
        found = rows.toArrow()
        return self.stage(found, batch) if found.num_rows else []

    def clear(self, batch: int) -> None:
        """Finish what was begun, and forget what an earlier try of `batch` has left."""
        self.keep_home()
        self._recover(batch - 1)
        super().clear(batch)

    def turn(self, instant_us: int, *, flushed: bool) -> None:
        """Say when the batch under way began, before its rows are shown, and whether it says that the input has ended.

        Rolls what waits of another while, or, where the input has ended, all of it.
        """
        length = self._sink.roll_us
        assert length is not None
        self._while, self._flushed = str(instant_us // length * length), flushed
        for name in self._whiles():
            if flushed or name != self._while:
                self._roll(name)

    def show(self, staged: Sequence[StagedFile], batch: int) -> None:
        """Have rows wait, or show them where the input has ended."""
        place = os.path.join(self._home, self._while)
        make_folder(place)
        for number, file in enumerate(sorted(staged)):
            os.replace(file.path, os.path.join(place, f"{batch:09d}-{number:05d}.parquet"))
        for name in os.listdir(os.path.join(self._home, _STAGED)):  # attempts that nobody asked for
            os.remove(os.path.join(self._home, _STAGED, name))
        if self._flushed:
            self._roll(self._while)

    def roll_all(self, committed: int) -> None:
        """Show all that waits of batches up to `committed`: the job has stopped."""
        if os.path.isdir(self._home):
            self._recover(committed)
            for name in self._whiles():
                self._roll(name)

    def _recover(self, committed: int) -> None:
        """Go on where a run before was killed, and drop parts of a batch that Spark will run again."""
        for name in os.listdir(self._home):
            if name.startswith("roll-"):
                self._finish(name)
            elif name.startswith("done-"):
                shutil.rmtree(os.path.join(self._home, name))
        for name in self._whiles():
            for part in os.listdir(os.path.join(self._home, name)):
                if _batch_of(part) > committed:
                    os.remove(os.path.join(self._home, name, part))

    def _whiles(self) -> list[str]:
        return sorted((name for name in os.listdir(self._home) if re.fullmatch(r"-?\d+", name)), key=int)

    def _roll(self, name: str) -> None:
        place = os.path.join(self._home, name)
        batches = [_batch_of(part) for part in os.listdir(place)]
        if not batches:
            os.rmdir(place)
            return
        rolled = f"roll-{min(batches):09d}-{max(batches):09d}"
        os.rename(place, os.path.join(self._home, rolled))
        self._finish(rolled)

    def _finish(self, name: str) -> None:
        place = os.path.join(self._home, name)
        first, last = (int(number) for number in name.split("-")[1:3])
        staged = [file for parts in _by_columns(place) for file in self._written(parts, last)]
        self._move(staged, f"{self.prefix}-{first:09d}-{last:09d}")
        self._tidy(last)
        done = os.path.join(self._home, name.replace("roll-", "done-"))
        os.rename(place, done)
        shutil.rmtree(done)

    def _written(self, parts: list[str], last: int) -> list[StagedFile]:
        """The rows of some parts, as files of the sink that wait beside it."""
        rows = pa.concat_tables([pq.read_table(part, partitioning=None) for part in parts])
        form = format_in(self._sink, rows.schema, self._spark)
        if isinstance(form, str):
            frame = self._spark.read.parquet(*parts)
            return super().stage_by_spark(frame.coalesce(1), last)
        return self._staged(form).put(rows, last, "rolled-" + posixpath.basename(parts[0])[:15])


def roll_forgotten(folder: str, known: Iterable[FileSink], committed: int, spark: SparkSession) -> None:
    """Show what waits in a stream's `folder` of the checkpoint for sinks that roll no more, or are gone."""
    rolling = {sink.prefix for sink in known if isinstance(sink, RollingSink)}
    home = os.path.join(folder, ROLLING)
    for prefix in os.listdir(home) if os.path.isdir(home) else ():
        place = os.path.join(home, prefix)
        if prefix not in rolling and os.path.exists(os.path.join(place, _SINK)):
            format, options = read_back(os.path.join(place, _SINK), lambda content: (content[0], content[1]))
            sink = Sink(format, tuple((name, value) for name, value in options))
            RollingSink(sink, prefix, spark, place).roll_all(committed)
            shutil.rmtree(place)


def _by_columns(place: str) -> list[list[str]]:
    """The parts in a folder in their order, those of the same columns together."""
    groups: dict[pa.Schema, list[str]] = {}
    for name in sorted(os.listdir(place)):
        part = os.path.join(place, name)
        try:
            groups.setdefault(pq.read_schema(part).remove_metadata(), []).append(part)
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(
                f"{part}, rows that wait for their sink, is damaged: bring it back, or remove it and lose its rows"
            ) from error
    return list(groups.values())


def _batch_of(part: str) -> int:
    return int(part[:9])
