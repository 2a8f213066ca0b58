"""Where results go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from windrow.errors import QueryError, SettingsError
from windrow.language import parse_duration
from windrow.places.addresses import plain_place
from windrow.plan.kafka_options import KAFKA
from windrow.plan.known_options import unknown_option
from windrow.plan.nodes.emission import CHANGES, CORRECTED, SNAPSHOT

DELTA, ICEBERG = LAKES = ("delta", "iceberg")
"""Tables of lakes, whose files Windrow itself writes and commits."""

FORMATS = ("parquet", "csv", "json")
"""The files that Windrow itself writes, exactly once."""

MEMORY, NOOP, CONSOLE, JDBC = "memory", "noop", "console", "jdbc"
ANSWERS = "answers"
"""A sink that is nowhere but in the answers that a job keeps."""

OWN_FORMATS = (*FORMATS, CONSOLE, MEMORY, ANSWERS)
"""Sinks that are not left to Spark."""

INDEX = "index"
"""The sink of an index, which the job publishes by itself; nobody declares it."""

HOLDS_CHANGES, HOLDS_ANSWER = "changes", "answer"
SPARKS_FORMAT, SHOWN = "its format is Spark's own", "Spark orders and prints the newest rows"
ANSWER_TABLE, ANSWER_FILES = "it is a table of a database", "the whole answer is written anew"
"""Why rows go to some sinks through Spark, whatever they are."""

_HOLDS, _KEY, _PARTITION_BY, ROLL, _KEEP, EXPIRE = "holds", "key", "partitionby", "roll", "keep", "expire"
_OF_KEEPING = {_KEEP, "keeprows", "keepmb", "keepbatches"}

EXPIRES = "7 days"
"""So long a table that holds an answer keeps the answers before, unless its sink says otherwise."""

KEEP_WHAT = "a job keeps the 'answer' of a query, not {!r}"


@dataclass(frozen=True, slots=True)
class Sink:
    """A Spark format with its options."""

    format: str
    options: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str | None:
        return dict(self.options).get("path")

    @property
    def shown(self) -> str:
        """The format and the place, as a reader names them."""
        return " ".join(filter(None, (self.format, self.place)))

    @property
    def place(self) -> str | None:
        """The folder or the table that is written to."""
        options = dict(self.options)
        topic = f"{options.get('topic')} at {options.get('bootstrap')}" if self.format == KAFKA else None
        table = options.get("table") if self.format == ICEBERG else None
        return (self.path or "").rstrip("/") or options.get("dbtable") or topic or table

    @property
    def holds(self) -> str:
        """What is in the sink: all rows that were sent, or the answer that they add up to."""
        return next((value.lower() for name, value in self.options if name.lower() == _HOLDS), HOLDS_CHANGES)

    @property
    def spark_options(self) -> dict[str, str]:
        """The options that are Spark's."""
        own = {_HOLDS, _KEY} if self.holds == HOLDS_ANSWER else {_HOLDS}
        own |= _OF_KEEPING
        own |= {_PARTITION_BY, ROLL} if self.format in (*FORMATS, *LAKES) else set()
        own |= {EXPIRE} if self.format in LAKES else set()
        return {name: value for name, value in self.options if name.lower() not in own}

    @property
    def keeps_answer(self) -> bool:
        """Whether the job keeps the current answer, to be asked for it."""
        return self.format == ANSWERS or self._keep == HOLDS_ANSWER

    @property
    def _keep(self) -> str | None:
        return next((value.lower() for name, value in self.options if name.lower() == _KEEP), None)

    @property
    def wrong_keep(self) -> str | None:
        """What the option `keep` says that it cannot mean."""
        return None if self._keep in (None, HOLDS_ANSWER) else self._keep

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell the rows of an answer in a table apart."""
        return self._names(_KEY)

    @property
    def roll(self) -> str | None:
        """How much time a file gathers, as it is written."""
        return self._option(ROLL)

    @property
    def roll_us(self) -> int | None:
        """How much time a file gathers; None where each batch has files of its own."""
        return None if self.roll is None or self.format not in (*FORMATS, *LAKES) else parse_duration(self.roll)

    @property
    def expire(self) -> str | None:
        """How long a table of a lake keeps what it was before, as it is written.

        An answer replaces itself with each batch, so its table forgets by itself; what is only added to does not.
        """
        return self._option(EXPIRE) or (EXPIRES if self.holds == HOLDS_ANSWER else None)

    @property
    def partition_by(self) -> tuple[str, ...]:
        """The columns by whose values the files are in folders."""
        return self._names(_PARTITION_BY)

    def _option(self, option: str) -> str | None:
        return next((value for name, value in self.options if name.lower() == option), None)

    def _names(self, option: str) -> tuple[str, ...]:
        """The names that an option lists."""
        written = self._option(option) or ""
        return tuple(name.strip() for name in written.split(",") if name.strip())


def sink(format: str, **options: object) -> Sink:
    """Where a query's results go: a Spark format and its options.

    With `holds="answer"`, a sink of files, or a table, which may have a `key`, holds the current answer of a query that
    emits changes.

    >>> sink("parquet", path="out/vwap").path
    'out/vwap'
    >>> sink("parquet", path="out/vwap", holds="answer").holds
    'answer'
    """
    return Sink(format, tuple((name, _text(value)) for name, value in options.items()))


def wrong_holding(sink: Sink, emit: str) -> tuple[str, str] | None:
    """Why a sink cannot hold what a query that emits `emit` makes, and the way out; None if it can.

    >>> wrong_holding(Sink("parquet", (("holds", "answer"),)), "INSERTS")[1]
    'EMIT CHANGES'
    """
    if sink.holds == HOLDS_CHANGES:
        keyed = sink.format in LAKES and sink.key
        return ("a table is told a key where it holds an answer", "holds 'answer', or no key") if keyed else None
    if sink.holds != HOLDS_ANSWER:
        return f"a sink holds 'changes' or 'answer', not {sink.holds!r}", "holds 'answer', or nothing of it"
    if sink.format not in (*FORMATS, *LAKES, JDBC, KAFKA):
        message = f"a sink of {sink.format} cannot hold the answer, which replaces the one before"
        return message, f"{', '.join((*FORMATS, *LAKES))}, {JDBC} and {KAFKA} can"
    if sink.format in (JDBC, KAFKA) and not sink.key:
        what = "table" if sink.format == JDBC else "topic"
        return f"a {what} that holds the answer needs the columns that tell its rows apart", "key 'column, ...'"
    if emit == CORRECTED:
        what = "a sink that holds the answer would hold all windows there were, since each may be corrected"
        return what, "leave holds out: rows have `op` and the end of their window"
    if emit == SNAPSHOT:
        return "a sink that holds the answer needs changes, and this query sends whole windows", "EMIT CHANGES"
    if emit != CHANGES:
        return f"a sink that holds the answer needs all changes, and this query sends {emit} only", "EMIT CHANGES"
    return None


def wrong_roll(sink: Sink) -> tuple[str, str] | None:
    """Why files of a sink cannot roll as it says, and the way out; None if they can.

    >>> wrong_roll(Sink("csv", (("roll", "0 seconds"),)))
    ("roll '0 seconds' gathers nothing: it must be longer", "roll '1 minute'")
    """
    if sink.roll is None:
        return None
    rolling = (*FORMATS, *LAKES)
    if sink.format not in rolling or sink.holds != HOLDS_CHANGES:
        what = sink.format if sink.format not in rolling else "a sink that holds the answer"
        return f"{what} has no files that roll", f"roll is for {', '.join(rolling)} that hold all rows"
    try:
        length = parse_duration(sink.roll)
    except QueryError as error:
        return f"roll {sink.roll!r} cannot be read: {error.message}", error.hint or "roll '1 minute'"
    return None if length > 0 else (f"roll {sink.roll!r} gathers nothing: it must be longer", "roll '1 minute'")


def wrong_expiry(sink: Sink) -> tuple[str, str] | None:
    """Why what a table was before cannot expire as its sink says, and the way out; None if it can.

    >>> wrong_expiry(Sink("csv", (("expire", "7 days"),)))
    ('csv has no old versions that expire', 'expire is for delta, iceberg')
    """
    written = sink._option(EXPIRE)
    if written is None:
        return None
    if sink.format not in LAKES:
        return f"{sink.format} has no old versions that expire", f"expire is for {', '.join(LAKES)}"
    try:
        length = parse_duration(written)
    except QueryError as error:
        return f"expire {written!r} cannot be read: {error.message}", error.hint or f"expire '{EXPIRES}'"
    return None if length >= 0 else (f"expire {written!r} is before now", f"expire '{EXPIRES}'")


def differing_columns(columns: pa.Schema, others: pa.Schema) -> str | None:
    """Which columns of two kinds of rows differ, by place, name and type; None if none does.

    >>> differing_columns(pa.schema({"k": pa.string()}), pa.schema({"k": pa.int32()}))
    'column 1 is k string here, and k int32 there'
    """
    for number in range(max(len(columns), len(others))):
        here, there = (
            f"{part.field(number).name} {part.field(number).type}" if number < len(part) else "missing"
            for part in (columns, others)
        )
        if here != there:
            return f"column {number + 1} is {here} here, and {there} there"
    return None


def written_by_spark(sink: Sink) -> str | None:
    """Why rows go to a sink through Spark, whatever they are; None where it depends on them."""
    if sink.format == KAFKA or (sink.format in LAKES and (sink.key or sink.holds != HOLDS_ANSWER)):
        return None
    if sink.holds == HOLDS_ANSWER:
        return ANSWER_TABLE if sink.format == JDBC else ANSWER_FILES
    if sink.format == CONSOLE:
        return SHOWN
    return None if sink.format in (*FORMATS, INDEX, MEMORY, NOOP, ANSWERS) else SPARKS_FORMAT


def check_options(sinks: Mapping[str, Sink]) -> None:
    """Refuse an option that a sink's format has not: a misspelt one would do nothing."""
    for name, one in sinks.items():
        wrong = unknown_option(one.format, [key for key, _ in one.options], sink=True)
        if wrong is not None:
            raise SettingsError(f"sink {name!r}: {wrong[1]}\nhint: {wrong[2]}")
        if one.wrong_keep is not None:
            raise SettingsError(f"sink {name!r}: {KEEP_WHAT.format(one.wrong_keep)}\nhint: keep 'answer'")
        for refused in (wrong_roll(one), wrong_expiry(one)):
            if refused is not None:
                raise SettingsError(f"sink {name!r}: {refused[0]}\nhint: {refused[1]}")


def check_partitions(sink: Sink, columns: Iterable[str]) -> None:
    """Refuse folders that are named by a column which rows have not, or rows of which nothing would be left."""
    known = list(columns)
    for name in sink.partition_by:
        if name not in known:
            raise SettingsError(f"partitionBy names {name!r}, which is no column\nhint: columns: {', '.join(known)}")
    if len(set(sink.partition_by)) == len(known):
        raise SettingsError("partitionBy names all columns, and files would have none\nhint: leave one out")


def check_key(sink: Sink, columns: Iterable[str]) -> None:
    """Refuse a key of an answer that its rows have not."""
    known = list(columns)
    unknown = [name for name in sink.key if name not in known]
    if unknown and sink.holds == HOLDS_ANSWER:
        raise SettingsError(f"key {unknown[0]!r} is no column of the query\nhint: its columns: {', '.join(known)}")


def check_places(sinks: Mapping[str, Sink]) -> None:
    """Refuse an answer in a folder, or table, that another query writes to: a reader would take both for the answer."""
    writers: dict[tuple[str, str], list[str]] = {}
    for name, sink in sinks.items():
        if sink.place is not None:
            writers.setdefault(plain_place(sink.place), []).append(name)
    for names in writers.values():
        holding = next((name for name in names if sinks[name].holds == HOLDS_ANSWER), None)
        if holding is not None and len(names) > 1:
            other = names[1] if names[0] == holding else names[0]
            raise SettingsError(
                f"sink {holding!r} holds an answer, and {other!r} writes to {sinks[other].place!r} too"
                "\nhint: give each sink a place of its own"
            )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
