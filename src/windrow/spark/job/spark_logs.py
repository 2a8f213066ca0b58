"""Spark's own logs and state in the checkpoint of a stream, brought to another one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from windrow.errors import StateError
from windrow.places.place import Place

_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def copy_logs(old: Place, new: Place, batch: int, settings: Mapping[str, str]) -> None:
    """Let `new` go on after `batch` where `old` was, with other `settings`, which Spark keeps with the offsets.

    A batch that was begun and not finished begins again, with the same offsets: sinks may have seen it.
    """
    for log in ("offsets", "commits", "sources"):
        (new / log).delete_folder()
    copy_all(old / "sources", new / "sources")
    (new / ".metadata.crc").delete()  # Hadoop's checksum, of the file that is replaced
    (old / "metadata").copy(new / "metadata")
    for log in ("offsets", "commits"):
        (new / log).make_folder()
    for number in (batch - 1, batch, batch + 1):  # Spark also looks at where the last batch began
        place = old / "offsets" / str(number)
        if place.is_file():
            (new / "offsets" / str(number)).write(_with(place.read(), settings))
    (old / "commits" / str(batch)).copy(new / "commits" / str(batch))


def move_state(spark: Place, batch: int) -> None:
    """Let state that batch 0 has written be that of `batch`: Spark calls it by the number of the next one."""
    for place in [spark.at(entry) for entry in (spark / "state").files_below()]:
        name, dot, rest = place.name.partition(".")
        if _is_checksum(place):  # of a file that may get another name
            place.delete()
        elif name == "1" and dot:
            place.move(place.parent / f"{batch + 1}.{rest}")


def _with(offsets: bytes, settings: Mapping[str, str]) -> bytes:
    """Offsets with other settings: the second line has them, as JSON."""
    lines = offsets.decode().split("\n")
    told = json.loads(lines[1])
    if told.get("conf", {}).get(_FORMAT, "1") != "1":
        raise StateError(f"the checkpoint was made with {_FORMAT}={told['conf'][_FORMAT]}: only 1 can be resharded")
    told["conf"] |= settings
    return "\n".join([lines[0], json.dumps(told), *lines[2:]]).encode()


def copy_all(place: Place, to: Place) -> None:
    """Copy a file, or a folder with all that is in it; checksums that Hadoop keeps beside files do not go along."""
    if place.is_file():
        if not _is_checksum(place):
            place.copy(to)
        return
    to.make_folder()
    for entry in place.entries():
        copy_all(entry, to / entry.name)


def _is_checksum(place: Place) -> bool:
    return place.name.startswith(".") and place.name.endswith(".crc")
