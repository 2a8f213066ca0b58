"""DEDUPLICATE BY: queries over a stream read, in its place, a stream of its events without duplicates."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, identifier_sql, parse_query
from windrow.language.nodes import STREAM_WINDOW, UNIQUE
from windrow.plan.catalog import Stream

AS_IT_IS = "as it is"
"""Marks the one place that reads the events of a stream with their duplicates."""


def without_duplicates(stream: Stream) -> Query:
    """The events of a stream without duplicates: windows by key that go back from each event, of those with one row.

    They are numbered in order of time, so that of two at one instant the first that came stays.
    """
    assert stream.unique is not None
    listed = ", ".join(f"LAST({name}) AS {name}" for name in map(identifier_sql, stream.schema.names))
    window = f"[PARTITION BY {', '.join(stream.unique.by)} RANGE {stream.unique.within_us} MICROSECONDS SLIDE 1 ROWS]"
    query = parse_query(f"SELECT {listed} FROM {identifier_sql(stream.name)} {window}")
    (table,) = query.tree.find_all(exp.Table)
    table.meta[AS_IT_IS] = True
    table.args[STREAM_WINDOW].meta[UNIQUE] = True
    return query


def shown_as(made: Stream, stream: Stream) -> Stream:
    """The stream that is `made` without duplicates, with the columns and the time that `stream` has."""
    time = stream.time if stream.time in stream.schema.names else made.time
    columns = [made.schema.field(name) for name in stream.schema.names]
    schema = made.schema.empty_table().select([column.name for column in columns]).schema
    return replace(made, schema=schema, time=time)
