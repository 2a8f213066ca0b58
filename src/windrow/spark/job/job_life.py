"""How a job lives on and ends: dead Spark queries are looked after, somebody waits, and all is let go of at the end."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from windrow.current.html import html_table
from windrow.errors import ChangeError, JobError, SettingsError, StoppedQueriesError
from windrow.places.place import Place
from windrow.spark.job.hold import Hold
from windrow.spark.job.job_view import JobView
from windrow.spark.job.look_after import Caretaker
from windrow.spark.job.recovery import Recovery
from windrow.spark.job.running import Running
from windrow.spark.job.spark_query import finish_batch, stop_all
from windrow.spark.job.watched import Watched

_LOOK = 1.0
"""So many seconds pass at most before a stream that has died is noticed."""


class JobLife(JobView):
    """A job that is waited for and stopped; it holds its checkpoint until it has ended."""

    def __init__(
        self, place: Place, running: Running, watched: Watched, hold: Hold, recovery: Recovery, caretaker: Caretaker
    ) -> None:
        super().__init__(place, running, watched)
        self._hold, self._recovery, self._caretaker = hold, recovery, caretaker
        self._told: set[str] = set()
        self._ending = False
        self._at_end: list[Callable[[], None]] = []
        self._when_over: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        state = "running" if self.is_active else "ended"
        return f"<windrow.Job {state}: {', '.join(self._running.plans) or 'no query'}; checkpoint {self.checkpoint!r}>"

    def _repr_html_(self) -> str:
        """How it is doing, for a notebook: a line a stream."""
        names = ["stream", "events", "events/s", "clock", "batches", "windows", "rejected"]
        rows = [
            [stream, own.events, own.events_per_second, own.clock, own.batches, own.windows, sum(own.rejected.values())]
            for stream, own in self.progress().items()
        ]
        state = "running" if self.is_active else "ended"
        return html_table(names, rows, f"{state}: {', '.join(self._running.plans)}; checkpoint {self.checkpoint}")

    @property
    def is_active(self) -> bool:
        """Whether anything runs, or is about to again; a job that has ended lets go of its checkpoint."""
        with self._lock:
            self._look_after()
            active = self._recovery.waiting or any(query.isActive for query in self._running.queries.values())
            active = active or (self._running.goes_live and not self._ending and not self._recovery.given_up)
            if not active:
                self._hold.release()
            return active

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job ends; raises what has stopped it. False if `timeout` seconds pass before.

        A job ends with its first stream that dies, so none may keep the others from being looked at. Where single
        queries have stopped and the others went on, StoppedQueriesError tells of them when these have ended, once.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._lock:  # not while queries come or go
                self._look_after()
                active = [query for query in self._running.queries.values() if query.isActive]
                for stream, why in self._recovery.given_up.items():
                    if not active:
                        self._hold.release()
                    raise JobError(why) from self._running.queries[stream].exception()
                goes_on = self._recovery.waiting or (self._running.goes_live and not self._ending)
                if not active and not goes_on:
                    self._show_waiting()
                    for over in self._when_over:
                        over()
                    self._hold.release()
                    self._tell_stopped()
                    return True
            left = _LOOK if until is None else until - time.monotonic()
            if left <= 0:
                return False
            patience = max(0.001, min(left, _LOOK))
            if not active:
                time.sleep(patience)
                continue
            with suppress(StreamingQueryException):
                active[0].awaitTermination(patience)  # type: ignore[arg-type] # fractions will do

    def _look_after(self) -> None:
        if not self._ending:
            self._caretaker.look()

    def _tell_stopped(self) -> None:
        untold = {name: why for name, why in self.stopped.items() if name not in self._told}
        self._told |= untold.keys()
        if untold:
            raise StoppedQueriesError(untold)

    def flush(self) -> None:
        """Say that the input has ended: every window that holds an event is answered, full or not, and rows of windows
        without a slide expire.

        A job that has worked off all that was available runs once more for it; a running one does it in its next batch.
        """
        with self._lock:
            self._check_there()
            self._hold.take()
            for stream, run in self._running.runs.items():
                run.flush()
                if stream not in self._running.queries or not self._running.queries[stream].isActive:
                    self._recovery.begin(stream)
                    self._running.restart(stream)

    def stop(self) -> None:
        """End after the batch under way; started again with the same checkpoint, the job goes on from there.

        Raises StoppedQueriesError, when all has ended, if queries have stopped and nobody was told.
        """
        with self._lock:
            self._ending = True
            try:
                for query in self._running.queries.values():
                    finish_batch(query)
                    query.stop()
                self._show_waiting()
            finally:
                self._hold.release()
                for end in self._at_end:
                    end()
            self._tell_stopped()

    def at_end(self, call: Callable[[], None]) -> None:
        """Have `call` done when the job is stopped."""
        self._at_end.append(call)

    def when_over(self, call: Callable[[], None]) -> None:
        """Have `call` done when somebody who waits for the job is told that it has ended by itself."""
        self._when_over.append(call)

    def remove_at_end(self) -> None:
        """Remove the checkpoint, which is temporary, when the job is stopped or forgotten, or the process ends."""
        self._at_end.append(weakref.finalize(self, remove_checkpoint, self._place, self._running.queries))

    def _check_there(self) -> None:
        if not self._place.is_folder():
            raise ChangeError("the job has been stopped, and its temporary checkpoint is gone")

    def _show_waiting(self) -> None:
        """Show the rows that wait for their files to roll; a checkpoint that another job has by now is its own."""
        rolling = [run for run in self._running.runs.values() if run.rolls]
        if rolling and self._place.is_folder():
            with suppress(SettingsError):  # who asked whether the job runs has let go of it
                self._hold.take()
                for run in rolling:
                    run.show_waiting()


def remove_checkpoint(folder: Place, queries: Mapping[str, StreamingQuery]) -> None:
    """Remove a temporary checkpoint; what still ran on it would make it again."""
    stop_all(queries)
    with suppress(OSError):
        folder.delete_folder()
