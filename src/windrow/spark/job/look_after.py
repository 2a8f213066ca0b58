"""What becomes of a Spark query that dies: it is started again, perhaps without queries that failed, or given up."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from windrow.errors import JobError
from windrow.places.place import Place
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.culprits import culprits
from windrow.spark.job.recovery import ISOLATE, Recovery
from windrow.spark.job.running import Aside, Running
from windrow.spark.job.spark_query import reason
from windrow.spark.job.watched import Watched

LOGGER = logging.getLogger("windrow")

_OUT_OF_ORDER = (
    "its files are read in the order of their modification, and these lay further back than the lateness"
    "\nhint: a longer LATENESS, or larger batches (maxFilesPerTrigger): within one order does not matter"
)


class Caretaker:
    """Looks after what runs, whenever somebody asks for it.

    `aside` gets the queries that have stopped: they may come back.
    """

    def __init__(
        self, running: Running, recovery: Recovery, aside: dict[str, Aside], place: Place, watched: Watched
    ) -> None:
        self._running, self._recovery, self._aside = running, recovery, aside
        self._place, self._watched = place, watched

    def look(self) -> None:
        """Start again what has died of what passes, and go on without queries that have failed."""
        for stream, query in list(self._running.queries.items()):
            if stream in self._recovery.given_up:
                continue
            if self._recovery.waits(stream):
                if self._recovery.is_due(stream):
                    self._begin(stream)
                continue
            error = query.exception()
            if error is None and not query.isActive and self._running.runs[stream].in_history:
                self._go_live(stream, query)
            elif error is not None:
                if not self._mended(stream, query, error):
                    self._give_up(stream, reason(error))
            elif query.isActive and self._recovery.hung.hangs(stream, partial(self._running.runs[stream].mark, query)):
                why = f"no task has ended for {self._recovery.task_timeout}: one hangs"
                query.stop()
                if not self._comes_back(stream, query, why):
                    self._give_up(stream, why)

    def _go_live(self, stream: str, query: StreamingQuery) -> None:
        """Go on with a stream whose history has been read, or with what has come to its history meanwhile."""
        try:
            if self._running.runs[stream].past_history(query):
                LOGGER.info("the history of %s has been read, and the stream itself is read from here on", stream)
                if late := self._watched.late(stream):
                    LOGGER.warning("%d events of the history of %s were late: %s", late, stream, _OUT_OF_ORDER)
            self._running.restart(stream)
        except JobError as error:
            self._give_up(stream, str(error))

    def _give_up(self, stream: str, why: str) -> None:
        self._watched.failed(stream, why)
        self._recovery.give_up(stream, why)

    def _comes_back(self, stream: str, query: StreamingQuery, why: str) -> bool:
        """Whether a Spark query is started again after a pause, from its checkpoint: it may pass."""
        if not self._recovery.pause(stream, progressed=query.lastProgress is not None):
            return False
        self._watched.restarted(stream)
        self._watched.failed(stream, why)
        LOGGER.warning("a batch over %s was lost, and runs again: %s", stream, why)
        return True

    def _mended(self, stream: str, query: StreamingQuery, error: StreamingQueryException) -> bool:
        """Whether the job goes on after a Spark query of it has died."""
        cause, why = cause_of(str(error)), reason(error)
        if cause is Cause.QUERY and self._recovery.on_error == ISOLATE and len(self._running.plans) > 1:
            own = [plan for plan in self._running.plans.values() if plan.run == stream]
            failing = culprits(str(error), own, lambda queries: self._running.run_with(stream, queries).fails())
            if failing and (len(failing) < len(own) or len(own) == 1):
                self._isolate(stream, failing, why)
                return True
            cause = Cause.JOB if failing else Cause.PASSING  # all fail, or none any more
        return cause is Cause.PASSING and self._comes_back(stream, query, why)

    def _isolate(self, stream: str, names: Sequence[str], why: str) -> None:
        """Go on without queries that have failed; the checkpoint knows it before the batch runs again without them."""
        running = self._running
        changes = QueryEdits.read(self._place)
        changes.stopped |= dict.fromkeys(names, why)
        changes.write(self._place)
        for name in names:
            self._aside[name] = running.plans.pop(name), running.sinks.pop(name)
            self._watched.query_stopped(stream, name, why)
            self._watched.failed(stream, why)
            LOGGER.error("query %r has stopped, the others go on: %s", name, why)
        heirs = running.heirs(stream)
        for heir in heirs:
            running.stop(heir)
        running.stop(stream)
        for one in (*heirs, stream):
            self._begin(one)
        if stream in running.runs:  # it begins anew when it comes back; alone in its stream, it would go on
            for name in names:
                running.planner.forget(name)

    def _begin(self, stream: str) -> None:
        self._recovery.begin(stream)
        self._running.begin_anew(stream)
