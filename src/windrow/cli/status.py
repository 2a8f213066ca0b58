"""`windrow status`: how a job is doing, or did when it ended, by its checkpoint."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import typer

from windrow.cli.figures import line_of, shown_name, size
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.plan.stream_statistics import StreamStatistics
from windrow.spark.job.status import status_of


def tell_status(checkpoint: str, options: dict[str, str], as_json: bool) -> None:
    """Print what the checkpoint tells of its job."""
    found = status_of(place_of(checkpoint, settings_outside_spark(options)))
    typer.echo(json.dumps(found, indent=2) if as_json else "\n".join(lines_of(found)))


def lines_of(found: dict[str, Any]) -> list[str]:
    """The same for people."""
    noted = found["noted"]
    when = "" if noted is None else f"; noted {noted}"
    lines = [f"{found['state']}{'' if found['began'] is None else ', begun ' + found['began']}{when}"]
    lines.append(f"queries: {', '.join(found['queries']) or 'none noted'}")
    lines += [f"query {name!r} has stopped: {why}" for name, why in found["stopped"].items()]
    if found["dropped"]:
        lines.append(f"dropped: {', '.join(found['dropped'])}")
    for run, figures in found["streams"].items():
        clock = figures["clock"]
        known = dict(figures) | {"clock": None if clock is None else datetime.fromisoformat(clock).astimezone(UTC)}
        lines.append(line_of(shown_name(run), known))
        if figures.get("restarts"):
            lines.append(f"{shown_name(run)}: {figures['restarts']} restarts")
        if figures.get("last_error"):
            when = datetime.fromtimestamp(figures["last_error"]["at"], UTC).isoformat(timespec="seconds")
            lines.append(f"{shown_name(run)}: last error, {when}: {figures['last_error']['why']}")
        if figures.get("history"):
            left, files = figures["history"]["left"], figures["history"]["files"]
            lines.append(f"{shown_name(run)}: history: {left:,} of {files:,} files left")
        if figures.get("lag"):
            behind = ", ".join(f"{partition} {count:,}" for partition, count in figures["lag"].items())
            lines.append(f"{shown_name(run)}: not read yet: {behind}")
    for streams in found["statistics"].values():
        for stream, own in streams.items():
            lines += [f"{stream}: measured: {line}" for line in StreamStatistics.of(own).lines()]
    last = ", ".join(f"{name} {number}" for name, number in found["batches"].items())
    lines.append(f"last batch: {last or 'none'}; checkpoint {size(found['bytes'])}")
    return lines
