"""A script as a running application: its streams, tables, sinks and queries."""

from __future__ import annotations

from windrow.errors import NotSupportedYet, QueryError, SettingsError, WindrowError
from windrow.language import (
    CreateSink,
    CreateStream,
    CreateTable,
    Insert,
    Query,
    Statement,
    duration_sql,
    expression_sql,
    identifier_sql,
    parse_script,
)
from windrow.plan.sink import Sink
from windrow.session import Session
from windrow.spark.files import FORMATS
from windrow.spark.sources import missing_path, read_stream, read_table

Span = tuple[int, int]


class Application:
    """Declares all that a script says on a session. The first mistake is raised, and nothing has started by then."""

    def __init__(self, session: Session, text: str) -> None:
        self.session = session
        self.sinks: dict[str, Sink] = {}
        self.rejected: dict[str, Sink] = {}
        self._text = text
        self._declared: dict[str, CreateSink] = {}
        self._streams: list[str] = []
        self._answered = 0
        statements = parse_script(text)
        if not any(isinstance(statement, Insert | Query) for statement in statements):
            raise QueryError("the script has no query", hint="SELECT ..., or INSERT INTO sink SELECT ...")
        for statement in statements:
            self._declare(statement)
        self._check_all_used()

    def _declare(self, statement: Statement) -> None:
        match statement:
            case CreateStream():
                self._stream(statement)
            case CreateTable():
                self._table(statement)
            case CreateSink():
                self._sink(statement)
            case Insert():
                self._insert(statement)
            case Query():
                self._answered += 1
                self._query(f"query_{self._answered}", statement, Sink("console"))

    def _stream(self, stream: CreateStream) -> None:
        if stream.timestamp_by is None:
            raise NotSupportedYet(
                "a stream timed by arrival is not supported yet",
                text=self._text,
                **_at(stream.name_span),
                hint="TIMESTAMP BY column",
            )
        if stream.idle_clock:
            raise NotSupportedYet("IDLE CLOCK is not supported yet", text=self._text, **_at(stream.span))
        options = self._checked_options(stream)
        ddl = _ddl(stream)
        with _placed(self._text, stream.name_span):
            frame, corrupt = read_stream(self.session.spark, stream.format, options, ddl)
        time = expression_sql(stream.timestamp_by)
        with _placed(self._text, _span_of_time(stream)):
            self.session.stream(stream.name, frame, time, duration_sql(stream.lateness_us), corrupt=corrupt)
        self._streams.append(stream.name)

    def _table(self, table: CreateTable) -> None:
        options = self._checked_options(table)
        with _placed(self._text, table.name_span):
            self.session.table(table.name, read_table(self.session.spark, table.format, options, _ddl(table)))

    def _sink(self, sink: CreateSink) -> None:
        if sink.name in self._declared:
            raise QueryError(
                f"two sinks are named {sink.name!r}",
                text=self._text,
                **_at(sink.name_span),
                hint="give one of them another name",
            )
        if sink.format in FORMATS and "path" not in dict(sink.options):
            raise QueryError(
                f"a sink of {sink.format} files needs a path",
                text=self._text,
                **_at(sink.name_span),
                hint="OPTIONS (path 'out/results')",
            )
        self._declared[sink.name] = sink
        if sink.rejected:
            for i, stream in enumerate(sink.streams or self._streams):
                if stream not in self._streams:
                    raise QueryError(
                        f"unknown stream {stream!r}",
                        text=self._text,
                        **_at(sink.stream_spans[i]),
                        hint=f"known streams: {', '.join(self._streams) or 'none'}",
                    )
                self.rejected[stream] = Sink(sink.format, sink.options)

    def _insert(self, insert: Insert) -> None:
        declared = self._declared.get(insert.sink)
        if declared is None or declared.rejected:
            known = [name for name, sink in self._declared.items() if not sink.rejected]
            raise QueryError(
                f"unknown sink {insert.sink!r}",
                text=self._text,
                **_at(insert.sink_span),
                hint=f"known sinks: {', '.join(known) or 'none, declare one with CREATE SINK'}",
            )
        if insert.sink in self.sinks:
            raise QueryError(
                f"sink {insert.sink!r} has a query already",
                text=self._text,
                **_at(insert.sink_span),
                hint="give each query a sink of its own",
            )
        self._query(insert.sink, insert.query, Sink(declared.format, declared.options))

    def _query(self, name: str, query: Query, sink: Sink) -> None:
        self.session.register(name, query)
        self.sinks[name] = sink

    def _checked_options(self, source: CreateStream | CreateTable) -> dict[str, str]:
        options = dict(source.options)
        wrong = missing_path(source.format, options)
        if wrong is not None:
            place = self._text.find(options.get("path", "\0"), *source.span)
            span = (place, place + len(options["path"])) if place >= 0 else source.name_span
            raise QueryError(wrong, text=self._text, **_at(span), hint="the path of files or a folder that exists")
        return options

    def _check_all_used(self) -> None:
        for name, sink in self._declared.items():
            if not sink.rejected and name not in self.sinks:
                raise QueryError(
                    f"nothing is written to sink {name!r}",
                    text=self._text,
                    **_at(sink.name_span),
                    hint=f"INSERT INTO {name} SELECT ...",
                )


class _placed:
    """Gives an error that knows no place the place of the statement that caused it."""

    def __init__(self, text: str, span: Span) -> None:
        self._text, self._span = text, span

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SettingsError):
            raise QueryError(str(error), text=self._text, **_at(self._span)) from None


def _at(span: Span) -> dict[str, int]:
    return {"at": span[0], "end": span[1]}


def _span_of_time(stream: CreateStream) -> Span:
    from windrow.language import span_of

    assert stream.timestamp_by is not None
    return span_of(stream.timestamp_by) or stream.name_span


def _ddl(source: CreateStream | CreateTable) -> str | None:
    if not source.columns:
        return None
    return ", ".join(f"{identifier_sql(column.name)} {column.type_sql}" for column in source.columns)
