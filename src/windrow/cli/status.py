"""`windrow status`: how a job is doing, or did when it ended, by its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import typer

from windrow.cli.figures import rows_of, shown_name, size
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.plan.nodes.run_names import streams_in
from windrow.plan.stream_statistics import StreamStatistics
from windrow.spark.job.status import status_of

MEASURED = 3
"""So many lines of what was measured of a stream are told."""


def tell_status(checkpoint: str, options: dict[str, str], as_json: bool) -> None:
    """Print what the checkpoint tells of its job."""
    found = status_of(place_of(checkpoint, settings_outside_spark(options)))
    typer.echo(json.dumps(found, indent=2) if as_json else "\n".join(lines_of(found)))


def lines_of(found: dict[str, Any]) -> list[str]:
    """The same for people: what is told of each stream stands below its name."""
    began = "" if found["began"] is None else f", begun {_instant(found['began'])}"
    noted = "" if found["noted"] is None else f"; noted {_instant(found['noted'])}"
    lines = [f"{found['state']}{began}{noted}", f"queries: {', '.join(found['queries']) or 'none noted'}"]
    lines += [f"query {name!r} has stopped: {why}" for name, why in found["stopped"].items()]
    if found["dropped"]:
        lines.append(f"dropped: {', '.join(found['dropped'])}")
    batches, measured = dict(found["batches"]), _measured(found["statistics"])
    for run, figures in found["streams"].items():
        rows = [*_rows_of_stream(figures), ("last batch", _batch(batches.pop(run, -1)))]
        for stream in streams_in(run):
            rows += zip(("measured", *[""] * MEASURED), measured.pop(stream, []))
        lines += [shown_name(run), *(f"  {name:<12} {told}" for name, told in rows)]
    for stream, told in measured.items():
        lines += [f"{stream}: measured: {line}" for line in told]
    lines += [f"{shown_name(run)}: last batch {_batch(number)}" for run, number in batches.items()]
    lines.append(f"checkpoint: {size(found['bytes'])}")
    return lines


def _rows_of_stream(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    clock = figures["clock"]
    known = dict(figures) | {"clock": None if clock is None else datetime.fromisoformat(clock).astimezone(UTC)}
    yield from rows_of(known).items()
    if figures.get("restarts"):
        yield "restarts", f"{figures['restarts']}"
    if figures.get("last_error"):
        when = datetime.fromtimestamp(figures["last_error"]["at"], UTC)
        yield "last error", f"{_instant(when.isoformat())}: {figures['last_error']['why']}"
    if figures.get("history"):
        yield "history", f"{figures['history']['left']:,} of {figures['history']['files']:,} files left"
    if figures.get("lag"):
        yield "not read yet", ", ".join(f"{partition} {count:,}" for partition, count in figures["lag"].items())


def _measured(statistics: Mapping[str, Any]) -> dict[str, list[str]]:
    """The first of what was measured of each stream: its rate and its order."""
    found: dict[str, list[str]] = {}
    for streams in statistics.values():
        for stream, own in streams.items():
            told = StreamStatistics.of(own).lines()
            more = [f"and {len(told) - MEASURED} more, with --json"] if len(told) > MEASURED + 1 else []
            found.setdefault(stream, []).extend(told[:MEASURED] + more if more else told)
    return found


def _batch(number: int) -> str:
    """
    >>> _batch(4), _batch(-1)
    ('4', 'none yet')
    """
    return str(number) if number >= 0 else "none yet"


def _instant(iso: str) -> str:
    """
    >>> _instant("2026-11-19T22:04:37.047+00:00")
    '2026-11-19 22:04:37 UTC'
    """
    return f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
