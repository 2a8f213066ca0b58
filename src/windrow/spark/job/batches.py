"""What Spark's own logs in a checkpoint say of a batch: when it began, and whether it is done."""

from __future__ import annotations

import json
import os


def instant_of(folder: str, batch: int) -> int:
    """When a batch began, in microseconds; one that runs again has begun when it first did.

    Spark writes it into the log of offsets before a batch runs. `folder` is the stream's in the checkpoint.
    """
    with open(os.path.join(folder, "spark", "offsets", str(batch)), encoding="utf-8") as file:
        said = file.read().splitlines()[1]
    return int(json.loads(said)["batchTimestampMs"]) * 1000


def last_committed(folder: str) -> int:
    """The last batch that is done; -1 if none is."""
    commits = os.path.join(folder, "spark", "commits")
    names = os.listdir(commits) if os.path.isdir(commits) else []
    return max((int(name) for name in names if name.isdigit()), default=-1)
