"""What Spark's own logs in a checkpoint say of a batch: when it began, and whether it is done."""

from __future__ import annotations

import json
from typing import Any

from windrow.places.place import AnyPlace, place_of


def instant_of(folder: AnyPlace, batch: int) -> int:
    """When a batch began, in microseconds; one that runs again has begun when it first did.

    Spark writes it into the log of offsets before a batch runs. `folder` is the stream's in the checkpoint.
    """
    log = place_of(folder) / "spark" / "offsets" / str(batch)
    said = log.read().decode("utf-8").splitlines()[1]
    return int(json.loads(said)["batchTimestampMs"]) * 1000


def offsets_of(folder: AnyPlace, batch: int) -> list[Any]:
    """Up to where a batch reads each source, in their order, as Spark writes it; None where that is no JSON."""
    log = place_of(folder) / "spark" / "offsets" / str(batch)
    said = log.read().decode("utf-8").splitlines()[2:]
    return [json.loads(line) if line.startswith("{") else None for line in said]


def last_begun(folder: AnyPlace) -> int:
    """The last batch that was begun; -1 if none was."""
    names = (place_of(folder) / "spark" / "offsets").names()
    return max((int(name) for name in names if name.isdigit()), default=-1)


def last_committed(folder: AnyPlace) -> int:
    """The last batch that is done; -1 if none is."""
    names = (place_of(folder) / "spark" / "commits").names()
    return max((int(name) for name in names if name.isdigit()), default=-1)
