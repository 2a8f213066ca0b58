"""`windrow reshard`: a checkpoint with more shards, from that of a stopped job."""

from __future__ import annotations

from dataclasses import replace

import typer

from windrow.cli.launch import Launch, started
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of


def reshard_checkpoint(checkpoint: str, shards: int, to: str, launch: Launch) -> None:
    """Make the checkpoint `to` with so many shards, and say how to go on."""
    from windrow.spark.job.reshard import check_reshard, reshard

    settings = settings_outside_spark(launch.options)
    old, new = place_of(checkpoint, settings), place_of(to, settings)
    check_reshard(old, shards, new)  # before Spark is started for nothing
    with started(replace(launch, shards=shards)) as session:
        streams = reshard(session.spark, old, shards, new)
    typer.echo(f"{to}: {shards} shards of {', '.join(streams) or 'no stream'}; go on with --checkpoint {to}")
    typer.echo(f"{checkpoint} is as it was: no job may go on with it once one has gone on with {to}")
