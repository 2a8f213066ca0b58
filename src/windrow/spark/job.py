"""A running job: one Spark query a stream, all its results written to their sinks."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from windrow.errors import JobError, SettingsError
from windrow.plan.pipeline import StreamPlan
from windrow.plan.sink import Sink
from windrow.runtime.payload import FLUSH
from windrow.spark.heartbeat import keep_timing
from windrow.spark.pipeline import Source, packed_results
from windrow.spark.progress import Progress
from windrow.spark.rejected import rejected_rows
from windrow.spark.results import typed_results
from windrow.spark.sinks import Writer, writer_for

Trigger = str | Mapping[str, Any] | None
_COMPLAINT = re.compile(r"^(?:Caused by: |: )?(?:[\w$]+\.)*(\w+(?:Error|Exception): .+)$", re.MULTILINE)
_LOOK = 1.0
"""So many seconds pass at most before a stream that has died is noticed."""


class Job:
    """Queries that run together. `progress` tells how they are doing, `stop` ends them after the batch under way."""

    def __init__(self, runs: Sequence[StreamRun], trigger: Trigger) -> None:
        self._runs, self._trigger = list(runs), trigger
        self._progress = Progress(live="availableNow" not in as_trigger(trigger))
        self._queries = [run.start(trigger, self._progress) for run in self._runs]

    def progress(self) -> dict[str, Any]:
        """How far each stream has come, and where its time goes."""
        return self._progress.snapshot()

    @property
    def is_active(self) -> bool:
        return any(query.isActive for query in self._queries)

    def stop(self) -> None:
        """End after the batch under way; started again with the same checkpoint, the job goes on from there."""
        for query in self._queries:
            _finish_batch(query)
            query.stop()

    def flush(self) -> None:
        """Say that the input has ended: every window that holds an event is answered, full or not.

        A job that has worked off all that was available runs once more for it; a running one does it in its next batch.
        """
        for i, run in enumerate(self._runs):
            run.flush()
            if not self._queries[i].isActive:
                self._queries[i] = run.start(self._trigger, self._progress)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job ends; raises what has stopped it. False if `timeout` seconds pass before.

        A job ends with its first stream that dies, so none may keep the others from being looked at.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            active = [query for query in self._queries if query.isActive]
            for query in self._queries:
                error = query.exception()
                if error is not None:
                    raise JobError(reason(error)) from error
            if not active:
                return True
            left = _LOOK if until is None else until - time.monotonic()
            if left <= 0:
                return False
            with suppress(StreamingQueryException):
                active[0].awaitTermination(max(0.001, min(left, _LOOK)))  # type: ignore[arg-type] # fractions will do


def _finish_batch(query: StreamingQuery) -> None:
    """Wait until the batch under way is committed: Spark's own `stop` would cancel it."""
    last = _batches_done(query)
    while query.isActive and query.status["isTriggerActive"] and _batches_done(query) == last:
        time.sleep(0.02)


def _batches_done(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return -1 if progress is None else progress["batchId"]


def reason(error: StreamingQueryException) -> str:
    """Why a job has stopped, in a line or two: the file that could not be read, or the innermost complaint."""
    text = str(error)
    file = re.search(r"Encountered error while reading file (\S+?)\.? ", text)
    if file:
        return f"the file {file.group(1)} cannot be read; remove it or mend it, and start the job again"
    own = re.search(r"windrow\.errors\.\w+: (.+)", text)
    if own:
        return own.group(1)
    complaints = _COMPLAINT.findall(text.split("=== Streaming Query ===")[0])
    return complaints[-1] if complaints else text.strip().split("\n")[0]


class StreamRun:
    """One stream of a job: its plan, its source, its folder in the checkpoint, and where its results go."""

    def __init__(
        self,
        spark: SparkSession,
        plan: StreamPlan,
        source: Source,
        checkpoint: str,
        writers: Mapping[str, Writer],
        rejected: Writer | None,
        shards: int,
    ) -> None:
        self._spark, self._plan, self._source, self._shards = spark, plan, source, shards
        self._folder = os.path.join(checkpoint, plan.stream)
        self._control = os.path.join(self._folder, "control")
        os.makedirs(self._control, exist_ok=True)
        keep_timing(self._folder, plan)
        self._writers, self._rejected = writers, rejected

    def start(self, trigger: Trigger, progress: Progress) -> StreamingQuery:
        control = self._spark.readStream.schema("value STRING").text(self._control)
        packed = packed_results(self._source, self._plan, self._shards, control)

        def write(batch: DataFrame, number: int) -> None:
            with progress.writing(self._plan.stream):
                self._write(batch, number)

        writing = packed.writeStream.foreachBatch(write).queryName(f"windrow {self._plan.stream}")
        query = (
            writing.option("checkpointLocation", os.path.join(self._folder, "spark"))
            .trigger(**as_trigger(trigger))
            .start()
        )
        progress.watch(self._plan.stream, query, os.path.abspath(self._control))
        return query

    def flush(self) -> None:
        """Say to all shards that the input has ended: the next run closes every window that holds an event."""
        name = f"{len(os.listdir(self._control)):09d}.txt"
        hidden = os.path.join(self._control, f".{name}")  # Spark passes over it until it is whole
        with open(hidden, "w") as file:
            file.write(FLUSH)
        os.replace(hidden, os.path.join(self._control, name))

    def _write(self, batch: DataFrame, number: int) -> None:
        """Write each query's rows; the batch is computed once, whoever reads it."""
        count = len(self._writers) + (self._rejected is not None)
        if count > 1:
            batch = batch.persist()
        try:
            for query in self._plan.queries:
                self._writers[query.name].write(typed_results(batch, query), number)
            if self._rejected is not None:
                self._rejected.write(rejected_rows(batch, self._plan.stream), number)
        finally:
            if count > 1:
                batch.unpersist()


@dataclass(frozen=True, slots=True)
class Kept:
    """What a checkpoint fixes when it is made: the name that its files bear, and into how many shards state is cut."""

    job: str
    shards: int


def kept_in(checkpoint: str, shards: int) -> Kept:
    """What `checkpoint` has fixed; a new one takes a new name and `shards`."""
    os.makedirs(checkpoint, exist_ok=True)
    place = os.path.join(checkpoint, "windrow.json")
    if os.path.exists(place):
        with open(place) as file:
            return Kept(**json.load(file))
    kept = Kept(uuid.uuid4().hex[:8], shards)
    with open(place + ".new", "w") as file:
        json.dump(asdict(kept), file)
    os.replace(place + ".new", place)
    return kept


def as_trigger(trigger: Trigger) -> dict[str, Any]:
    """Spark's trigger: 'available now', an interval such as '5 seconds', or Spark's own keywords.

    >>> as_trigger("available now"), as_trigger("5 seconds")
    ({'availableNow': True}, {'processingTime': '5 seconds'})
    """
    if trigger is None:
        return {"processingTime": "0 seconds"}
    if isinstance(trigger, Mapping):
        return dict(trigger)
    if trigger.lower().replace("_", " ").replace("availablenow", "available now") == "available now":
        return {"availableNow": True}
    if not trigger[:1].isdigit():
        raise SettingsError(f"unknown trigger {trigger!r}: 'available now', or an interval such as '5 seconds'")
    return {"processingTime": trigger}


def writers_for(sinks: Mapping[str, Sink], names: Sequence[str], job: str, spark: SparkSession) -> dict[str, Writer]:
    """The writer of each query; every query needs a sink."""
    missing = [name for name in names if name not in sinks]
    if missing:
        raise SettingsError(
            f"no sink for {', '.join(missing)}: sinks={{'{missing[0]}': windrow.sink('parquet', path=...)}}"
        )
    return {name: writer_for(name, sinks[name], job, spark) for name in names}
