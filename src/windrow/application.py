"""A script as a running application: its streams, tables, sinks and queries."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from windrow.current.limits import read_limits
from windrow.errors import QueryError, SettingsError
from windrow.language import (
    ColumnDefinition,
    CreateIndex,
    CreateSink,
    CreateStream,
    CreateTable,
    CreateView,
    DeriveStream,
    Insert,
    Query,
    SplitStream,
    Statement,
    duration_sql,
    expression_sql,
    identifier_sql,
    parse_script,
    span_of,
)
from windrow.language.spelling import closest
from windrow.language.variables import with_variables
from windrow.places.addresses import FILE, local_path, same_place, scheme_of
from windrow.plan.ahead import ahead_text
from windrow.plan.catalog import Unique
from windrow.plan.kafka_options import KAFKA
from windrow.plan.known_options import unknown_option
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.sink import (
    DELTA,
    FORMATS,
    HOLDS_ANSWER,
    HOLDS_CHANGES,
    KEEP_WHAT,
    LAKES,
    OWN_FORMATS,
    Sink,
    check_partitions,
    differing_columns,
    wrong_holding,
    wrong_roll,
)
from windrow.plan.topic_options import MESSAGE, topic_of
from windrow.spark.sources.file_columns import missing_column
from windrow.spark.sources.file_options import FILES, missing_path

Span = tuple[int, int]


class Declaring(Protocol):
    """Where the statements of a script are declared: a `Session`, or a `Draft`, which has no Spark."""

    def open_stream(self, format: str, options: Mapping[str, str], ddl: str | None) -> Any:
        """A stream, to be given to `declare_opened`; without `ddl`, its columns are found in the files."""

    def open_messages(
        self,
        options: Mapping[str, str],
        message: str | None,
        message_options: Mapping[str, str],
        columns: Sequence[ColumnDefinition],
    ) -> Any:
        """A stream of Kafka, to be given to `declare_opened`."""

    def declare_opened(
        self,
        name: str,
        opened: Any,
        time: str | None,
        lateness: str,
        *,
        idle_clock: bool,
        ahead: str | None,
        unique: Unique | None,
    ) -> None:
        """Register a stream that was opened."""

    def open_table(self, name: str, format: str, options: Mapping[str, str], ddl: str | None) -> None:
        """Register rows that do not change."""

    def derive(self, name: str, query: str | Query) -> None:
        """Register a stream whose events are the answers of a query."""

    def view(self, name: str, query: str | Query) -> None:
        """Register a query by a name that others may read."""

    def branch(self, name: str, query: Query) -> None:
        """Register a stream of what a query takes of another one."""

    def register(self, name: str, query: Query) -> AnyQuery:
        """Register a query; returns its plan."""

    def create_index(self, index: CreateIndex) -> Sink:
        """Register an index, and the query that its rows are; returns where they go."""

    def missing_format(self, format: str) -> str | None:
        """What is wrong with the name of a format, if anything."""

    def shown_columns(self, query: AnyQuery) -> pa.Schema:
        """The columns of a query's rows as their reader sees them."""


class Application:
    """Declares all that a script says on a session. The first mistake is raised, and nothing has started by then.

    `sinks` says where each query goes, `rejected` where each stream's bad events go; both are for `Session.start`. A
    query without INSERT INTO goes to the console.
    """

    def __init__(self, session: Declaring, text: str) -> None:
        self.session = session
        self.sinks: dict[str, Sink] = {}
        self.texts: dict[str, str] = {}
        """The queries as they are written."""
        self.rejected: dict[str, Sink] = {}
        self._text = text = with_variables(text)
        self._declared: dict[str, CreateSink] = {}
        self._first: dict[str, tuple[str, pa.Schema]] = {}  # by sink its first query, and the columns of it
        self._streams: list[str] = []
        self._unnamed = 0
        statements = parse_script(text)
        if not any(isinstance(statement, Insert | Query | CreateIndex) for statement in statements):
            raise QueryError("the script has no query", hint="SELECT ..., or INSERT INTO sink SELECT ...")
        self._inserts = Counter(statement.sink for statement in statements if isinstance(statement, Insert))
        for statement in statements:
            self._declare(statement)
        for name, sink in self._declared.items():
            if not sink.rejected and name not in self._first:
                raise self._error(
                    f"nothing is written to sink {name!r}", sink.name_span, f"INSERT INTO {name} SELECT ..."
                )

    def _declare(self, statement: Statement) -> None:
        match statement:
            case CreateStream():
                self._stream(statement)
            case DeriveStream():
                with self._placed(statement.name_span):
                    self.session.derive(statement.name, statement.query)
            case SplitStream():
                for name_span, (name, branch) in zip(statement.name_spans, statement.branches):
                    with self._placed(name_span):
                        self.session.branch(name, branch)
            case CreateView():
                with self._placed(statement.name_span):
                    self.session.view(statement.name, statement.query)
            case CreateTable():
                self._table(statement)
            case CreateIndex():
                if statement.name in self.sinks:
                    raise self._error(f"there is a query {statement.name!r} already", statement.name_span)
                self.sinks[statement.name] = self.session.create_index(statement)
            case CreateSink():
                self._sink(statement)
            case Insert():
                self._insert(statement)
            case Query():
                self._unnamed += 1
                self._query(f"query_{self._unnamed}", statement, Sink("console"))

    def _stream(self, stream: CreateStream) -> None:
        opened = self._opened(stream)
        by = stream.timestamp_by
        time, place = (None, None) if by is None else (expression_sql(by), span_of(by))
        lateness = duration_sql(stream.lateness_us)
        with self._placed(place or stream.name_span):
            ahead = ahead_text(stream.ahead_us)
            apart = tuple(map(expression_sql, stream.unique_by))
            unique = Unique(apart, stream.unique_us) if apart else None
            timing: dict[str, Any] = {"idle_clock": stream.idle_clock, "ahead": ahead, "unique": unique}
            self.session.declare_opened(stream.name, opened, time, lateness, **timing)
        self._streams.append(stream.name)

    def _opened(self, stream: CreateStream) -> Any:
        if stream.format.lower() == KAFKA:
            with self._placed(self._written(stream.message, stream)):
                about = (dict(stream.options), stream.message, dict(stream.message_options))
                return self.session.open_messages(*about, stream.columns)
        self._refuse_messages(stream)
        options = self._options(stream)
        with self._placed(stream.name_span):
            return self.session.open_stream(stream.format, options, _columns(stream))

    def _refuse_messages(self, statement: CreateStream | CreateTable | CreateSink) -> None:
        """Only Kafka has messages: FORMAT and METADATA would say nothing of others."""
        if not isinstance(statement, CreateTable) and statement.message is not None:
            raise self._error(
                f"{statement.format} has no messages that FORMAT could be said of",
                self._written("FORMAT", statement),
                "leave out FORMAT, or USING kafka",
            )
        for column in () if isinstance(statement, CreateSink) else statement.columns:
            if column.metadata is not None:
                raise self._error(
                    f"{statement.format} has no messages that METADATA could be of",
                    (column.start, column.end),
                    "leave out METADATA, or USING kafka",
                )

    def _table(self, table: CreateTable) -> None:
        self._refuse_messages(table)
        options = self._options(table)
        with self._placed(table.name_span):
            self.session.open_table(table.name, table.format, options, _columns(table))

    def _sink(self, sink: CreateSink) -> None:
        if sink.name in self._declared:
            raise self._error(f"two sinks are named {sink.name!r}", sink.name_span, "give one of them another name")
        if sink.format.lower() == KAFKA:
            from windrow.spark.sinks.topic import check_topic  # which loads more than most scripts need

            with self._placed(sink.name_span):
                check_topic(topic_of(dict(_sink(sink).options), rejected=sink.rejected))
        else:
            self._refuse_messages(sink)
            self._check_keys(sink)
            self._check_keeping(sink)
        if sink.format in FORMATS and "path" not in dict(sink.options):
            way_out = "OPTIONS (path 'out/results')"
            raise self._error(f"a sink of {sink.format} files needs a path", sink.name_span, way_out)
        if sink.format == DELTA and "path" not in dict(sink.options):
            raise self._error("a sink of delta needs a path", sink.name_span, "OPTIONS (path 'lake/results')")
        if sink.format not in (*OWN_FORMATS, *LAKES, KAFKA):
            self._check_format(sink)
        self._check_folder(sink)
        unrolled = wrong_roll(Sink(sink.format, sink.options))
        if unrolled is not None:
            raise self._error(unrolled[0], self._written("roll", sink), unrolled[1])
        self._declared[sink.name] = sink
        if sink.rejected:
            if Sink(sink.format, sink.options).holds != HOLDS_CHANGES:
                message = "rejected events have no answer that a sink could hold"
                raise self._error(message, self._written(HOLDS_ANSWER, sink), "leave out holds")
            self._rejected(sink)

    def _check_keeping(self, sink: CreateSink) -> None:
        """What is kept of answers is known, and rejected events have none."""
        wanted = Sink(sink.format, sink.options)
        if wanted.wrong_keep is not None:
            raise self._error(KEEP_WHAT.format(wanted.wrong_keep), self._written("keep", sink), "keep 'answer'")
        if sink.rejected and wanted.keeps_answer:
            message = "rejected events have no answer that could be kept"
            raise self._error(message, self._written("answer", sink), "files of json keep them whole")
        with self._placed(self._written("keep", sink)):
            read_limits(dict(sink.options))

    def _check_folder(self, sink: CreateSink) -> None:
        """A sink of files needs a folder of its own: a reader could not tell its rows from another's."""
        path = dict(sink.options).get("path")
        if sink.format not in FORMATS or path is None:
            return
        place = self._written(path, sink)
        if scheme_of(path) == FILE and os.path.isfile(local_path(path)):
            raise self._error(f"{path!r} is a file, and results go into a folder", place, "name a folder")
        for name, other in self._declared.items():
            if same_place(dict(other.options).get("path", ""), path):
                raise self._error(
                    f"sink {name!r} writes to {path!r} already", place, "give each sink a folder of its own"
                )

    def _rejected(self, sink: CreateSink) -> None:
        for i, stream in enumerate(sink.streams or self._streams):
            if stream not in self._streams:
                known = f"known streams: {', '.join(self._streams) or 'none'}"
                raise self._error(f"unknown stream {stream!r}", sink.stream_spans[i], known)
            self.rejected[stream] = _sink(sink)

    def _insert(self, insert: Insert) -> None:
        known = {name: sink for name, sink in self._declared.items() if not sink.rejected}
        if insert.sink not in known:
            listed = f"known sinks: {', '.join(known)}" if known else f"CREATE SINK {insert.sink} USING ..."
            raise self._error(f"unknown sink {insert.sink!r}", insert.sink_span, listed)
        declared, name = known[insert.sink], insert.name or insert.sink
        sink = _sink(declared)
        first = self._first.get(insert.sink)
        if first is not None:
            if insert.name is None:
                message = f"sink {insert.sink!r} has a query already: the others need names of their own"
                raise self._error(message, insert.sink_span, f"INSERT INTO {insert.sink} AS name SELECT ...")
            if sink.holds == HOLDS_ANSWER or sink.format not in FORMATS:
                message = f"sink {insert.sink!r} takes one query: only files that hold all rows are shared"
                raise self._error(message, insert.sink_span, "give each query a sink of its own")
        if name in self.sinks:
            raise self._error(f"there is a query {name!r} already", insert.name_span, "give it another name")
        plan = self._query(name, insert.query, sink, declared)
        if not sink.partition_by and self._inserts[insert.sink] == 1:
            self._first[insert.sink] = (name, pa.schema([]))
            return
        columns = self.session.shown_columns(plan)
        if first is not None:
            differ = differing_columns(columns, first[1])
            if differ is not None:
                message = f"the rows of {name!r} cannot be in one file with those of {first[0]!r}: {differ}"
                raise self._error(message, insert.query.span, "the same columns and types, or another sink")
        self._first.setdefault(insert.sink, (name, columns))
        with self._placed(self._written("partitionBy", declared)):
            check_partitions(sink, columns.names)

    def _query(self, name: str, query: Query, sink: Sink, declared: CreateSink | None = None) -> AnyQuery:
        plan = self.session.register(name, query)
        wrong = wrong_holding(sink, plan.emit)
        if wrong is not None and declared is not None:
            raise self._error(wrong[0], self._written(sink.holds, declared), wrong[1])
        self.sinks[name] = sink
        self.texts[name] = self._text[slice(*query.span)]
        return plan

    def _options(self, source: CreateStream | CreateTable) -> dict[str, str]:
        """The options of a source, whose path must be there."""
        self._check_format(source)
        self._check_keys(source)
        options = dict(source.options)
        wrong = missing_path(source.format, options)
        if wrong is not None:
            raise self._error(
                wrong, self._written(options.get("path"), source), "a path to files, or to a folder, that exists"
            )
        places = {column.name: (column.start, column.end) for column in source.columns}
        lacks = missing_column(source.format, options, list(places))
        if lacks is not None:
            name, message, way_out = lacks
            raise self._error(message, places[name], way_out)
        return options

    def _check_keys(self, statement: CreateStream | CreateTable | CreateSink) -> None:
        """Spark passes over an option that a format has not: a misspelt one would do nothing."""
        keys = [key for key, _ in statement.options]
        wrong = unknown_option(statement.format, keys, sink=isinstance(statement, CreateSink))
        if wrong is not None:
            key, message, way_out = wrong
            raise self._error(message, self._written(key, statement), way_out)

    def _check_format(self, statement: CreateStream | CreateTable | CreateSink) -> None:
        wrong = self.session.missing_format(statement.format)
        if wrong is not None:
            meant = closest(statement.format, [name.upper() for name in (*FILES, *OWN_FORMATS)])
            way_out = (
                f"did you mean {meant.lower()}?" if meant else "start Spark with its package (spark.jars.packages)"
            )
            raise self._error(wrong, self._written(statement.format, statement), way_out)

    def _written(self, word: str | None, statement: CreateStream | CreateTable | CreateSink) -> Span:
        """Where a word of a statement stands behind its name, or else the name."""
        begin, end = statement.name_span[1], statement.span[1]
        place = -1 if word is None else self._text.find(word, begin, end)
        return statement.name_span if word is None or place < 0 else (place, place + len(word))

    @contextmanager
    def _placed(self, span: Span) -> Iterator[None]:
        """Gives an error that knows no place the place in the script that caused it."""
        try:
            yield
        except SettingsError as error:
            message, _, way_out = str(error).partition("\nhint: ")
            raise self._error(message, span, way_out or None) from None

    def _error(self, message: str, span: Span, hint: str | None = None) -> QueryError:
        return QueryError(message, text=self._text, at=span[0], end=span[1], hint=hint)


def _sink(declared: CreateSink) -> Sink:
    """Where rows go; what its messages are is one more option."""
    message = () if declared.message is None else ((MESSAGE, declared.message),)
    return Sink(declared.format, (*declared.options, *message, *declared.message_options))


def _columns(source: CreateStream | CreateTable) -> str | None:
    """The columns as they are written, or None to find them in the files."""
    if not source.columns:
        return None
    return ", ".join(f"{identifier_sql(column.name)} {column.type_sql}" for column in source.columns)
