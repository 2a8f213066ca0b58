"""Files that gather the batches of a while: their rows wait in the checkpoint, and are shown together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import StateError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.sink import Sink
from windrow.spark.job.checkpoint import read_back, write_whole
from windrow.spark.sinks.file_format import FileFormat
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.staged_files import StagedFile, StagedFiles

ROLLING = "rolling"
"""The folder of a stream, in the checkpoint, that has one for each sink whose files roll."""

_STAGED, SINK, _NOTE = "staged", "sink.json", "rolling.json"
_PART = FileFormat("parquet", "snappy")


class RollingSink(FileSink):
    """A sink of files that shows the rows of a while at once, in one file for each kind of rows and each folder.

    A batch's rows wait as parts in `home`, a folder of the checkpoint, below the while that its instant lies in. The
    instant is Spark's, and the same when the batch runs again. The first batch of another while shows what waits:

        a note: which while rolls, from which batch to which  ->  the file, under a name of both
          ->  the note says that it is shown  ->  the parts are deleted  ->  the note is deleted

    The note is written whole each time, on every kind of place, so whoever is killed between two steps goes on at the
    same one: the file is written again from the same parts, under the same name. Only batches that Spark has committed
    roll, but for one: a batch that says that the input has ended is shown at once, in a file of its own, which it
    replaces if it runs again.
    """

    def __init__(
        self, sink: Sink, prefix: str, spark: SparkSession, home: AnyPlace, place: Place | None = None
    ) -> None:
        super().__init__(sink, prefix, spark, place)
        self._home = place_of(home).absolute()
        self._while = ""
        self._flushed = False

    def keep_home(self) -> None:
        """Make the folder in the checkpoint, which says whose it is: a later run may not know this sink."""
        for folder in (self._home.parent, self._home, self._home / _STAGED):
            folder.make_folder()
        write_whole(self._home / SINK, self._own_note())

    def _own_note(self) -> list[Any]:
        """What makes this sink again when only its folder in the checkpoint is left."""
        return [self._sink.format, list(self._sink.options)]

    def by_tasks(self, schema: pa.Schema) -> StagedFiles:
        self.form(schema)  # refuses folders by what is no column
        return StagedFiles(self._home / _STAGED, self.prefix, self._run, _PART)

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
        place = self._home / self._while
        place.make_folder()
        for number, file in enumerate(sorted(staged)):
            Place(self._home.home, file.path).move(place / f"{batch:09d}-{number:05d}.parquet")
        for attempt in (self._home / _STAGED).entries():  # attempts that nobody asked for
            attempt.delete()
        if self._flushed:
            self._roll(self._while)

    def roll_all(self, committed: int) -> None:
        """Show all that waits of batches up to `committed`: the job has stopped."""
        if self._home.is_folder():
            self._recover(committed)
            for name in self._whiles():
                self._roll(name)

    def _recover(self, committed: int) -> None:
        """Go on where a run before was killed, and drop parts of a batch that Spark will run again."""
        if (self._home / _NOTE).is_file():
            self._finish(read_back(self._home / _NOTE, _as_note))
        for name in self._home.names():
            if name.startswith("roll-"):  # an earlier version renamed folders instead of writing notes
                first, last = (int(number) for number in name.split("-")[1:3])
                self._finish(Note(name, first, last))
            elif name.startswith("done-"):
                (self._home / name).delete_folder()
        for name in self._whiles():
            self._drop(name, lambda batch: batch > committed)

    def _drop(self, name: str, unwanted: Callable[[int], bool]) -> None:
        """Drop the parts of a while that are of unwanted batches."""
        for part in (self._home / name).entries():
            if unwanted(_batch_of(part.name)):
                part.delete()

    def _whiles(self) -> list[str]:
        return sorted((name for name in self._home.names() if re.fullmatch(r"-?\d+", name)), key=int)

    def _roll(self, name: str) -> None:
        place = self._home / name
        batches = [_batch_of(part) for part in place.names()]
        if batches:
            self._finish(Note(name, min(batches), max(batches)))
        else:
            place.delete_folder()

    def _finish(self, note: Note) -> None:
        """Carry out what a note says, from the beginning or from where it was shown."""
        place = self._home / note.folder
        if not note.shown:
            write_whole(self._home / _NOTE, note)
            staged = [file for parts in _by_columns(place) for file in self._stage_parts(parts, note.last)]
            self._show_rolled(staged, note)
            self._tidy(note.last)
            write_whole(self._home / _NOTE, note._replace(shown=True))
        place.delete_folder()
        (self._home / _NOTE).delete()

    def _show_rolled(self, staged: Sequence[StagedFile], note: Note) -> None:
        self._move(staged, f"{self.prefix}-{note.first:09d}-{note.last:09d}")

    def _stage_parts(self, parts: list[Place], last: int) -> list[StagedFile]:
        """The rows of some parts, as files of the sink that wait beside it."""
        rows = pa.concat_tables([pq.read_table(pa.BufferReader(part.read())) for part in parts])
        form = self.form(rows.schema)
        if isinstance(form, str):
            frame = self._spark.read.parquet(*(part.for_spark for part in parts))
            return super().stage_by_spark(frame.coalesce(1), last)
        return self._staged(form).put(rows, last, "rolled-" + parts[0].name[:15])


class Note(NamedTuple):
    """What rolls: the folder of a while, and its first and last batch; and whether the file is shown already."""

    folder: str
    first: int
    last: int
    shown: bool = False


def _as_note(content: Any) -> Note:
    folder, first, last, shown = content
    if not isinstance(folder, str) or type(first) is not int or type(last) is not int:
        raise ValueError("the note says nothing")
    return Note(folder, first, last, bool(shown))


def _by_columns(place: Place) -> list[list[Place]]:
    """The parts in a folder in their order, those of the same columns together."""
    groups: dict[pa.Schema, list[Place]] = {}
    for part in sorted(place.entries(), key=lambda part: part.name):
        try:
            with part.open() as file:
                groups.setdefault(pq.read_schema(file).remove_metadata(), []).append(part)
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(
                f"{part}, rows that wait for their sink, is damaged: bring it back, or remove it and lose its rows"
            ) from error
    return list(groups.values())


def _batch_of(part: str) -> int:
    return int(part[:9])
