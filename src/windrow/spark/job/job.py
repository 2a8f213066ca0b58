"""A running job: one Spark query a stream, all its results written to their sinks, and queries that come and go."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import RLock
from typing import Any

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from windrow.compile.keep_rows import Figures
from windrow.compile.read_choose import read_choose
from windrow.current.answer import Answer
from windrow.current.answers import Answers
from windrow.current.html import html_table
from windrow.current.subscription import Subscription
from windrow.current.widget import watch_answer
from windrow.errors import ChangeError, JobError, SettingsError, StoppedQueriesError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.instants import read_instant
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.sink import Sink, check_places
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.spark.job.checkpoint import Added, QueryEdits
from windrow.spark.job.hold import Hold, check_free
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.job.look_after import Caretaker
from windrow.spark.job.progress import Progress
from windrow.spark.job.recovery import Recovery
from windrow.spark.job.reset_clock import check_goes_back, check_timing
from windrow.spark.job.running import Aside, Planner, Running
from windrow.spark.job.spark_query import finish_batch, stop_all
from windrow.spark.job.stream_run import Trigger, is_live
from windrow.spark.job.watched import Watched

_LOOK = 1.0
"""So many seconds pass at most before a stream that has died is noticed."""


class Job:
    """Queries that run together. `progress` tells how they are doing, `stop` ends them after the batch under way.

    `add` and `drop` change what runs: the Spark query of the stream ends after the batch under way, and goes on from
    the same checkpoint with other queries. What others have in state stays, so none loses or repeats a window.
    """

    def __init__(
        self,
        queries: Mapping[str, AnyQuery],
        sinks: Mapping[str, Sink],
        trigger: Trigger,
        planner: Planner,
        checkpoint: AnyPlace,
        hold: Hold,
        recovery: Recovery | None = None,
        aside: Mapping[str, Aside] | None = None,
    ) -> None:
        """`hold` has the checkpoint, and is let go of when the job has ended.

        `recovery` says what becomes of what dies. `aside` are queries that do not run and may come back: they have been
        dropped, or have stopped.
        """
        self._place, self._hold = place_of(checkpoint), hold
        self._recovery, self._aside = recovery or Recovery(), dict(aside or {})
        self.drift: list[str] = []
        """What differs from the queries that the checkpoint had run before, a sentence for each."""
        self._told: set[str] = set()
        self._ending = False
        self._lock = RLock()
        self._at_end: list[Callable[[], None]] = []
        self._when_over: list[Callable[[], None]] = []
        self.asked: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {}
        """What else may be asked of it in a letter, by name, and who answers."""
        self.indexes: JobIndexes | None = None
        """What is asked of the indexes of the job; whoever starts it gives it."""
        self._watched = Watched(live=is_live(trigger))
        for name, why in QueryEdits.read(self._place).stopped.items():
            if name in self._aside:
                self._watched.query_stopped(self._aside[name][0].run, name, why)
        self._running = Running(queries, sinks, planner, trigger, self._place, self._watched)
        self._caretaker = Caretaker(self._running, self._recovery, self._aside, self._place, self._watched)
        self._running.start()
        hold.lives = lambda: self.is_active

    @property
    def checkpoint(self) -> str:
        """Where the job keeps how far it is."""
        return str(self._place)

    def progress(self) -> Progress:
        """How far each stream has come, and where its time goes."""
        return self._watched.progress()

    def measured(self) -> dict[str, Figures]:
        """What is known of the streams by now, for what is chosen by it."""
        return self._running.measured()

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
    def queries(self) -> list[str]:
        """The names of the queries that run."""
        return list(self._running.plans)

    @property
    def plans(self) -> dict[str, AnyQuery]:
        """The queries that run, as they were planned, by name."""
        return dict(self._running.plans)

    @property
    def sinks(self) -> dict[str, Sink]:
        """Where the rows of each query that runs go."""
        return dict(self._running.sinks)

    @property
    def runs(self) -> list[StagePlan]:
        """What runs over each stream, for all its queries together."""
        return [run.plan for run in self._running.runs.values()]

    @property
    def is_active(self) -> bool:
        """Whether anything runs, or is about to again; a job that has ended lets go of its checkpoint."""
        with self._lock:
            self._look_after()
            active = self._recovery.waiting or any(query.isActive for query in self._running.queries.values())
            if not active:
                self._hold.release()
            return active

    @property
    def stopped(self) -> dict[str, str]:
        """The queries that have failed while the others went on, each with why."""
        return {name: why for figures in self.progress().values() for name, why in figures.stopped.items()}

    def add(self, name: str, text: str, sink: Sink | None = None, *, choose: Mapping[str, str] | None = None) -> None:
        """Run one more query, into `sink` or else onto the console.

        It answers from the first window that begins at or after the stream's clock, or earlier where panes that others
        keep cover it. One that needs another number of stages than those that run has a Spark query of its own, which
        reads the stream from where its source begins. `choose` asks for ways by name, as that of `session.query`; the
        checkpoint keeps it.
        """
        wanted = read_choose(choose)
        if wanted.index is not None:
            raise SettingsError("choose: a checkpoint cannot keep a class; give an index of your own to the session")
        with self._lock:
            if name in self._running.plans:
                raise ChangeError(f"there is a query {name!r} already\nhint: drop it first, or choose another name")
            self._check_runs()
            plan = self._running.planner.plan(name, text, self._running.plans.values(), wanted)
            sink = sink or Sink("console")
            check_places(self._running.sinks | {name: sink})
            self._running.planner.forget(name)
            changes = QueryEdits.read(self._place)
            changes.added[name] = Added(text, sink, plan.rounded_us, wanted.wishes)
            changes.stopped.pop(name, None)
            self._come(name, plan, sink, changes)

    def resume(self, name: str) -> None:
        """Let a query run again that was dropped or has stopped, as it was declared.

        It answers as one that is added: from the first window that begins at or after the stream's clock.
        """
        with self._lock:
            if name in self._running.plans:
                raise ChangeError(f"the query {name!r} runs already")
            self._check_runs()
            changes = QueryEdits.read(self._place)
            known = sorted(self._aside.keys() & {*changes.dropped, *changes.stopped})
            if name not in known:
                there = ", ".join(known) or "none"
                raise ChangeError(f"there is no query {name!r} to bring back\nhint: there are {there}")
            changes.bring_back(name)
            plan, sink = self._aside[name]
            check_places(self._running.sinks | {name: sink})
            if plan.run in self._running.runs:
                self._running.planner.forget(name)
            self._come(name, plan, sink, changes)

    def drop(self, name: str) -> None:
        """Run a query no more; what only it kept in state is deleted with the next batch."""
        with self._lock:
            if name not in self._running.plans:
                raise ChangeError(f"there is no query {name!r}\nhint: running are {', '.join(self._running.plans)}")
            self._check_runs()
            if len(self._running.plans) == 1:
                raise ChangeError(f"{name!r} is the only query\nhint: stop the job instead")
            changes = QueryEdits.read(self._place)
            if changes.added.pop(name, None) is None:
                changes.dropped.append(name)
            changes.expiry.pop(name, None)
            plans = {other: plan for other, plan in self._running.plans.items() if other != name}
            sinks = {other: sink for other, sink in self._running.sinks.items() if other != name}
            aside = self._running.plans[name], self._running.sinks[name]
            self._running.change(aside[0].run, plans, sinks, changes)
            self._aside[name] = aside
            self.answers.forget(name)

    def refresh(self, table: str) -> None:
        """Read a table anew: from the next batch on, streams are joined with what it holds now.

        Rows that have been joined stay as they are; a table that is looked up for answers is that of the batch that
        answers. The Spark query of each stream ends after the batch under way and goes on from the same checkpoint.
        """
        with self._lock:
            self._check_runs()
            joining = {stream: run.plan for stream, run in self._running.runs.items() if table in run.plan.tables}
            if not joining:
                known = sorted({name for run in self._running.runs.values() for name in run.plan.tables})
                raise ChangeError(f"no query joins a table {table!r}\nhint: joined are {', '.join(known) or 'none'}")
            for plan in joining.values():
                if any(table in dict(stage.static) for stage in plan.stages):
                    names = ", ".join(query.name for stage in plan.stages for query in stage.changing)
                    raise ChangeError(
                        f"{table!r} is joined by queries over rows that come and go ({names}), which would be taken"
                        " back otherwise than they came\nhint: drop them first"
                    )
            runs = {stream: self._running.run_of(stream) for stream in joining}  # read before anything is stopped
            for stream, run in runs.items():
                self._running.stop(stream)
                self._running.go_on(stream, run)

    def lookup(self, index: str, /, **key: Any) -> pa.Table:
        """The events of one key in the window of an index, in order of time, as of the last committed batch.

        All columns of the key are named. What is read is what the job has published; the stream goes on meanwhile.
        """
        return self._indexed().named(index).lookup(**key)

    def scan(self, index: str, /, **key: Any) -> pa.Table:
        """The events whose keys begin with what is given, in order; the last column may be a range, (low, high)."""
        return self._indexed().named(index).scan(**key)

    def aggregate(self, index: str, expression: str, /, **key: Any) -> Any:
        """One aggregate, such as "AVG(speed)", of the events that `scan` finds."""
        return self._indexed().aggregate(index, expression, key)

    def ask(self, text: str) -> pa.Table:
        """The answer of a SELECT over what an index holds; what WHERE says of its key is what is read."""
        return self._indexed().ask(text)

    def _indexed(self) -> JobIndexes:
        if self.indexes is None:
            raise SettingsError("this job has no indexes\nhint: session.index(...), or CREATE INDEX in a script")
        return self.indexes

    def state_at(self, query: str, horizon: str) -> StateAt[DataFrame]:
        """What a query with levels holds of the last `horizon`, such as "7 minutes", as of the last finished batch.

        It is read from the checkpoint, beside the stream, which goes on meanwhile.
        """
        with self._lock:
            if query not in self._running.plans:
                raise SettingsError(f"there is no query {query!r}\nhint: running are {', '.join(self._running.plans)}")
            asked = Horizon.of(self._running.plans[query], horizon)
            return self._running.runs[asked.query.run].state_at(asked)

    @property
    def answers(self) -> Answers:
        """The current answers that are kept, as of the last committed batch."""
        return self._running.planner.answers

    def answer(self, query: str, /, **keys: Any) -> Answer:
        """The current answer of a query, as of the last committed batch; with `keys`, the rows that have these values.

        It is kept for queries whose sink is `answers`, or has the option `keep="answer"`.
        """
        return self.answers.answer(query, keys)

    def watch(self, query: str) -> Any:
        """The current answer of a query as a table in a notebook, which changes as batches are committed."""
        return watch_answer(self.answers, query)

    def subscribe(self, query: str, since: int | None = None) -> Subscription:
        """What each batch brings of a query, one by one as it is committed: an iterator, which waits for the next.

        With `since`, the number of a batch, it begins with what came after that; else with the current answer.
        """
        return self.answers.subscribe(query, since)

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

    def reset_clock(self, stream: str, to: datetime | str) -> None:
        """Set the clock of a stream back to `to`, with its next batch: for who had an event far ahead of all others.

        What is later than `to` and the lateness is dropped and counted (`progress()[stream]["dropped"]`). Windows that
        end after `to` are answered again, from the first one of which all is known: what the clock has let go of is
        gone. What sinks hold of such windows stays there. A job that has ended does it when it is started again.
        """
        with self._lock:
            self._check_there()
            if not self.is_active:  # another job may have it by now
                self._hold.release()
                check_free(self._place)
            figures = self.progress().get(stream)
            instant, clock = read_instant(to), None if figures is None else figures.clock
            check_goes_back(stream, instant, self._running.plans.values(), list(self._running.runs), clock)
            check_timing(stream, self._running.runs[stream].plan.stream(stream).timing)
            self._running.runs[stream].reset_clock(instant)

    def _check_there(self) -> None:
        if not self._place.is_folder():
            raise ChangeError("the job has been stopped, and its temporary checkpoint is gone")

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
                if not active and not self._recovery.waiting:
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

    def _come(self, name: str, plan: AnyQuery, sink: Sink, changes: QueryEdits) -> None:
        """Go on with one query more; if it stops again, that is told again."""
        running = self._running
        running.change(plan.run, running.plans | {name: plan}, running.sinks | {name: sink}, changes)
        self._watched.query_resumed(name)
        self._told.discard(name)

    def _check_runs(self) -> None:
        if not self.is_active:
            raise ChangeError("the job has ended: queries can come and go only while it runs")

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
