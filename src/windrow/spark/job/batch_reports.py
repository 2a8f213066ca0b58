"""What Spark tells of batches that have run: only what was not read before, and each report by one call to the JVM.

PySpark's `recentProgress` builds the reports of the last hundred batches anew whenever it is asked, with some hundred
calls to the JVM for each of them; a job that is watched, noted and scraped asks every second.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

_RAN = "addBatch"
"""What Spark has timed of each batch that ran: while nothing comes, it tells of the next batch before it runs."""


class BatchReports:
    """The reports of one Spark query, in the order of its batches."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._idle: tuple[int, str] | None = None

    def after(self, seen: int) -> list[Any]:
        """The reports of batches that have run and have a greater number than `seen`."""
        running: Any = getattr(self._query, "_jsq", None)
        if running is None:  # behind Spark Connect there is no JVM to ask
            every = (report for report in self._query.recentProgress if report["batchId"] > seen)
            return [report for report in every if _RAN in report["durationMs"]]
        last = running.lastProgress()
        newest = (-1, "") if last is None else (last.batchId(), last.timestamp())
        if newest[0] <= seen or newest == self._idle:
            return []
        found = []
        for report in reversed(list(running.recentProgress())):
            if report.batchId() <= seen:
                break
            if report.durationMs().containsKey(_RAN):
                found.append(json.loads(report.json()))
        self._idle = None if found else newest
        return found[::-1]


def last_number(query: StreamingQuery) -> int:
    """The number of the batch that Spark has told of last, -1 before the first."""
    running: Any = getattr(query, "_jsq", None)
    if running is None:
        told = query.lastProgress
        return -1 if told is None else told["batchId"]
    last = running.lastProgress()
    return -1 if last is None else int(last.batchId())
