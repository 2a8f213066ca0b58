"""`windrow clean`: what a stopped job's checkpoint holds that nobody asks for, and its end."""

from __future__ import annotations

import typer

from windrow.cli.launch import Launch, started
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.plan.instants import shown_instant
from windrow.plan.memory import size_text


def clean_checkpoint(checkpoint: str, launch: Launch, yes: bool) -> None:
    """List the state that no query of the last run knows, and have it deleted if the user says so."""
    from windrow.spark.job.clean_state import check_stopped, forget_stopped, leftovers

    place = place_of(checkpoint, settings_outside_spark(launch.options))
    check_stopped(place)  # before Spark is started for nothing
    with started(launch) as session:
        found = leftovers(session.spark, place)
    if not found:
        typer.echo(f"{checkpoint} holds nothing that its queries do not know")
        return
    for one in found:
        since = "before any event" if one.since_us is None else f"{shown_instant(one.since_us):%Y-%m-%d %H:%M:%S} UTC"
        typer.echo(f"{one.stream}  {one.name}  {size_text(one.bytes)}, not asked for since {since}\n  {one.held}")
    if not yes:
        typer.confirm(f"delete {_parts(len(found))}?", abort=True)
    forget_stopped(place, found)
    typer.echo(f"{_parts(len(found))}: deleted by the first batch when the job is started again")


def _parts(count: int) -> str:
    """
    >>> _parts(1), _parts(3)
    ('1 part of its state', '3 parts of its state')
    """
    return f"{count} {'part' if count == 1 else 'parts'} of its state"
