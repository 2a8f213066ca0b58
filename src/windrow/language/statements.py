"""The statements of a script. Two are equal when they say the same, wherever they stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from windrow.language.spans import Span

Options = tuple[tuple[str, str], ...]
_NOWHERE: Span = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a statement stands in the text of its script, and where in it the name that it gives."""

    text: str = field(default="", compare=False, repr=False)
    span: Span = field(default=_NOWHERE, compare=False)
    name_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`price DOUBLE` in the columns of a stream or a table, written at [start, end).

    `offset BIGINT METADATA`, or `sent TIMESTAMP METADATA FROM 'timestamp'`, is not in a message, but of it.
    """

    name: str
    type_sql: str
    metadata: str | None = None
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class After:
    """`AFTER parquet OPTIONS (path 'lake/tx') UNTIL '2026-11-16 00:00'`: files with what happened before a stream."""

    format: str
    options: Options
    until: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CreateStream(Written):
    """`CREATE STREAM name (columns) USING format OPTIONS (...) TIMESTAMP BY ... LATENESS ... CORRECT FOR ...
    AHEAD ... IDLE CLOCK ALPHA ... BEAT ... DEDUPLICATE BY ... WITHIN ... SHED ABOVE ... DELAY AFTER ... UNTIL ...`.

    `FORMAT json OPTIONS (...)`, behind the options, says what messages are: `message`, `message_options`. `AHEAD
    UNBOUNDED` is the longest of all durations.
    """

    name: str
    columns: tuple[ColumnDefinition, ...]
    format: str
    options: Options = ()
    timestamp_by: exp.Expr | None = None
    lateness_us: int = 0
    idle_clock: bool = False
    ahead_us: int | None = None
    unique_by: tuple[exp.Expr, ...] = ()
    unique_us: int = 0
    correct_us: int = 0
    message: str | None = None
    message_options: Options = ()
    after: After | None = None
    shed_us: int | None = None
    alpha: float | None = None
    beat_us: int | None = None


@dataclass(frozen=True, slots=True)
class DeriveStream(Written):
    """`CREATE STREAM name AS query`: a stream whose events are the answers of a query."""

    name: str
    query: Query


@dataclass(frozen=True, slots=True)
class SplitStream(Written):
    """`CREATE STREAM a, b AS SPLIT stream (SELECT ... WHERE ...), (...)`: a stream of each branch of another one.

    A branch is the query that reads the stream, with the place of its name.
    """

    stream: str
    branches: tuple[tuple[str, Query], ...]
    name_spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class CreateView(Written):
    """`CREATE VIEW name AS query`: a query that others name, and read as if it stood in their WITH."""

    name: str
    query: Query


@dataclass(frozen=True, slots=True)
class CreateTable(Written):
    """`CREATE TABLE name (columns) USING format OPTIONS (...)`: rows that events are joined with.

    They are read once, or, with `REFRESH 10 MINUTES`, again so often; `AS read_at` adds a column with the instant.
    """

    name: str
    columns: tuple[ColumnDefinition, ...]
    format: str
    options: Options = ()
    refresh_us: int | None = None
    read_at: str | None = None


@dataclass(frozen=True, slots=True)
class CreateSink(Written):
    """`CREATE SINK name USING format OPTIONS (...)`; where `rejected`, for the bad events of `streams`, or of all.

    `FORMAT json`, behind the options, says what messages are: `message`.
    """

    name: str
    format: str
    options: Options = ()
    rejected: bool = False
    streams: tuple[str, ...] = ()
    message: str | None = None
    message_options: Options = ()
    stream_spans: tuple[Span, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """A column of an index, written at [start, end)."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CreateIndex(Written):
    """`CREATE INDEX name ON stream [RANGE ... SLIDE ...] (keys) INCLUDE (columns)`: live look-ups over a window.

    `distribute` is its DISTRIBUTE BY.
    """

    name: str
    stream: str
    keys: tuple[IndexedColumn, ...]
    include: tuple[IndexedColumn, ...]
    range_us: int
    slide_us: int
    distribute: exp.Distribute | None = None
    stream_span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A SELECT, or several joined by set operations, as a sqlglot tree."""

    tree: exp.Expr
    text: str = field(default="", compare=False, repr=False)
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Insert(Written):
    """`INSERT INTO sink [AS name] query`: the name of the query, which otherwise is that of its sink."""

    sink: str
    query: Query
    name: str | None = None
    sink_span: Span = field(default=_NOWHERE, compare=False)


Created = CreateStream | DeriveStream | SplitStream | CreateView | CreateTable | CreateSink | CreateIndex
Statement = Created | Insert | Query
