"""Tasks that hang: Spark waits for them for ever, so somebody has to look whether anything moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.spark.connect import is_connect

TASK_TIMEOUT = "10 minutes"
LOOKS = 20
"""So often it is looked, while a timeout passes."""


@dataclass(slots=True)
class Hangs:
    """Since when nothing has moved in the batch of each stream.

    To look asks Spark about all its tasks, and a job is asked often whether it runs: it looks a few times a timeout.

    >>> clock, marks = iter([0.0, 0.1, 5.0, 11.0, 12.0]), iter([(1, 0), (1, 0), (1, 0), (1, 1)])
    >>> hangs = Hangs(10.0, lambda: next(clock))
    >>> [hangs.hangs("ticks", lambda: next(marks)) for _ in range(5)]
    [False, False, False, True, False]
    """

    seconds: float
    now: Callable[[], float] = time.monotonic
    _marks: dict[str, tuple[Hashable, float]] = field(default_factory=dict)
    _looked: dict[str, float] = field(default_factory=dict)

    def hangs(self, stream: str, look: Callable[[], Hashable | None]) -> bool:
        """Whether what `look` gives, which changes whenever a task ends, is the same for too long; None is no task."""
        now = self.now()
        if now - self._looked.get(stream, -self.seconds) < self.seconds / LOOKS:
            return False
        self._looked[stream] = now
        mark, before = look(), self._marks.get(stream)
        if mark is None or before is None or before[0] != mark:
            self._marks[stream] = (mark, now)
            return False
        return now - before[1] >= self.seconds

    def forget(self, stream: str) -> None:
        self._marks.pop(stream, None)
        self._looked.pop(stream, None)


def mark_of(spark: SparkSession, query: StreamingQuery) -> Hashable | None:
    """What changes whenever a task of the batch under way begins or ends; None where no task runs.

    Spark Connect tells nobody of its tasks: there, none is found to hang.
    """
    if is_connect(spark):
        return None
    tracker = spark.sparkContext.statusTracker()
    stages = []
    for job in sorted({*tracker.getActiveJobsIds()} & {*tracker.getJobIdsForGroup(str(query.runId))}):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            seen = tracker.getStageInfo(stage)
            if seen is not None and seen.numActiveTasks:
                stages.append((stage, seen.currentAttemptId, seen.numActiveTasks, seen.numCompletedTasks))
    return tuple(stages) or None
