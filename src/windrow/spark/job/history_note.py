"""What a checkpoint notes of the histories that its streams begin with: until when each goes, and if it is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.errors import SettingsError
from windrow.places.place import Place
from windrow.plan.instants import shown_instant
from windrow.spark.job.checkpoint import read_back, write_whole

NOTE, EMPTY = "history.json", "nothing"
"""The note, and the folder that has no files, in that of a stream."""


class HistoryNote:
    """The histories of the streams that one Spark query reads, which are read before anything else.

    With them Spark has more sources, which a checkpoint knows by their number: so the streams are held to what the
    checkpoint began with.
    """

    def __init__(self, folder: Place, untils: Mapping[str, int]) -> None:
        """`folder` is that of the streams in the checkpoint, `untils` where the histories end that are declared."""
        self._place, self.empty = folder / NOTE, folder / EMPTY
        asked = {stream: shown_instant(until_us).isoformat() for stream, until_us in untils.items()}
        began: dict[str, str] = asked if not (folder / "spark" / "metadata").is_file() else {}
        self.over = not asked
        if self._place.exists():
            noted = read_back(self._place, _as_note)
            began, self.over = noted["until"], noted["over"]
        elif asked and began:
            write_whole(self._place, {"until": asked, "over": False})
        if began != asked:
            raise SettingsError(
                f"the checkpoint began {_told(began)}, and now streams are declared {_told(asked)}"
                "\nhint: declare AFTER and UNTIL as before, or start with a new checkpoint"
            )
        if asked:
            self.empty.make_folder()
            if not self.empty.is_folder():  # where a folder is only there with a file in it; Spark passes this one over
                (self.empty / "_nothing").write(b"")

    def end(self) -> None:
        """Note that all of the histories has been read."""
        write_whole(self._place, read_back(self._place, _as_note) | {"over": True})
        self.over = True


def _told(untils: Mapping[str, str]) -> str:
    named = (f"{stream!r} until {until}" for stream, until in untils.items())
    return f"with the history of {', '.join(named)}" if untils else "without a history"


def _as_note(content: Any) -> dict[str, Any]:
    if not isinstance(content["over"], bool) or not isinstance(content["until"], dict):
        raise ValueError("it says neither until when the history goes nor whether it is over")
    return dict(content)
