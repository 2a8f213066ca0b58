"""How a job is doing, or did when it ended, from what its checkpoint holds: nothing is written, and nobody is asked."""

from __future__ import annotations

from typing import Any

from windrow.errors import SettingsError
from windrow.places.place import AnyPlace, place_of
from windrow.spark.job.batches import last_committed
from windrow.spark.job.checkpoint import QueryEdits, read_back
from windrow.spark.job.hold import check_free
from windrow.spark.job.statistics import kept_statistics
from windrow.spark.job.status_note import STATUS


def status_of(checkpoint: AnyPlace) -> dict[str, Any]:
    """What is known of the job of a checkpoint.

    `state` is running, stopped (it was asked to), ended (its input was worked off, or it died in good order) or killed;
    `streams` are the figures that it last noted, each with its last committed batch. Sizes are of files in the
    checkpoint.
    """
    place = place_of(checkpoint)
    if not (place / "windrow.json").exists():
        raise SettingsError(f"{checkpoint} is no checkpoint of a job\nhint: the folder that --checkpoint named")
    noted = read_back(place / STATUS, dict) if (place / STATUS).exists() else {}
    edits = QueryEdits.read(place)
    found = {
        "checkpoint": str(place),
        "state": _state(place, noted),
        "began": noted.get("began"),
        "noted": noted.get("written"),
        "queries": noted.get("queries", []),
        "stopped": dict(edits.stopped),
        "dropped": list(edits.dropped),
        "streams": noted.get("streams", {}),
        "statistics": {
            run: {name: own.to_dict() for name, own in streams.items()}
            for run, streams in kept_statistics(place).items()
        },
        "batches": {},
        "bytes": 0,
    }
    for entry in place.listed():
        folder = place.at(entry)
        if entry.is_folder and (folder / "spark" / "commits").exists():
            found["batches"][folder.name] = last_committed(folder)
    found["bytes"] = sum(file.size for file in place.files_below())
    return found


def _state(place: AnyPlace, noted: dict[str, Any]) -> str:
    try:
        check_free(place)
    except SettingsError:
        return "running"
    said = noted.get("state", "unknown")
    return "killed" if said == "running" else str(said)
