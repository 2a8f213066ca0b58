"""What changes in a job from another terminal: queries that come and go, and a clock that goes back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from windrow.cli.launch import read_script, read_wishes
from windrow.errors import ChangeError, SettingsError
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import Place, place_of
from windrow.plan.instants import read_instant, shown_instant
from windrow.spark.job.bring_back import bring_back
from windrow.spark.job.job_requests import JobRequests, Reply, Request
from windrow.spark.job.reset_clock import reset_stopped


def add_queries(checkpoint: str, queries: str, settings: Sequence[str] = ()) -> None:
    """Add the queries of a file, or of a text, which are to run as `settings` ask for."""
    told = _asked(checkpoint, {"add": _text_of(queries), "choose": read_wishes(settings)})
    typer.echo(f"added {', '.join(told['added'])}; running: {', '.join(told['queries'])}")


def drop_queries(checkpoint: str, names: list[str]) -> None:
    """Drop queries by name."""
    for name in names:
        told = _asked(checkpoint, {"drop": name})
        typer.echo(f"dropped {name}; running: {', '.join(told['queries'])}")


def resume_queries(checkpoint: str, names: list[str]) -> None:
    """Bring queries back that were dropped or have stopped, in a job that runs, or in one that is started later."""
    _check_there(checkpoint)
    runs = JobRequests(_place(checkpoint)).is_read()
    for name in names:
        if runs:
            told = _asked(checkpoint, {"resume": name})
            typer.echo(f"{name} is back; running: {', '.join(told['queries'])}")
        else:
            bring_back(_place(checkpoint), name)
            typer.echo(f"{name} runs again when the job is started")


def reset_clock(checkpoint: str, stream: str, time: str) -> None:
    """Set the clock of a stream back, of a job that runs, or of one that is started again later."""
    to = shown_instant(read_instant(time))
    _check_there(checkpoint)
    runs = JobRequests(_place(checkpoint)).is_read()
    if runs:
        _asked(checkpoint, {"reset_clock": stream, "to": to.isoformat()})
    else:
        reset_stopped(_place(checkpoint), stream, to.isoformat())
    when = "with its next batch" if runs else "when the job is started again"
    typer.echo(f"the clock of {stream} goes back to {to:%Y-%m-%d %H:%M:%S.%f} UTC {when}")
    typer.echo("windows that end after it are answered again; what sinks hold of them stays there")


def _place(checkpoint: str) -> Place:
    return place_of(checkpoint, settings_outside_spark())


def _asked(checkpoint: str, request: Request) -> Reply:
    _check_there(checkpoint)
    told = JobRequests(_place(checkpoint)).ask(request)
    if "error" in told:
        raise ChangeError(told["error"])
    return told


def _check_there(checkpoint: str) -> None:
    if not _place(checkpoint).is_folder():
        raise SettingsError(f"there is no checkpoint {checkpoint}")


def _text_of(queries: str) -> str:
    """The statements: a text has words with spaces between them, and no file has that name."""
    path = Path(queries)
    if len(queries.splitlines()) == 1 and len(queries) < 1000 and path.is_file():
        return read_script(path)
    if not any(space in queries for space in " \n\t"):
        raise SettingsError(f"there is no file {queries}")
    return queries
