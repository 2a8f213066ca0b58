"""From statements to their canonical text."""

from __future__ import annotations

import re

from sqlglot import exp

from windrow.language.depth import deep
from windrow.language.dialect import Windrow
from windrow.language.durations import LONGEST_US, duration_sql
from windrow.language.identifiers import identifier_sql
from windrow.language.statements import (
    After,
    ColumnDefinition,
    CreateIndex,
    CreateSink,
    CreateStream,
    CreateTable,
    CreateView,
    DeriveStream,
    Insert,
    Options,
    Query,
    SplitStream,
    Statement,
)


def to_sql(statement: Statement) -> str:
    """The canonical text of a statement; read again, it gives an equal statement.

    >>> from windrow.language import parse_query
    >>> to_sql(parse_query("select count(*) n from ticks [range 600 seconds slide '1 second'] t -- all of them"))
    'SELECT COUNT(*) AS n FROM ticks [RANGE 10 MINUTES SLIDE 1 SECOND] AS t'
    """
    match statement:
        case Query(tree):
            return expression_sql(tree)
        case Insert(sink, query, name):
            named = "" if name is None else f"AS {identifier_sql(name)}"
            return _join(f"INSERT INTO {identifier_sql(sink)}", named, to_sql(query))
        case CreateStream():
            return _join(_source("STREAM", statement), _timing(statement))
        case DeriveStream(name, query):
            return f"CREATE STREAM {identifier_sql(name)} AS {to_sql(query)}"
        case SplitStream(stream, branches):
            names = ", ".join(identifier_sql(name) for name, _ in branches)
            made = ", ".join(f"({_branch(query.tree)})" for _, query in branches)
            return f"CREATE STREAM {names} AS SPLIT {identifier_sql(stream)} {made}"
        case CreateView(name, query):
            return f"CREATE VIEW {identifier_sql(name)} AS {to_sql(query)}"
        case CreateTable():
            return _join(_source("TABLE", statement), _refresh(statement))
        case CreateIndex():
            return _index(statement)
        case CreateSink():
            return _join(f"CREATE SINK {identifier_sql(statement.name)}", _reading(statement), _rejected(statement))


@deep
def expression_sql(node: exp.Expr) -> str:
    """The canonical text of any part of a query."""
    return node.sql(dialect=Windrow, comments=False)


def _branch(tree: exp.Expr) -> str:
    """A branch of SPLIT, which all read the same stream."""
    branch = tree.copy()
    branch.set("from_", None)
    return expression_sql(branch)


def _source(kind: str, statement: CreateStream | CreateTable) -> str:
    columns = ", ".join(_column(column) for column in statement.columns)
    name = identifier_sql(statement.name)
    return _join(f"CREATE {kind} {name}", f"({columns})" if columns else "", _reading(statement))


def _refresh(table: CreateTable) -> str:
    if table.refresh_us is None:
        return ""
    column = "" if table.read_at is None else f"AS {identifier_sql(table.read_at)}"
    return _join(f"REFRESH {duration_sql(table.refresh_us)}", column)


def _index(index: CreateIndex) -> str:
    keys, include = (", ".join(identifier_sql(column.name) for column in part) for part in (index.keys, index.include))
    window = f"[RANGE {duration_sql(index.range_us)} SLIDE {duration_sql(index.slide_us)}]"
    begins = f"CREATE INDEX {identifier_sql(index.name)} ON {identifier_sql(index.stream)} {window} ({keys})"
    by = expression_sql(index.distribute) if index.distribute is not None else ""
    return _join(begins, f"INCLUDE ({include})" if include else "", by)


def _column(column: ColumnDefinition) -> str:
    kind = f"{identifier_sql(column.name)} {column.type_sql}"
    if column.metadata is None:
        return kind
    return f"{kind} METADATA" if column.metadata == column.name else f"{kind} METADATA FROM {_string(column.metadata)}"


def _reading(statement: CreateStream | CreateTable | CreateSink) -> str:
    parts = ".".join(identifier_sql(part) for part in statement.format.split("."))
    return _join(f"USING {parts}", _options(statement.options), _message(statement))


def _message(statement: CreateStream | CreateTable | CreateSink) -> str:
    if isinstance(statement, CreateTable) or statement.message is None:
        return ""
    return _join(f"FORMAT {identifier_sql(statement.message)}", _options(statement.message_options))


def _options(options: Options) -> str:
    if not options:
        return ""
    return f"OPTIONS ({', '.join(f'{_key(key)} {_string(value)}' for key, value in options)})"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", key) else _string(key)


def _string(value: str) -> str:
    return expression_sql(exp.Literal.string(value))


def _timing(stream: CreateStream) -> str:
    return _join(
        f"TIMESTAMP BY {expression_sql(stream.timestamp_by)}" if stream.timestamp_by is not None else "",
        f"LATENESS {duration_sql(stream.lateness_us)}" if stream.lateness_us else "",
        f"CORRECT FOR {duration_sql(stream.correct_us)}" if stream.correct_us else "",
        _ahead(stream.ahead_us),
        "IDLE CLOCK" if stream.idle_clock else "",
        "" if stream.alpha is None else f"ALPHA {stream.alpha!r}",
        "" if stream.beat_us is None else f"BEAT {duration_sql(stream.beat_us)}",
        _unique(stream),
        "" if stream.shed_us is None else f"SHED ABOVE {duration_sql(stream.shed_us)} DELAY",
        _after(stream.after),
    )


def _unique(stream: CreateStream) -> str:
    by = ", ".join(map(expression_sql, stream.unique_by))
    return f"DEDUPLICATE BY {by} WITHIN {duration_sql(stream.unique_us)}" if by else ""


def _after(after: After | None) -> str:
    if after is None:
        return ""
    return _join(f"AFTER {identifier_sql(after.format)}", _options(after.options), f"UNTIL {_string(after.until)}")


def _ahead(ahead_us: int | None) -> str:
    if ahead_us is None:
        return ""
    return "AHEAD UNBOUNDED" if ahead_us == LONGEST_US else f"AHEAD {duration_sql(ahead_us)}"


def _rejected(sink: CreateSink) -> str:
    streams = ", ".join(identifier_sql(stream) for stream in sink.streams)
    return _join("FOR REJECTED" if sink.rejected else "", f"OF {streams}" if streams else "")


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)
