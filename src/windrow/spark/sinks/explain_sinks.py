"""How the rows of each sink get there, in a line: with the batch's own Spark job, or by one more, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from windrow.plan.kafka_options import KAFKA
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.sink import ANSWERS, FORMATS, INDEX, LAKES, MEMORY, Sink, written_by_spark

Covered = Callable[[AnyQuery], pa.Schema | str]
"""The columns of the rows of a query that tasks can finish; where Spark has to, why."""

Written = Callable[[Sink, pa.Schema], object]
"""How tasks write such rows into a sink of files; where Spark has to, why, as a text."""

MOST_NAMES = 4
"""So many queries of a sink are named."""


def explain_sinks(queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], covered: Covered, written: Written) -> str:
    """A line for each sink, and for each way that rows of its queries take."""
    told: dict[tuple[str, str], list[str]] = {}
    for query in queries:
        if query.name in sinks:
            sink = sinks[query.name]
            told.setdefault((_place(sink), _way(query, sink, covered, written)), []).append(query.name)
    return "\n".join(f"sink of {_named(names)}: {place}, {way}" for (place, way), names in told.items())


def _way(query: AnyQuery, sink: Sink, covered: Covered, written: Written) -> str:
    why = _why_by_spark(query, sink, covered, written)
    if why is not None:
        return f"through Spark, a job of its own in each batch: {why}"
    if sink.format == INDEX:
        return "sorted runs, written by the tasks that slide; the driver publishes a manifest a batch"
    if sink.format in (MEMORY, ANSWERS):
        return "sent to the driver with the batch"
    if sink.format == KAFKA:
        return "sent to the driver with the batch, which writes it in one transaction"
    if sink.format in LAKES and sink.key:
        return "sent to the driver with the batch, which merges it by key in one commit"
    ranked = query.compares_rows and sink.format in FORMATS
    return "written by the driver, which ranks the rows of all shards" if ranked else "written by the tasks that slide"


def _why_by_spark(query: AnyQuery, sink: Sink, covered: Covered, written: Written) -> str | None:
    """Why the rows of a query go to their sink through Spark; None where tasks finish them."""
    why = written_by_spark(sink)
    if why is not None:
        return why
    schema = covered(query)
    if isinstance(schema, str):
        return schema
    form = written(sink, schema) if sink.format in FORMATS else None
    return form if isinstance(form, str) else None


def _place(sink: Sink) -> str:
    if sink.format in FORMATS:
        return f"{sink.format} files in {sink.path}"
    return f"{sink.format} {sink.place}" if sink.place else sink.format


def _named(names: Sequence[str]) -> str:
    """
    >>> _named(["a", "b"]), _named(list("abcdef"))
    ('a, b', 'a, b, c, d and 2 more')
    """
    more = len(names) - MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMES])} and {more} more"
