"""How the columns of streams differ from those that a checkpoint has read: no schema changes without a word."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.expressions.types import sql_name
from windrow.places.place import AnyPlace, place_of
from windrow.plan.catalog import Stream
from windrow.spark.job.checkpoint import read_back, write_whole

Columns = dict[str, str]
"""The types of a stream's columns by name, as SQL writes them."""

_NOTE = "streams.json"


def columns_of_streams(streams: Mapping[str, Stream]) -> dict[str, Columns]:
    """The columns of each stream, as they are compared."""
    return {name: {field.name: sql_name(field.type) for field in stream.schema} for name, stream in streams.items()}


def noted_streams(checkpoint: AnyPlace) -> dict[str, Columns]:
    """The columns of the streams when the checkpoint was last started; none where nobody has written that down."""
    place = place_of(checkpoint) / _NOTE
    return read_back(place, _as_noted) if place.exists() else {}


def note_streams(checkpoint: AnyPlace, streams: Mapping[str, Columns]) -> None:
    """Write down what is declared, to be compared at the next start."""
    write_whole(place_of(checkpoint) / _NOTE, {name: dict(columns) for name, columns in streams.items()})


def stream_drift(before: Mapping[str, Columns], now: Mapping[str, Columns]) -> list[str]:
    """What differs, a sentence for each stream that was there.

    >>> stream_drift({"tx": {"n": "INT", "card": "STRING"}}, {"tx": {"n": "BIGINT", "shop": "STRING"}})
    ["stream 'tx' has changed: n is BIGINT, before INT; shop STRING is new; card STRING is gone"]
    """
    told = []
    for name, columns in now.items():
        known = before.get(name, columns)
        parts = [
            f"{column} is {kind}, before {known[column]}"
            for column, kind in columns.items()
            if known.get(column, kind) != kind
        ]
        parts += [f"{column} {kind} is new" for column, kind in columns.items() if column not in known]
        parts += [f"{column} {kind} is gone" for column, kind in known.items() if column not in columns]
        if parts:
            told.append(f"stream {name!r} has changed: {'; '.join(parts)}")
    return told


def _as_noted(content: object) -> dict[str, Columns]:
    if not isinstance(content, dict) or not all(isinstance(columns, dict) for columns in content.values()):
        raise ValueError("these are no streams")
    return content
