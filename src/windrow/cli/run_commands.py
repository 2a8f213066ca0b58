"""Commands that begin a job, or a page without one: `run` and `console`."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.app import ANY_PORT, LOCAL, Choices, Listen, Master, Packages, Script, Variables
from windrow.cli.mistakes import user_errors
from windrow.errors import SettingsError

commands = typer.Typer()


@commands.command()
def run(
    script: Script,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the job keeps how far it is, so that a restart goes on from there."),
    ] = None,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="Work off what is there, and end, rather than wait for more.")
    ] = False,
    flush: Annotated[
        bool,
        typer.Option(
            "--flush", help="With --available-now: then answer windows that are not full yet, and let rows expire."
        ),
    ] = False,
    master: Master = LOCAL,
    choices: Choices = None,
    variables: Variables = None,
    packages: Packages = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Time between batches, such as '5 seconds'. Without it, one follows another."
        ),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            metavar="isolate|stop",
            help="Of a query whose code or sink fails: stop it alone, and go on with the others, or stop the job.",
        ),
    ] = "isolate",
    restarts: Annotated[
        int,
        typer.Option(
            "--restarts",
            metavar="N",
            min=0,
            help="How often Spark is started again after a machine was lost, with no batch done in between.",
        ),
    ] = 10,
    task_timeout: Annotated[
        str,
        typer.Option("--task-timeout", metavar="TIME", help="If no task of a batch ends for so long, it runs again."),
    ] = "10 minutes",
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a checkpoint that has run other queries than those of SCRIPT.")
    ] = False,
    console: Annotated[
        bool,
        typer.Option("--console", help="Serve a page with answers, plan and editor, and print its address."),
    ] = False,
    listen: Listen = ANY_PORT,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve metrics for Prometheus there, such as 127.0.0.1:9464."),
    ] = None,
    traces: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send a span for each batch to an OpenTelemetry collector (OTLP over HTTP)."),
    ] = None,
    log: Annotated[
        str, typer.Option("--log", metavar="text|json", help="Tell how the job is doing in words, or in lines of JSON.")
    ] = "text",
) -> None:
    """Run the queries of SCRIPT until Ctrl-C, or until its input is worked off.

    A query with INSERT INTO writes to its sink; a SELECT by itself prints its newest rows. In a terminal a table shows
    how the job is doing, elsewhere a line every few seconds. The first Ctrl-C stops after the batch under way, the
    second at once. A job that is started again with its checkpoint goes on as if it had never stopped; where the script
    has changed since, it says what differs, and from which window each query answers.

    \b
    Examples:
      windrow run app.sql
      windrow run app.sql --checkpoint checkpoints/app
      windrow run app.sql --checkpoint checkpoints/app --available-now --flush
      windrow run app.sql --master 'local[4]' --set shards=8 --set spark.driver.memory=4g
      windrow run app.sql --trigger '5 seconds'
      windrow run app.sql --console
      windrow run app.sql --log json

    \b
    Exit codes: 0 the job ended or was stopped, 1 it or a query of it died, 2 there is a mistake to mend and nothing
    was started.
    """
    with user_errors():
        from windrow.cli.launch import read_launch
        from windrow.cli.run import run_script

        if listen != ANY_PORT and not console:
            raise SettingsError(
                f"--listen {listen} says where the console is served, and there is none\nhint: --console"
            )
        starting = {"on_error": on_error, "restarts": restarts, "task_timeout": task_timeout, "strict": strict}
        launch = read_launch(master, choices or [])
        ending, page = (trigger, available_now, flush), listen if console else None
        brought = (starting, variables or (), packages or ())
        run_script(script, checkpoint, launch, *ending, *brought, page, metrics, log, traces)


@commands.command()
def console(
    checkpoint: Annotated[
        str | None,
        typer.Argument(metavar="[DIR]", help="The checkpoint of a running job; without it, sample streams by replay."),
    ] = None,
    listen: Listen = ANY_PORT,
) -> None:
    """Serve a page: the answers of queries as they change, their plan, and an editor.

    With DIR it belongs to the job that runs on this checkpoint, and ends with it. Without, queries are tried on sample
    streams, by replay in this process, without Spark; Ctrl-C ends it.

    It answers on this machine alone. With --listen 0.0.0.0:8180 it answers to others too, who need the token in the
    address that is printed.

    \b
    Examples:
      windrow console
      windrow console checkpoints/app
      windrow console --listen 0.0.0.0:8180
    """
    with user_errors():
        from windrow.cli.console import console_of_job, console_of_samples

        if checkpoint is None:
            console_of_samples(listen)
        else:
            console_of_job(checkpoint, listen)
