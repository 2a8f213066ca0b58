"""A window index as a query: the rows of a stream as its clock passes them, to be found by their keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.errors import QueryError, SettingsError
from windrow.indexes.facts import TIME, IndexFacts, is_orderable
from windrow.language import CreateIndex, Query, duration_sql, expression_sql, identifier_sql, parse_query, span_of
from windrow.language.spelling import closest
from windrow.language.statements import IndexedColumn
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.sink import INDEX, Sink

ColumnsOf = Callable[[Query], pa.Schema]
"""The columns that a query emits."""


@dataclass(frozen=True, slots=True)
class BoundIndex:
    """An index over a stream that is there, with columns that it has."""

    facts: IndexFacts
    stream: str
    distribute: str | None = None
    """Its DISTRIBUTE BY, as text."""

    @property
    def source(self) -> str:
        """What its rows are read from, as it stands in FROM."""
        stream = identifier_sql(self.stream)
        return stream if self.distribute is None else f"(SELECT * FROM {stream} {self.distribute})"

    @property
    def query(self) -> Query:
        """Its rows: each event once, when nothing before it can come any more.

        They are rows of a window without a slide, which are known in order of time, so that what is found is as of the
        clock. What has left the window is not asked of it.
        """
        names = ", ".join(identifier_sql(name) for name in self.facts.schema.names)
        window = f"[RANGE {duration_sql(self.facts.range_us)}]"
        return parse_query(f"SELECT {names} FROM {self.source} {window} EMIT FINAL")


def bind_index(index: CreateIndex, catalog: Catalog, columns_of: ColumnsOf) -> BoundIndex:
    """What an index is over, of what a catalog knows; refuses what cannot be."""
    stream = catalog.streams.get(index.stream)
    if stream is None and index.stream in catalog.views:
        stream = _branch(index, columns_of)
    if stream is None:
        raise _error(index, f"unknown stream {index.stream!r}", index.stream_span, _way_out(index.stream, catalog))
    if index.slide_us > index.range_us:
        raise _error(index, "a pane cannot be longer than the window", index.name_span, "RANGE is a multiple of SLIDE")
    fields = [_field(index, column, stream) for column in (*index.keys, *index.include)]
    for column, field in zip(index.keys, fields):
        if not is_orderable(field.type):
            message = f"{column.name} is {field.type}, which has no order that keys could be in"
            raise _error(index, message, (column.start, column.end), "name it behind INCLUDE")
    keys = tuple(field.name for field in fields[: len(index.keys)])
    facts = IndexFacts(index.name, keys, pa.schema(fields), index.range_us, index.slide_us)
    return BoundIndex(facts, stream.name, None if index.distribute is None else expression_sql(index.distribute))


def _branch(index: CreateIndex, columns_of: ColumnsOf) -> Stream:
    """The events of a stream as a branch of a SPLIT, or a view like one, has them."""
    try:
        told = columns_of(rows_of(index.stream))
    except QueryError as error:
        way_out = "a view whose rows are events of a stream can have an index"
        raise _error(index, f"{index.stream!r} has no index: {error.message}", index.stream_span, way_out) from None
    return Stream(index.stream, pa.schema(list(told)[2:]), None)


def where_written(index: CreateIndex, error: QueryError) -> SettingsError | QueryError:
    """What is wrong with the query of an index, to be underlined where the index is written."""
    own = index.name_span if index.distribute is None else span_of(index.distribute) or index.name_span
    if index.text:
        return type(error)(error.message, text=index.text, at=own[0], end=own[1], hint=error.hint)
    return SettingsError(error.message if error.hint is None else f"{error.message}\nhint: {error.hint}")


def rows_of(stream: str) -> Query:
    """All events of a stream, each once."""
    return parse_query(f"SELECT * FROM {identifier_sql(stream)} [RANGE 1 SECOND] EMIT FINAL")


def index_sink(bound: BoundIndex) -> Sink:
    """The sink of an index: what is not in the rows themselves."""
    facts = bound.facts
    options = {"keys": json.dumps(facts.keys), "range_us": facts.range_us, "slide_us": facts.slide_us}
    return Sink(INDEX, tuple((name, str(value)) for name, value in (options | {"source": bound.source}).items()))


def source_of(sink: Sink) -> str | None:
    """What the rows of an index are read from; None of one that was added by an earlier version."""
    return dict(sink.options).get("source")


def facts_of(name: str, sink: Sink, emitted: pa.Schema) -> IndexFacts:
    """What a sink says of its index, whose rows have the columns that its query emits behind `op` and `time`."""
    options = dict(sink.options)
    keys, columns = tuple(json.loads(options["keys"])), pa.schema(list(emitted)[2:])
    return IndexFacts(name, keys, columns, int(options["range_us"]), int(options["slide_us"]))


def declared_index(
    name: str,
    stream: str,
    keys: Sequence[str],
    include: Sequence[str],
    range_us: int,
    slide_us: int,
    distribute: str | None = None,
) -> CreateIndex:
    """An index as Python declares it."""
    for what, names in (("keys", keys), ("include", include)):
        if isinstance(names, str):
            raise SettingsError(f"{what}={names!r} is a text\nhint: {what}=[{names!r}]")
    if not keys:
        raise SettingsError("an index needs a key\nhint: keys=['column', ...]")
    twice = [column for column in keys if [*keys, *include].count(column) > 1]
    if twice:
        raise SettingsError(f"an index has a column only once, and {twice[0]!r} is there twice")
    own, others = (tuple(IndexedColumn(column) for column in names) for names in (keys, include))
    by = None if distribute is None else parse_query(f"SELECT * FROM s DISTRIBUTE BY {distribute}").tree
    clause = None if by is None else by.args.get("distribute")
    return CreateIndex(name, stream, own, others, range_us, slide_us, clause)


def _field(index: CreateIndex, column: IndexedColumn, stream: Stream) -> pa.Field:
    names = {name.lower(): name for name in stream.schema.names}
    own = names.get(column.name.lower())
    if own is None:
        meant = closest(column.name, [name.upper() for name in stream.schema.names])
        known = ", ".join(stream.schema.names)
        way_out = f"did you mean {names[meant.lower()]}?" if meant else f"columns: {known}"
        raise _error(index, f"{stream.name!r} has no column {column.name!r}", (column.start, column.end), way_out)
    if own == TIME:
        message = f"a column of an index cannot be called {TIME!r}: what is found has the time of each event there"
        raise _error(index, message, (column.start, column.end), "leave it out, or rename it")
    return stream.schema.field(own)


def _way_out(name: str, catalog: Catalog) -> str:
    if name in catalog.tables:
        return f"{name!r} is a table, and does not change: an index is over the window of a stream"
    return f"known streams: {', '.join(catalog.streams) or 'none'}"


def _error(index: CreateIndex, message: str, span: tuple[int, int], hint: str) -> SettingsError | QueryError:
    if not index.text:
        return SettingsError(f"{message}\nhint: {hint}")
    return QueryError(message, text=index.text, at=span[0], end=span[1], hint=hint)
