"""Bringing a query back in the checkpoint of a job that does not run: its next start runs it again."""

from __future__ import annotations

from windrow.errors import ChangeError
from windrow.places.place import AnyPlace
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.hold import check_free
from windrow.spark.sinks.answer_files import forget_answers


def bring_back(checkpoint: AnyPlace, name: str) -> None:
    """Have the next job on `checkpoint` run a query that was dropped or has stopped."""
    check_free(checkpoint)
    edits = QueryEdits.read(checkpoint)
    was_dropped = name in edits.dropped
    if not edits.bring_back(name):
        known = sorted({*edits.dropped, *edits.stopped})
        raise ChangeError(f"there is no query {name!r} to bring back\nhint: there are {', '.join(known) or 'none'}")
    if was_dropped:  # its state was deleted
        forget_answers(checkpoint, name)
    edits.write(checkpoint)
