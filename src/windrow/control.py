"""Changes to a running job as text: what `windrow add`, `drop`, `resume` and `reset-clock` send it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from windrow.errors import ChangeError, QueryError
from windrow.language import CreateIndex, CreateSink, Insert, Query, parse_script
from windrow.plan.sink import Sink
from windrow.spark.job.job import Job
from windrow.spark.job.job_requests import Reply, Request


def obey(job: Job, request: Request) -> Reply:
    """Do what a request asks for; answers with what runs then."""
    match request:
        case {"add": str(text)}:
            return {"added": add_script(job, text, request.get("choose")), "queries": job.queries}
        case {"drop": str(name)}:
            job.drop(name)
            return {"dropped": [name], "queries": job.queries}
        case {"resume": str(name)}:
            job.resume(name)
            return {"resumed": [name], "queries": job.queries}
        case {"reset_clock": str(stream), "to": str(to)}:
            job.reset_clock(stream, to)
            return {"reset": stream}
        case {"list": _}:
            return {"queries": job.queries}
    for word, answer in job.asked.items():
        if word in request:
            return answer(request)
    raise ChangeError(f"the job does not know what to do with {sorted(request)}")


def add_script(job: Job, text: str, choose: Mapping[str, str] | None = None) -> list[str]:
    """Add the queries and indexes of a script, which may create sinks; a SELECT by itself goes to the console.

    `choose` is asked for each of them.
    """
    sinks: dict[str, Sink] = {}
    wanted: list[tuple[str, str, Sink]] = []
    for statement in parse_script(text):
        match statement:
            case CreateSink(rejected=False):
                sinks[statement.name] = Sink(statement.format, statement.options)
            case Insert():
                if statement.sink not in sinks:
                    begin, end = statement.sink_span
                    way_out = f"CREATE SINK {statement.sink} USING ... before it"
                    raise QueryError(f"unknown sink {statement.sink!r}", text=text, at=begin, end=end, hint=way_out)
                name = statement.name or statement.sink
                if name in (other for other, _, _ in wanted):
                    begin, end = statement.name_span
                    way_out = f"INSERT INTO {statement.sink} AS name SELECT ..."
                    raise QueryError(f"there is a query {name!r} already", text=text, at=begin, end=end, hint=way_out)
                begin, end = statement.query.span
                wanted.append((name, text[begin:end], sinks[statement.sink]))
            case CreateIndex():
                if statement.name in (other for other, _, _ in wanted):
                    begin, end = statement.name_span
                    raise QueryError(f"there is a query {statement.name!r} already", text=text, at=begin, end=end)
                wanted.append((statement.name, *job.read_index(statement)))
            case Query():
                begin, end = statement.span
                taken = {*job.queries, *(name for name, _, _ in wanted)}
                name = next(f"query_{n}" for n in count(1) if f"query_{n}" not in taken)
                wanted.append((name, text[begin:end], Sink("console")))
            case _:
                begin, end = statement.span
                raise QueryError(
                    "a running job takes CREATE SINK, CREATE INDEX, INSERT INTO and SELECT only",
                    text=text,
                    at=begin,
                    end=end,
                    hint="streams and tables are those it was started with",
                )
    if not wanted:
        raise QueryError("there is no query to add", hint="SELECT ..., or CREATE SINK ...; INSERT INTO sink SELECT ...")
    for name, query, sink in wanted:
        job.add(name, query, sink, choose=choose)
    return [name for name, _, _ in wanted]
