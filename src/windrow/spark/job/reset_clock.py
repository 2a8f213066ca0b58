"""Who may set the clock of a stream back: of a job that runs, and in the checkpoint of one that does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from urllib.parse import unquote

from windrow.errors import ChangeError, SettingsError
from windrow.places.place import AnyPlace, place_of
from windrow.plan.instants import read_instant, shown_instant
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.run_names import CHANGES_OF
from windrow.plan.timing import Timing
from windrow.runtime.payload import RESET
from windrow.spark.job.file_names import folder_of
from windrow.spark.job.hold import check_free
from windrow.spark.job.words import CONTROL, control_folder, say
from windrow.spark.sources.heartbeat import timing_in


def check_goes_back(
    stream: str, to_us: int, queries: Iterable[QueryPlan | ChangePlan], streams: Sequence[str], clock: datetime | None
) -> None:
    """Refuse to set a clock back that is not there, or not so far yet, or that queries read which cannot go back."""
    changing = [q.name for q in queries if stream in q.sources and not q.rewinds]
    if changing:
        raise ChangeError(_cannot(", ".join(changing)))
    if stream not in streams:
        raise SettingsError(f"there is no stream {stream!r}\nhint: running are {', '.join(streams)}")
    if clock is not None and shown_instant(to_us) >= clock:
        raise ChangeError(f"the clock of stream {stream!r} is at {clock:%Y-%m-%d %H:%M:%S}, and can only be set back")


def check_timing(stream: str, timing: Timing) -> None:
    """Refuse to set back what goes by the wall clock."""
    if timing is Timing.ARRIVAL:
        raise ChangeError(f"stream {stream!r} is timed by arrival: its clock is the wall clock")


def reset_stopped(checkpoint: AnyPlace, stream: str, to: str) -> None:
    """Leave the word in the checkpoint of a job that does not run: it finds it when it is started again."""
    to_us = read_instant(to)
    check_free(checkpoint)
    folders = sorted(place.name for place in place_of(checkpoint).entries() if (place / CONTROL).is_folder())
    own = folder_of(checkpoint, stream).name
    changing = [name for name in folders if name != own and stream in _streams_of(name)]
    if changing:
        raise ChangeError(_cannot(f"the checkpoint has queries over changes of {stream!r}"))
    if own not in folders:
        known = ", ".join(name for name in folders if not _streams_of(name)) or "none"
        raise SettingsError(f"the checkpoint has no stream {stream!r}\nhint: it has {known}")
    timing = place_of(checkpoint) / own / "timing"
    if timing.exists():
        check_timing(stream, timing_in(timing))
    say(control_folder(checkpoint, stream), RESET, to_us)


def _streams_of(folder: str) -> list[str]:
    """The streams of queries over changes, whose folder is named by them; of others none."""
    named = unquote(folder.rpartition("~")[0] or folder)  # as it was before it became the name of a folder
    found = re.fullmatch(rf"{CHANGES_OF}(?:\d+-)?(.+)", named)
    return [unquote(name) for name in found[1].split("+")] if found else []


def _cannot(what: str) -> str:
    return (
        f"{what}: the clock of joins, set operators, DISTINCT, windows without SLIDE, windows over windows and streams"
        " with CORRECT FOR cannot be set back"
        "\nhint: drop these queries while the job runs, or start with a new checkpoint"
    )
