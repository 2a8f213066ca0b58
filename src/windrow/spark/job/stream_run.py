"""One stream of a job: the Spark query that runs over it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.errors import ChangeError, JobError, SettingsError
from windrow.places.place import Place
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.runtime.payload import FLUSH, RESET
from windrow.spark.connect import is_connect
from windrow.spark.job.batches import instant_of, last_begun, last_committed, offsets_of
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.job.checkpoint import not_writable
from windrow.spark.job.checkpoint_files import write_quickly
from windrow.spark.job.file_names import folder_of
from windrow.spark.job.hangs import mark_of
from windrow.spark.job.history_note import HistoryNote
from windrow.spark.job.plain_plans import without_code
from windrow.spark.job.reports import Reports
from windrow.spark.job.served_batch import ServedBatch
from windrow.spark.job.shedding import Shedding
from windrow.spark.job.state_at import stored_state_at
from windrow.spark.job.table_editions import keep_editions
from windrow.spark.job.watched import Watched
from windrow.spark.job.words import control_folder, make_control, say
from windrow.spark.sinks.covered import Coverage
from windrow.spark.sinks.deliver import Delivery
from windrow.spark.sinks.keep_answers import Keeping
from windrow.spark.sinks.writers import AnyWriter
from windrow.spark.sources.absent import absent_in_files
from windrow.spark.sources.asked import BY_NAME, asked_of, columns_of
from windrow.spark.sources.heartbeat import keep_timing
from windrow.spark.sources.history import FilesLeft, Turn, turned
from windrow.spark.sources.kafka_broker import lost_messages
from windrow.spark.sources.missing_files import MISSING_SETTING, count_missing, has_files_of
from windrow.spark.sources.read import spark_reason
from windrow.spark.sources.source import Topics
from windrow.spark.stages.pipeline import Sources, finishes_here, packed_results, ways_of
from windrow.spark.stages.same_version import told_of_windrow
from windrow.spark.stages.slide import Finishes

Trigger = str | Mapping[str, Any] | None
_ALL_THERE = "available now"
_TRIED = "tried"
_TRIES = 3


class StreamRun:
    """One stream of a job: its plan, its source, its folder in the checkpoint, and where its results go."""

    def __init__(
        self,
        spark: SparkSession,
        plan: StagePlan,
        sources: Sources,
        checkpoint: Place,
        writers: Mapping[str, AnyWriter],
        rejected: Mapping[str, AnyWriter],
        shards: int,
        run: str,
        job: str,
        may_commit: Callable[[], None] = lambda: None,
        keeping: Callable[[Coverage], Keeping] | None = None,
    ) -> None:
        """`rejected` are writers by stream; `run` is the name under which workers keep its shards in memory.

        `job` tells its Spark query from that of another job over the same stream. `may_commit` raises if another job
        has taken the checkpoint over. `keeping` makes who keeps the current answers.
        """
        self._name = f"windrow {plan.run} ({job})"
        self._spark, self.plan, self._sources, self._shards, self._run = spark, plan, sources, shards, run
        self._folder = folder_of(checkpoint, plan.run)
        self._control = control_folder(checkpoint, plan.run)
        try:
            self._folder.make_folder()
            make_control(self._control)
        except OSError as error:
            raise not_writable(self._folder, error) from error
        for stream in plan.stages[0].read:
            keep_timing(self._folder, stream, together=len(plan.stages[0].read) > 1)
        past = {stream.stream: sources[stream.stream] for stream in plan.stages[0].read}
        untils = {name: source.until_us for name, source in past.items() if source.history is not None}
        self._history = HistoryNote(self._folder, untils)
        self._has_history = bool(untils)
        self._left: FilesLeft | None = None
        covered = Coverage(spark)
        kept = None if keeping is None else keeping(covered)
        self._shedding: Shedding | None = None
        self._delivery = Delivery(spark, plan.queries, writers, rejected, may_commit, kept, covered)

    def start(self, trigger: Trigger, watched: Watched) -> StreamingQuery:
        write_quickly(self._spark, self._folder)
        served = is_connect(self._spark)
        finishing = self._delivery.in_slide(finishes_here(self.plan) and not served)
        ways = self._ways()
        by_name, all_by_name = BY_NAME in ways, all(way == BY_NAME for way in ways)
        self._shedding = self._sheds(is_live(trigger) and not self.in_history)
        left = self._left = FilesLeft(self._spark, self.plan, self._sources, self._folder) if self.in_history else None
        packed = self._packed(self._run, finishing)
        asked = self._asked_columns()
        started: Future[StreamingQuery] = Future()
        shedding = self._shedding
        if not self.in_history:
            watched.lose(self.plan.run, self._lost())
        self._delivery.begin()
        self._delivery.forget_others(self._folder, last_committed(self._folder), self._spark)

        def write(batch: DataFrame, number: int) -> None:
            with watched.writing(self.plan.run):
                missing = count_missing(started.result(), batch.sparkSession.conf.get(MISSING_SETTING, None))
                instant = instant_of(self._folder, number) if self._delivery.rolls else 0
                flushed = self._delivery.sees_the_end and has_files_of(started.result(), self._control.for_spark)
                rows = self._delivery.write(batch, number, instant, flushed=flushed)
                watched.miss(self.plan.run, missing)
                watched.lack(self.plan.run, None if all_by_name else absent_in_files(started.result(), asked))
                if shedding is not None:
                    shedding.after(number, watched.left_us(self.plan.run), watched.recent(self.plan.run))
                    watched.take(self.plan.run, shedding.share(number + 1))
                watched.wrote(self.plan.run, rows, self._delivery.costs)
                watched.counted(self.plan.run, number, self._delivery.counts)

        writer = ServedBatch(self._delivery, self._folder, self._control, shedding) if served else write
        writing = packed.writeStream.foreachBatch(writer).queryName(self._name)
        writing = writing.option("checkpointLocation", (self._folder / "spark").for_spark)
        stays_in_python = finishing is not None and all_by_name and not self._delivery.leaves_to_spark
        try:
            with without_code(self._spark, wanted=stays_in_python):
                query = writing.trigger(**as_trigger(_ALL_THERE if self.in_history else trigger)).start()
        except (PySparkException, Py4JError) as error:
            started.cancel()
            raise SettingsError(
                told_of_windrow(str(error))
                or f"Spark does not start on {self._folder}: {spark_reason(error)}"
                "\nhint: if its files there are damaged, bring them back from a copy, or start with a new checkpoint"
            ) from error
        started.set_result(query)
        reports = Reports(self._folder) if served else None
        watched.watch(self.plan.run, query, self._control.for_spark, by_name, reports, left)
        return query

    @property
    def in_history(self) -> bool:
        """Whether the histories of its streams are still to be read, and the streams themselves are not read yet."""
        return not self._history.over

    def past_history(self, query: StreamingQuery) -> bool:
        """Note that the histories have been read, if all files that are there by now are; `query` has ended.

        Files may have come meanwhile: they are read by another run. Raises where Spark passes over some.
        """
        assert self._left is not None
        files, done = self._left.listed(), last_committed(self._folder)
        noted, begun = self._left.noted(), last_begun(self._folder)
        if noted >= files and done == begun:
            self._history.end()
            return True
        if query.lastProgress is None:
            raise JobError(f"Spark reads {noted} of the {files} files that the history of {self.plan.run!r} has")
        return False

    @property
    def topics(self) -> list[Topics]:
        """The topics of Kafka that are read, in the order of their sources."""
        each = (self._sources[stream.stream].topics for stream in self.plan.stages[0].read)
        return [topics for topics in each if topics is not None]

    def _lost(self) -> int:
        """How many messages are gone from topics that this goes on to read, where that is no reason to stop."""
        done, found, number = last_committed(self._folder), 0, 0
        if done < 0 or not any(topics.may_lose for topics in self.topics):
            return 0
        offsets = offsets_of(self._folder, done)
        for stream in self.plan.stages[0].read:
            source = self._sources[stream.stream]
            number += 0 if source.history is None else 1
            at = offsets[number] if number < len(offsets) else None
            if source.topics is not None and source.topics.may_lose and at is not None:
                found += lost_messages(self._spark, source.topics, at)
            number += 1
        return found

    def _asked_columns(self) -> set[str]:
        """The columns that are read of events, in small letters."""
        found = set()
        for stream in self.plan.stages[0].read:
            source = self._sources[stream.stream]
            texts = [*asked_of(stream).texts, *([] if source.time is None else [source.time])]
            found |= {name.lower() for name in columns_of(texts, source.frame.columns)}
        return found

    def _ways(self) -> list[str | None]:
        told = ways_of(turned(self._sources, self._turn), self.plan)
        return [told.get(stream.stream) for stream in self.plan.stages[0].read]

    @property
    def _turn(self) -> Turn | None:
        return Turn(self.in_history, self._history.empty.for_spark) if self._has_history else None

    def mark(self, query: StreamingQuery) -> Hashable | None:
        """What changes whenever a task of the batch under way begins or ends."""
        return mark_of(self._spark, query)

    def fails(self) -> bool:
        """Whether the batch that is due fails: it is computed, and neither written nor committed.

        Workers keep nothing of it: what they hold in memory is of the last committed batch. What passes is tried again.
        """
        for _ in range(_TRIES):
            error = self._tried()
            if error is None or cause_of(error) is not Cause.PASSING:
                return error is not None
        return False

    def _tried(self) -> str | None:
        tried = f"{_TRIED} {uuid.uuid4().hex}"
        write_quickly(self._spark, self._folder)

        def compute(batch: DataFrame, number: int) -> None:
            batch.select("query", "rows").write.format("noop").mode("overwrite").save()
            raise RuntimeError(tried)

        writing = self._packed(tried).writeStream.foreachBatch(compute).queryName(f"{self._name} {_TRIED}")
        writing = writing.option("checkpointLocation", (self._folder / "spark").for_spark)
        query = writing.trigger(availableNow=True).start()
        with suppress(StreamingQueryException):
            query.awaitTermination()
        error = query.exception()
        return None if error is None or tried in str(error) else str(error)

    def _packed(self, run: str, finishing: Finishes | None = None) -> DataFrame:
        control = self._spark.readStream.schema("value STRING").text(self._control.for_spark)
        tables = keep_editions(self._folder, self.plan.joined)
        given = (self._sources, self.plan, self._shards, control, run)
        shares = None if self._shedding is None else self._shedding.note
        return packed_results(*given, tables=tables, finishing=finishing, turn=self._turn, shares=shares)

    def _sheds(self, live: bool) -> Shedding | None:
        """Who decides which share of the rows is taken, where not all need be."""
        streams = self.plan.stages[0].read
        for stream in streams:
            if stream.shed is not None:
                source = sum(1 if self._sources[one.stream].history is None else 2 for one in streams) - 1
                return Shedding(self._folder, stream.shed, source, live)
        return None

    @property
    def rolls(self) -> bool:
        """Whether rows wait in the checkpoint until files roll."""
        return self._delivery.rolls

    def show_waiting(self) -> None:
        """Show the rows that wait for their files to roll: nothing runs that could add to them."""
        self._delivery.stopped(self._folder, last_committed(self._folder), self._spark)

    def flush(self) -> None:
        """Say to all shards that the input has ended: the next run closes every window that holds an event."""
        if self.in_history:
            raise ChangeError(
                f"the history of {self.plan.run!r} is still being read: the stream itself has not begun"
                "\nhint: wait until progress() tells of no files left"
            )
        say(self._control, FLUSH)

    def reset_clock(self, to_us: int) -> None:
        """Say to all shards that the clock goes back, before anything else is done in the next batch."""
        say(self._control, RESET, to_us)

    def state_at(self, horizon: Horizon) -> StateAt[DataFrame]:
        """What the last finished batch has left of a query with levels, over `horizon`."""
        return stored_state_at(self._spark, (self._folder / "spark").for_spark, self.plan, horizon)


def is_live(trigger: Trigger) -> bool:
    """Whether a job goes on as events arrive, rather than end with what is there.

    >>> is_live(None), is_live("5 seconds"), is_live("available now"), is_live({"once": True})
    (True, True, False, False)
    """
    return not as_trigger(trigger).keys() & {"availableNow", "once"}


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
