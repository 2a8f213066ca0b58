"""Running a script: until its input ends, or until it is stopped."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from windrow.cli.console import JobConsole, check_console
from windrow.cli.figures import line_of, shown_name
from windrow.cli.json_log import JsonLog
from windrow.cli.launch import Launch, read_script, started, with_jars
from windrow.cli.view import view_for
from windrow.cli.watch import StopSignals, watch
from windrow.errors import QueryError, SettingsError, StoppedQueriesError
from windrow.language import parse_duration
from windrow.places.addresses import FILE, local_path, scheme_of
from windrow.places.place import place_of
from windrow.places.reach import check_reached
from windrow.serve.metrics_port import MetricsPort
from windrow.serve.spans import BatchSpans, tracer_to
from windrow.spark.broker_patience import going_on_from
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.hold import check_free
from windrow.spark.job.job import Job
from windrow.spark.job.recovery import Recovery

AVAILABLE_NOW = "available now"
TEXT, JSON = "text", "json"


def run_script(
    path: Path,
    checkpoint: str | None,
    launch: Launch,
    trigger: str | None,
    available_now: bool,
    flush: bool,
    starting: Mapping[str, Any],
    variables: Sequence[str] = (),
    packages: Sequence[str] = (),
    listen: str | None = None,
    metrics: str | None = None,
    log: str = TEXT,
    traces: str | None = None,
) -> None:
    """Run the script at `path`, showing how it is doing; `starting` is what `session.start` is told besides.

    `packages` are what Spark is to bring. `listen` is where its console is served, and `metrics` where metrics are, if
    they are. `log` is how it is told: in words, or in JSON. `traces` is a collector that gets a span for each batch.
    """
    if log not in (TEXT, JSON):
        raise SettingsError(f"--log {log}: it is told as {TEXT} or as {JSON}")
    lines = JsonLog() if log == JSON else None
    say = typer.echo if lines is None else lines.say
    if listen is not None:
        check_console(listen)
    Recovery(starting["on_error"], starting["restarts"], starting["task_timeout"])
    check_choices(checkpoint, trigger, available_now, flush)
    text = read_script(path, variables)
    launch = with_jars(launch, text, packages)
    console = Console(file=sys.stdout)
    if checkpoint is not None and scheme_of(checkpoint) == FILE:  # who is elsewhere needs what only Spark may know
        check_free(local_path(checkpoint))  # before Spark starts, which takes a while
        check_reached(place_of(checkpoint), "the checkpoint")
    with (
        traced(traces) as spans,
        served(metrics) as port,
        kept(checkpoint) as folder,
        started(launch) as session,
        StopSignals() as stop,
    ):
        if lines is not None:
            lines.tell("spark started")
        from windrow.application import Application

        session.tables_kept_in(folder)
        with going_on_from(spark_place(session.spark, folder), say, lambda: stop.asked):
            application = Application(session, text)
            if checkpoint is None:
                say("no --checkpoint: a restart will begin anew")
            job = session.start(
                folder,
                application.sinks,
                AVAILABLE_NOW if available_now else trigger,
                rejected=application.rejected,
                keep_answers=listen is not None,
                **starting,
            )
        if lines is not None:
            lines.tell("started", queries=sorted(job.queries), checkpoint=checkpoint, process=os.getpid())
        if port is not None:
            port.tell(job.progress)
            say(f"metrics: http://{port.address}/metrics")
        for line in job.drift:
            say(line)
        console_of = JobConsole(session, job, application.texts)
        if listen is not None:
            say(f"console: {console_of.open(listen)}")
        places = {name: " ".join(filter(None, (sink.format, sink.place))) for name, sink in application.sinks.items()}
        with spans(job), lines or view_for(console, places) as view:
            worked_off = watch(job, view, stop)
            if worked_off and flush:
                view.say("the input has ended: closing all windows")
                job.flush()
                worked_off = watch(job, view, stop)
        if lines is None and not console.is_terminal:  # there the last table stays
            for stream, figures in job.progress().items():
                typer.echo(line_of(shown_name(stream), figures))
            written = Counter[str]()
            for figures in job.progress().values():
                written.update(figures["rows"])
            for name, place in places.items():
                typer.echo(f"{name}: {written[name]:,} rows, {place}")
        if lines is not None:
            lines.tell("ended", worked_off=worked_off)
        else:
            say(_farewell(worked_off, checkpoint))
        if job.stopped:
            raise StoppedQueriesError(job.stopped)


def check_choices(checkpoint: str | None, trigger: str | None, available_now: bool, flush: bool) -> None:
    """Refuse what does not go together, before anything is started or written."""
    if available_now and trigger is not None:
        raise SettingsError("--available-now and --trigger exclude each other")
    if flush and not available_now:
        raise SettingsError("--flush says that the input has ended: it goes with --available-now")
    if checkpoint is not None and scheme_of(checkpoint) == FILE and os.path.isfile(local_path(checkpoint)):
        raise SettingsError(f"--checkpoint {checkpoint} is not a folder")
    if trigger is not None:
        try:
            positive = parse_duration(trigger) >= 0
        except QueryError as error:
            raise SettingsError(f"--trigger {trigger}: {error.message}\nhint: {error.hint}") from None
        if not positive:
            raise SettingsError(f"--trigger {trigger}: time between batches cannot be negative")


@contextmanager
def traced(endpoint: str | None) -> Iterator[Callable[[Job], AbstractContextManager[object]]]:
    """What makes spans of the batches of a job for a block, if a collector is named; all are sent at the end."""
    if endpoint is None:
        yield nullcontext
        return
    tracer, send_last = tracer_to(endpoint)
    try:
        yield lambda job: closing(BatchSpans(tracer, job.batches))
    finally:
        send_last()


@contextmanager
def served(metrics: str | None) -> Iterator[MetricsPort | None]:
    """The port where metrics are served, if they are asked for: one that cannot be had is told of at once."""
    if metrics is None:
        yield None
        return
    with MetricsPort(metrics).serving() as port:
        yield port


@contextmanager
def kept(checkpoint: str | None) -> Iterator[str]:
    """The folder of a checkpoint; where none is asked for, one that lasts as long as the Spark that writes to it."""
    if checkpoint is not None:
        yield os.path.abspath(local_path(checkpoint)) if scheme_of(checkpoint) == FILE else checkpoint
        return
    with tempfile.TemporaryDirectory(prefix="windrow-checkpoint-", ignore_cleanup_errors=True) as folder:
        yield folder


def _farewell(worked_off: bool, checkpoint: str | None) -> str:
    if worked_off:
        return "all input is worked off"
    again = f"; started again with --checkpoint {checkpoint}, the job goes on from here" if checkpoint else ""
    return f"stopped after a whole batch{again}"
