"""A job until it ends, or until it is asked to."""

from __future__ import annotations

import signal
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Self

from windrow.cli.view import View
from windrow.errors import StoppedQueriesError

if TYPE_CHECKING:
    from windrow.spark.job.job import Job

LOOK_SECONDS = 0.25


class StopSignals:
    """The first Ctrl-C (or SIGTERM) asks to stop, the second one interrupts whatever is done meanwhile."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._on) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def watch(job: Job, view: View, stop: StopSignals) -> bool:
    """Show how `job` is doing until it ends, which is True, or was stopped, which is False."""
    while not stop.asked:
        try:
            ended = job.wait(LOOK_SECONDS)
        except StoppedQueriesError:  # the view shows them; the others have ended well
            ended = True
        view.show(job.progress())
        if ended:
            return True
    view.say("stopping after this batch; Ctrl-C again stops at once")
    with suppress(StoppedQueriesError):
        job.stop()
    view.show(job.progress())
    return False
