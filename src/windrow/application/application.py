"""A script as a running application: its streams, tables, sinks and queries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from windrow.application.check_options import absent, history_of, refuse_messages, source_options
from windrow.application.check_sinks import Places, check_sink, sink_of
from windrow.application.declaring import Declaring
from windrow.application.script_text import ScriptText
from windrow.compile.spell_names import declared_as
from windrow.draft import NeedsSpark
from windrow.errors import QueryError
from windrow.language import (
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
    expression_sql,
    identifier_sql,
    parse_script,
    span_of,
)
from windrow.language.variables import with_variables
from windrow.plan.catalog import Unique
from windrow.plan.history import History, starting_before
from windrow.plan.idle_clock import IdleClock
from windrow.plan.kafka_options import KAFKA
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.refresh import Refresh
from windrow.plan.sink import (
    FORMATS,
    HOLDS_ANSWER,
    Sink,
    check_key,
    check_partitions,
    differing_columns,
    wrong_holding,
)
from windrow.plan.timed_by import TimedBy


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
        text = with_variables(text)
        self._script = ScriptText(text)
        self._declared: dict[str, CreateSink] = {}
        self._places: Places = {}
        self._first: dict[str, tuple[str, pa.Schema]] = {}  # by sink its first query, and the columns of it
        self._streams: list[str] = []
        self._unnamed = 0
        statements = parse_script(text)
        if not any(isinstance(statement, Insert | Query | CreateIndex) for statement in statements):
            raise QueryError("the script has no query", hint="SELECT ..., or INSERT INTO sink SELECT ...")
        self._inserts = Counter(statement.sink.lower() for statement in statements if isinstance(statement, Insert))
        self._absent: list[QueryError] = []
        """Paths with nothing at them: told when all else is right, where no file has to be read for that."""
        try:
            for statement in statements:
                self._declare(statement)
            self.session.check_views()
        except NeedsSpark:
            self._tell_absent()
            raise
        for name, sink in self._declared.items():
            if not sink.rejected and name not in self._first:
                raise self._script.error(
                    f"nothing is written to sink {name!r}", sink.name_span, f"INSERT INTO {name} SELECT ..."
                )
        self._tell_absent()

    def _tell_absent(self) -> None:
        if self._absent:
            raise self._absent[0]

    def _there(self, source: CreateStream | CreateTable) -> None:
        """There are files of a source, or it is told later that there are none."""
        error = absent(self._script, source)
        if error is not None:
            self._absent.append(error)
            if self.session.reads_files or not source.columns:
                self._tell_absent()

    def _declare(self, statement: Statement) -> None:
        match statement:
            case CreateStream():
                self._stream(statement)
            case DeriveStream():
                with self._script.placed(statement.name_span):
                    self.session.derive(statement.name, statement.query)
            case SplitStream():
                for name_span, (name, branch) in zip(statement.name_spans, statement.branches):
                    with self._script.placed(name_span):
                        self.session.branch(name, branch)
            case CreateView():
                with self._script.placed(statement.name_span):
                    self.session.view(statement.name, statement.query)
            case CreateTable():
                self._table(statement)
            case CreateIndex():
                if statement.name in self.sinks:
                    raise self._script.error(f"there is a query {statement.name!r} already", statement.name_span)
                self.sinks[statement.name] = self.session.create_index(statement)
            case CreateSink():
                check_sink(self._script, self.session, statement, self._declared, self._places)
                self._declared[statement.name] = statement
                if statement.rejected:
                    self._rejected(statement)
            case Insert():
                self._insert(statement)
            case Query():
                self._unnamed += 1
                self._query(f"query_{self._unnamed}", statement, Sink("console"))

    def _stream(self, stream: CreateStream) -> None:
        after = history_of(self._script, self.session, stream)
        opened = self._opened(stream, after)
        by = stream.timestamp_by
        time, place = (None, None) if by is None else (expression_sql(by), span_of(by))
        apart = tuple(map(expression_sql, stream.unique_by))
        unique = Unique(apart, stream.unique_us) if apart else None
        said = (stream.lateness_us, stream.idle_clock, stream.ahead_us, unique, stream.correct_us, stream.shed_us)
        clock = IdleClock(stream.alpha, stream.beat_us)
        beside = [column.name for column in stream.columns if column.metadata is not None]
        with self._script.placed(place or stream.name_span):
            self.session.declare_opened(stream.name, opened, TimedBy(time, *said, clock), after, beside)
        self._streams.append(stream.name)

    def _opened(self, stream: CreateStream, after: History | None) -> Any:
        if stream.format.lower() == KAFKA:
            with self._script.placed(self._script.written(stream.message, stream), stream):
                options = starting_before(dict(stream.options), after, stream.lateness_us)
                about = (options, stream.message, dict(stream.message_options))
                return self.session.open_messages(*about, stream.columns)
        refuse_messages(self._script, stream)
        options = source_options(self._script, self.session, stream)
        self._there(stream)
        with self._script.placed(stream.name_span):
            return self.session.open_stream(stream.format, options, _columns(stream))

    def _table(self, table: CreateTable) -> None:
        refuse_messages(self._script, table)
        options = source_options(self._script, self.session, table)
        self._there(table)
        refresh = None if table.refresh_us is None else Refresh(table.refresh_us, table.read_at)
        with self._script.placed(table.name_span):
            self.session.open_table(table.name, table.format, options, _columns(table), refresh)

    def _rejected(self, sink: CreateSink) -> None:
        for i, written in enumerate(sink.streams or self._streams):
            stream = declared_as(written, self._streams) or written
            if stream not in self._streams:
                known = f"known streams: {', '.join(self._streams) or 'none'}"
                raise self._script.error(f"unknown stream {stream!r}", sink.stream_spans[i], known)
            self.rejected[stream] = sink_of(sink)

    def _insert(self, insert: Insert) -> None:
        insert = replace(insert, sink=declared_as(insert.sink, self._declared) or insert.sink)
        declared, name = self._declared.get(insert.sink), insert.name or insert.sink
        if declared is None or declared.rejected:
            known = [name for name, sink in self._declared.items() if not sink.rejected]
            meant = get_close_matches(insert.sink, known, n=1)
            listed = f"known sinks: {', '.join(known)}" if known else f"CREATE SINK {insert.sink} USING ..."
            way_out = f"did you mean {meant[0]}?" if meant else listed
            raise self._script.error(f"unknown sink {insert.sink!r}", insert.sink_span, way_out)
        sink = sink_of(declared)
        first = self._first.get(insert.sink)
        if first is not None:
            if insert.name is None:
                message = f"sink {insert.sink!r} has a query already: the others need names of their own"
                raise self._script.error(message, insert.sink_span, f"INSERT INTO {insert.sink} AS name SELECT ...")
            if sink.holds == HOLDS_ANSWER or sink.format not in FORMATS:
                message = f"sink {insert.sink!r} takes one query: only files that hold all rows are shared"
                raise self._script.error(message, insert.sink_span, "give each query a sink of its own")
        if name in self.sinks:
            raise self._script.error(f"there is a query {name!r} already", insert.name_span, "give it another name")
        plan = self._query(name, insert.query, sink, declared)
        if not sink.partition_by and self._inserts[insert.sink.lower()] == 1:
            self._first[insert.sink] = (name, pa.schema([]))
            return
        columns = self.session.shown_columns(plan)
        if first is not None:
            differ = differing_columns(columns, first[1])
            if differ is not None:
                message = f"the rows of {name!r} cannot be in one file with those of {first[0]!r}: {differ}"
                raise self._script.error(message, insert.query.span, "the same columns and types, or another sink")
        self._first.setdefault(insert.sink, (name, columns))
        with self._script.placed(self._script.written("partitionBy", declared)):
            check_partitions(sink, columns.names)

    def _query(self, name: str, query: Query, sink: Sink, declared: CreateSink | None = None) -> AnyQuery:
        plan = self.session.register(name, query)
        wrong = wrong_holding(sink, plan.emit)
        if wrong is not None and declared is not None:
            raise self._script.error(wrong[0], self._script.written(sink.holds, declared), wrong[1])
        if declared is not None:
            with self._script.placed(self._script.written("key", declared)):
                check_key(sink, plan.shown)
        self.sinks[name] = sink
        self.texts[name] = self._script.text[slice(*query.span)]
        return plan


def _columns(source: CreateStream | CreateTable) -> str | None:
    """The columns as they are written, or None to find them in the files."""
    if not source.columns:
        return None
    return ", ".join(f"{identifier_sql(column.name)} {column.type_sql}" for column in source.columns)
