"""A stream that begins with its history: which of its two sources is read now, and how many files are left.

One Spark query reads both, one after the other, on one checkpoint. Spark knows sources by their number and their order,
so each has its place from the first batch on; in the place of the one that is not read stands a source of files over a
folder that has none. While the history is read the stream gives nothing, so the clock is that of the history, and no
event of the stream waits in state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.errors import SettingsError
from windrow.places.place import Place
from windrow.plan.history import History
from windrow.plan.instants import AFTER_ALL, BEFORE_ALL
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.reject import Bounds
from windrow.spark.local_files import wait_for_names
from windrow.spark.sources.file_options import bounded
from windrow.spark.sources.named_files import name_files
from windrow.spark.sources.read import read_stream
from windrow.spark.sources.source import Opened, Source

_ANY_AGE = "36500d"
"""Spark passes over files that are older than others that it has read, by a week: of a history none may be."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Which sources are read: those of histories, or the streams themselves. `empty` is a folder without files."""

    history: bool
    empty: str


def read_history(spark: SparkSession, history: History, live: StructType, needed: Sequence[str]) -> Opened:
    """The files of a history as a stream with the columns of the live one.

    Those that are not `needed`, since messages have them beside what is in them, are NULL where files lack them.
    """
    wait_for_names()
    fields = [each for each in live.fields if each.name in needed or history.format != "csv"]
    options = bounded(history.format, {"maxFileAge": _ANY_AGE, **dict(history.options)})
    frame, corrupt = read_stream(spark, history.format, options, StructType(fields).toDDL())
    missing = {each.name: F.lit(None).cast(each.dataType) for each in live.fields if each not in fields}
    files = name_files(spark, history.format, options, frame)
    return Opened(frame.withColumns(missing) if missing else frame, corrupt, files)


def read_now(source: Source, turn: Turn | None) -> Iterator[tuple[Source | None, Bounds | None]]:
    """The sources of a stream in their order, None for one whose turn it is not, and what each gives the events of."""
    if source.history is None:
        yield (None if turn is not None and turn.history else source), None
        return
    if turn is None:
        raise SettingsError(
            "a stream with a history is read by a job, which knows when the history ends"
            "\nhint: session.query(name, text) and session.start(), or windrow run"
        )
    yield (source.history if turn.history else None), (BEFORE_ALL, source.until_us)
    yield (None if turn.history else source), (source.until_us, AFTER_ALL)


def turned(sources: Mapping[str, Source], turn: Turn | None) -> dict[str, Source]:
    """What is read now of each stream; a stream without a history is told as it is."""
    past = turn is not None and turn.history
    return {
        name: replace(source.history, history=None) if past and source.history is not None else source
        for name, source in sources.items()
    }


def nothing(spark: SparkSession, turn: Turn) -> DataFrame:
    """Words that never come, from a source that has been, or may be, another one.

    Spark asks such a source for the last batch once more, and refuses files that are not below the folder that it
    reads, unless that is a pattern.
    """
    return spark.readStream.schema("value STRING").text(f"{turn.empty}/*.none")


class FilesLeft:
    """How many files of histories a Spark query has yet to read, by the notes of its sources."""

    def __init__(self, spark: SparkSession, plan: StagePlan, sources: Mapping[str, Source], folder: Place) -> None:
        self._logs: list[Place] = []
        self._past: list[History] = []
        self._spark, self._counted = spark, dict[str, int]()
        number = 0
        for stream in plan.stages[0].read:
            source = sources[stream.stream]
            if source.history is not None:
                assert source.after is not None
                self._logs.append(folder / "spark" / "sources" / str(number))
                self._past.append(source.after)
            number += 1 if source.history is None else 2
        self.files = self.listed()

    def listed(self) -> int:
        """How many files there are now."""
        found = 0
        for each in self._past:
            reader = self._spark.read.format("binaryFile").options(**_of_names(each))
            found += len(reader.load().inputFiles())
        return found

    def noted(self) -> int:
        """How many of them batches have been made of."""
        return sum(map(self._in, self._logs))

    def _in(self, log: Place) -> int:
        """Every tenth note has all that was noted before it, and is called so."""
        names = {name: int(name.removesuffix(".compact")) for name in log.names() if name[:1].isdigit()}
        whole = max((number for name, number in names.items() if name.endswith(".compact")), default=-1)
        return sum(
            self._lines(log / name)
            for name, number in names.items()
            if number > whole or (number == whole and name.endswith(".compact"))
        )

    def _lines(self, note: Place) -> int:
        if note.path not in self._counted:
            self._counted[note.path] = len(note.read().splitlines()) - 1  # the first line has the version
        return self._counted[note.path]


def _of_names(history: History) -> dict[str, str]:
    """Those options of a history that say which files it has."""
    named = ("path", "pathglobfilter", "recursivefilelookup", "basepath")
    return {name: value for name, value in history.options if name.lower() in named}
