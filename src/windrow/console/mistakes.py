"""The queries of a script as a running job would take them: read and checked, and nothing started."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from windrow.errors import QueryError, WindrowError
from windrow.language import CreateSink, Insert, Query, parse_script
from windrow.plan.nodes.stage import AnyQuery
from windrow.serve.app import mistake

Planned = Callable[[str, Query, Iterable[AnyQuery]], AnyQuery]
"""Makes a plan of a query, by its name, to run beside others."""


def queries_in(text: str, taken: Iterable[str] = ()) -> list[tuple[str, Query]]:
    """The queries of a script that can be read, each with its name."""
    taken, found, sinks = set(taken), [], set()
    for statement in parse_script(text):
        match statement:
            case CreateSink(rejected=False):
                sinks.add(statement.name)
                continue
            case Insert():
                name, query, (begin, end) = statement.name or statement.sink, statement.query, statement.sink_span
                if statement.sink not in sinks:
                    way_out = f"CREATE SINK {statement.sink} USING ... before it"
                    raise QueryError(f"unknown sink {statement.sink!r}", text=text, at=begin, end=end, hint=way_out)
            case Query():
                number = next(n for n in range(1, 1 << 20) if f"query_{n}" not in taken)
                name, query, (begin, end) = f"query_{number}", statement, statement.span
            case _:
                begin, end = statement.span
                message = "a running job takes CREATE SINK, INSERT INTO and SELECT only"
                way_out = "streams and tables are those it was started with"
                raise QueryError(message, text=text, at=begin, end=end, hint=way_out)
        if name in taken:
            way_out = "drop it first, or choose another name"
            raise QueryError(f"there is a query {name!r} already", text=text, at=begin, end=end, hint=way_out)
        taken.add(name)
        found.append((name, query))
    if not found:
        raise QueryError("there is no query", hint="SELECT ..., or CREATE SINK ...; INSERT INTO sink SELECT ...")
    return found


def mistakes_in(text: str, running: Sequence[AnyQuery], planned: Planned) -> list[dict[str, Any]]:
    """The mistakes of a script, the first of each of its queries, with their places."""
    try:
        queries = queries_in(text, [plan.name for plan in running])
    except WindrowError as error:
        return [mistake(error)]
    found, beside = [], list(running)
    for name, query in queries:
        try:
            beside.append(planned(name, query, beside))
        except WindrowError as error:
            told = mistake(error)
            if told.get("from") is None:
                told |= {"from": query.span[0], "to": query.span[1]}
            found.append(told)
    return found
