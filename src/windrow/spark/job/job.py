"""A running job: one Spark query a stream, all its results written to their sinks, and queries that come and go."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from threading import RLock
from typing import Protocol

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from windrow.compile.keep_rows import Figures
from windrow.compile.read_choose import read_choose
from windrow.errors import ChangeError, JobError, SettingsError, StoppedQueriesError
from windrow.places.place import AnyPlace, Place, place_of
from windrow.plan.instants import read_instant
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.sink import Sink, check_places
from windrow.plan.windows.horizon import Horizon, StateAt
from windrow.spark.job.causes import Cause, cause_of
from windrow.spark.job.checkpoint import Added, QueryEdits
from windrow.spark.job.culprits import culprits
from windrow.spark.job.file_names import file_name
from windrow.spark.job.forget_state import forgetting, remember, state_of
from windrow.spark.job.hold import Hold, check_free
from windrow.spark.job.progress import Progress
from windrow.spark.job.recovery import ISOLATE, Recovery
from windrow.spark.job.reset_clock import check_goes_back, check_timing
from windrow.spark.job.spark_query import finish_batch, prove, reason, stop_all
from windrow.spark.job.stream_run import StreamRun, Trigger, is_live
from windrow.spark.job.watched import Watched

LOGGER = logging.getLogger("windrow")
_LOOK = 1.0
"""So many seconds pass at most before a stream that has died is noticed."""


Aside = tuple[AnyQuery, Sink]
"""A query that does not run, and where its rows would go."""


class Planner(Protocol):
    """Who knows the streams: makes plans of queries, and runs of plans."""

    def plan(self, name: str, text: str, beside: Iterable[AnyQuery], choose: Wanted) -> AnyQuery:
        """The plan of one query, to run beside others; `choose` is asked for it alone."""

    def run_of(self, queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], figures: Figures | None) -> StreamRun:
        """What runs for `queries`, which are all over one stream, of which `figures` are measured."""

    def share_out(self, queries: Sequence[AnyQuery]) -> list[str]:
        """Decide which Spark query keeps the rejected events of each stream; gives those that now do and did not."""

    def forget(self, name: str) -> None:
        """Let a query that comes under the name of an earlier one begin anew."""

    def begin_anew(self) -> None:
        """Have the runs that are made from now on trust nothing that workers have in memory: a batch has failed."""


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
        self._planner, self._trigger, self._place, self._hold = planner, trigger, place_of(checkpoint), hold
        self._plans, self._sinks = dict(queries), dict(sinks)
        self._recovery, self._aside = recovery or Recovery(), dict(aside or {})
        self.drift: list[str] = []
        """What differs from the queries that the checkpoint had run before, a sentence for each."""
        self._told: set[str] = set()
        self._ending = False
        self._lock = RLock()
        self._at_end: list[Callable[[], None]] = []
        self._watched = Watched(live=is_live(trigger))
        for name, why in QueryEdits.read(self._place).stopped.items():
            if name in self._aside:
                self._watched.query_stopped(self._aside[name][0].run, name, why)
        planner.share_out(list(self._plans.values()))
        self._queries: dict[str, StreamingQuery] = {}
        self._runs = {stream: self._run_of(stream) for stream in self._streams()}
        remember(self._place, [run.plan for run in self._runs.values()])
        try:
            for stream, run in self._runs.items():
                self._queries[stream] = run.start(trigger, self._watched)
        except BaseException:  # none runs where not all do
            stop_all(self._queries)
            raise
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
        return {
            stream: Figures(figures.stream_rate, figures.groups, measured=True)
            for stream, figures in self.progress().items()
            if figures.stream_rate
        }

    def __repr__(self) -> str:
        state = "running" if self.is_active else "ended"
        return f"<windrow.Job {state}: {', '.join(self._plans) or 'no query'}; checkpoint {self.checkpoint!r}>"

    @property
    def queries(self) -> list[str]:
        """The names of the queries that run."""
        return list(self._plans)

    @property
    def is_active(self) -> bool:
        """Whether anything runs, or is about to again; a job that has ended lets go of its checkpoint."""
        with self._lock:
            self._look_after()
            active = self._recovery.waiting or any(query.isActive for query in self._queries.values())
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
            if name in self._plans:
                raise ChangeError(f"there is a query {name!r} already\nhint: drop it first, or choose another name")
            self._check_runs()
            plan = self._planner.plan(name, text, self._plans.values(), wanted)
            sink = sink or Sink("console")
            check_places(self._sinks | {name: sink})
            self._planner.forget(name)
            changes = QueryEdits.read(self._place)
            changes.added[name] = Added(text, sink, plan.rounded_us, wanted.wishes)
            changes.stopped.pop(name, None)
            self._change(plan.run, self._plans | {name: plan}, self._sinks | {name: sink}, changes)
            self._watched.query_resumed(name)

    def resume(self, name: str) -> None:
        """Let a query run again that was dropped or has stopped, as it was declared.

        It answers as one that is added: from the first window that begins at or after the stream's clock.
        """
        with self._lock:
            if name in self._plans:
                raise ChangeError(f"the query {name!r} runs already")
            self._check_runs()
            changes = QueryEdits.read(self._place)
            known = sorted(self._aside.keys() & {*changes.dropped, *changes.stopped})
            if name not in known:
                there = ", ".join(known) or "none"
                raise ChangeError(f"there is no query {name!r} to bring back\nhint: there are {there}")
            changes.bring_back(name)
            plan, sink = self._aside[name]
            check_places(self._sinks | {name: sink})
            if plan.run in self._runs:
                self._planner.forget(name)
            self._change(plan.run, self._plans | {name: plan}, self._sinks | {name: sink}, changes)
            self._watched.query_resumed(name)

    def drop(self, name: str) -> None:
        """Run a query no more; what only it kept in state is deleted with the next batch."""
        with self._lock:
            if name not in self._plans:
                raise ChangeError(f"there is no query {name!r}\nhint: running are {', '.join(self._plans)}")
            self._check_runs()
            if len(self._plans) == 1:
                raise ChangeError(f"{name!r} is the only query\nhint: stop the job instead")
            changes = QueryEdits.read(self._place)
            if changes.added.pop(name, None) is None:
                changes.dropped.append(name)
            changes.expiry.pop(name, None)
            plans = {other: plan for other, plan in self._plans.items() if other != name}
            sinks = {other: sink for other, sink in self._sinks.items() if other != name}
            aside = self._plans[name], self._sinks[name]
            self._change(aside[0].run, plans, sinks, changes)
            self._aside[name] = aside

    def refresh(self, table: str) -> None:
        """Read a table anew: from the next batch on, streams are joined with what it holds now.

        Rows that have been joined stay as they are; a table that is looked up for answers is that of the batch that
        answers. The Spark query of each stream ends after the batch under way and goes on from the same checkpoint.
        """
        with self._lock:
            self._check_runs()
            joining = {stream: run.plan for stream, run in self._runs.items() if table in run.plan.tables}
            if not joining:
                known = sorted({name for run in self._runs.values() for name in run.plan.tables})
                raise ChangeError(f"no query joins a table {table!r}\nhint: joined are {', '.join(known) or 'none'}")
            for plan in joining.values():
                if any(table in dict(stage.static) for stage in plan.stages):
                    names = ", ".join(query.name for stage in plan.stages for query in stage.changing)
                    raise ChangeError(
                        f"{table!r} is joined by queries over rows that come and go ({names}), which would be taken"
                        " back otherwise than they came\nhint: drop them first"
                    )
            runs = {stream: self._run_of(stream) for stream in joining}  # read before anything is stopped
            for stream, run in runs.items():
                self._stop(stream)
                self._go_on(stream, run)

    def state_at(self, query: str, horizon: str) -> StateAt[DataFrame]:
        """What a query with levels holds of the last `horizon`, such as "7 minutes", as of the last finished batch.

        It is read from the checkpoint, beside the stream, which goes on meanwhile.
        """
        with self._lock:
            if query not in self._plans:
                raise SettingsError(f"there is no query {query!r}\nhint: running are {', '.join(self._plans)}")
            asked = Horizon.of(self._plans[query], horizon)
            return self._runs[asked.query.run].state_at(asked)

    def stop(self) -> None:
        """End after the batch under way; started again with the same checkpoint, the job goes on from there.

        Raises StoppedQueriesError, when all has ended, if queries have stopped and nobody was told.
        """
        with self._lock:
            self._ending = True
            try:
                for query in self._queries.values():
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

    def remove_at_end(self) -> None:
        """Remove the checkpoint, which is temporary, when the job is stopped or forgotten, or the process ends."""
        self._at_end.append(weakref.finalize(self, remove_checkpoint, self._place, self._queries))

    def flush(self) -> None:
        """Say that the input has ended: every window that holds an event is answered, full or not, and rows of windows
        without a slide expire.

        A job that has worked off all that was available runs once more for it; a running one does it in its next batch.
        """
        with self._lock:
            self._check_there()
            self._hold.take()
            for stream, run in self._runs.items():
                run.flush()
                if stream not in self._queries or not self._queries[stream].isActive:
                    self._recovery.begin(stream)
                    self._queries[stream] = run.start(self._trigger, self._watched)

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
            check_goes_back(stream, instant, self._plans.values(), list(self._runs), clock)
            check_timing(stream, self._runs[stream].plan.stream(stream).timing)
            self._runs[stream].reset_clock(instant)

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
                active = [query for query in self._queries.values() if query.isActive]
                for stream, why in self._recovery.given_up.items():
                    if not active:
                        self._hold.release()
                    raise JobError(why) from self._queries[stream].exception()
                if not active and not self._recovery.waiting:
                    self._show_waiting()
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

    def _tell_stopped(self) -> None:
        untold = {name: why for name, why in self.stopped.items() if name not in self._told}
        self._told |= untold.keys()
        if untold:
            raise StoppedQueriesError(untold)

    def _look_after(self) -> None:
        """Start again what has died of what passes, and go on without queries that have failed."""
        for stream, query in list(self._queries.items()):
            if self._ending or stream in self._recovery.given_up:
                continue
            if self._recovery.waits(stream):
                if self._recovery.is_due(stream):
                    self._begin(stream)
                continue
            error = query.exception()
            if error is not None:
                if not self._mended(stream, query, error):
                    self._recovery.give_up(stream, reason(error))
            elif query.isActive and self._recovery.hung.hangs(stream, partial(self._runs[stream].mark, query)):
                why = f"no task has ended for {self._recovery.task_timeout}: one hangs"
                query.stop()
                if not self._comes_back(stream, query, why):
                    self._recovery.give_up(stream, why)

    def _comes_back(self, stream: str, query: StreamingQuery, why: str) -> bool:
        """Whether a Spark query is started again after a pause, from its checkpoint: it may pass."""
        if not self._recovery.pause(stream, progressed=query.lastProgress is not None):
            return False
        self._watched.restarted(stream)
        LOGGER.warning("a batch over %s was lost, and runs again: %s", stream, why)
        return True

    def _mended(self, stream: str, query: StreamingQuery, error: StreamingQueryException) -> bool:
        """Whether the job goes on after a Spark query of it has died."""
        cause, why = cause_of(str(error)), reason(error)
        if cause is Cause.QUERY and self._recovery.on_error == ISOLATE and len(self._plans) > 1:
            own = [plan for plan in self._plans.values() if plan.run == stream]
            failing = culprits(str(error), own, lambda queries: self._run_with(stream, queries).fails())
            if failing and (len(failing) < len(own) or len(own) == 1):
                self._isolate(stream, failing, why)
                return True
            cause = Cause.JOB if failing else Cause.PASSING  # all fail, or none any more
        return cause is Cause.PASSING and self._comes_back(stream, query, why)

    def _isolate(self, stream: str, names: Sequence[str], why: str) -> None:
        """Go on without queries that have failed; the checkpoint knows it before the batch runs again without them."""
        changes = QueryEdits.read(self._place)
        changes.stopped |= dict.fromkeys(names, why)
        changes.write(self._place)
        for name in names:
            self._aside[name] = self._plans.pop(name), self._sinks.pop(name)
            self._watched.query_stopped(stream, name, why)
            self._told.discard(name)
            LOGGER.error("query %r has stopped, the others go on: %s", name, why)
        heirs = [heir for heir in self._planner.share_out(list(self._plans.values())) if heir != stream]
        for heir in heirs:
            self._stop(heir)
        self._stop(stream)
        for one in (*heirs, stream):
            self._begin(one)
        if stream in self._runs:  # it begins anew when it comes back; alone in its stream, it would go on
            for name in names:
                self._planner.forget(name)

    def _begin(self, stream: str) -> None:
        """Start the Spark query of a stream from its checkpoint; workers read its state, and trust no memory."""
        self._recovery.begin(stream)
        self._planner.begin_anew()
        self._runs.pop(stream, None)
        if stream in self._streams():
            self._runs[stream] = self._run_of(stream)
            self._queries[stream] = self._runs[stream].start(self._trigger, self._watched)

    def _streams(self) -> list[str]:
        return list(dict.fromkeys(plan.run for plan in self._plans.values()))

    def _run_of(self, stream: str) -> StreamRun:
        return self._run_with(stream, [plan for plan in self._plans.values() if plan.run == stream])

    def _run_with(self, stream: str, plans: Sequence[AnyQuery]) -> StreamRun:
        sinks = {plan.name: self._sinks[plan.name] for plan in plans}
        return self._planner.run_of(plans, sinks, self.measured().get(stream))

    def _check_runs(self) -> None:
        if not self.is_active:
            raise ChangeError("the job has ended: queries can come and go only while it runs")

    def _change(
        self, stream: str, plans: Mapping[str, AnyQuery], sinks: Mapping[str, Sink], changes: QueryEdits
    ) -> None:
        """Go on with other queries over `stream`; if that fails, with those that ran before."""
        before = (self._plans, self._sinks, QueryEdits.read(self._place))
        self._plans, self._sinks = dict(plans), dict(sinks)
        try:
            heirs = [heir for heir in self._planner.share_out(list(plans.values())) if heir != stream]
            run = self._run_of(stream) if stream in self._streams() else None
            if run is not None and stream in self._runs:
                check_beside(self._runs[stream].plan, run.plan)
            self._forget(stream, run, changes)
        except Exception:
            self._go_back(before[0], before[1])
            raise
        try:
            changes.write(self._place)
            for heir in heirs:  # before the one that has kept rejected events until now: none is lost
                self._stop(heir)
                self._go_on(heir, self._run_of(heir))
            self._stop(stream)
            self._go_on(stream, run)
        except Exception as error:
            self._go_back(before[0], before[1])
            before[2].write(self._place)
            for one in (*heirs, stream):
                self._stop(one)
                self._go_on(one, self._run_of(one) if one in self._streams() else None)
            told = reason(error) if isinstance(error, StreamingQueryException) else str(error)
            raise ChangeError(f"{told}\nthe job goes on as it was") from error

    def _forget(self, stream: str, run: StreamRun | None, changes: QueryEdits) -> None:
        """Have all state deleted that the stream's queries knew until now, and will know no more."""
        before = state_of(self._runs[stream].plan) if stream in self._runs else {}
        changes.forget(file_name(stream), before, {} if run is None else state_of(run.plan))
        if run is not None:
            run.plan = forgetting(run.plan, changes)

    def _go_back(self, plans: dict[str, AnyQuery], sinks: dict[str, Sink]) -> None:
        self._plans, self._sinks = plans, sinks
        self._planner.share_out(list(plans.values()))

    def _stop(self, stream: str) -> None:
        query = self._queries.pop(stream, None)
        if query is not None:
            finish_batch(query)
            query.stop()
            if stream in self._runs and self._runs[stream].rolls:
                self._runs[stream].show_waiting()

    def _show_waiting(self) -> None:
        """Show the rows that wait for their files to roll; a checkpoint that another job has by now is its own."""
        rolling = [run for run in self._runs.values() if run.rolls]
        if rolling and self._place.is_folder():
            with suppress(SettingsError):  # who asked whether the job runs has let go of it
                self._hold.take()
                for run in rolling:
                    run.show_waiting()

    def _go_on(self, stream: str, run: StreamRun | None) -> None:
        self._runs.pop(stream, None)
        if run is not None:
            self._runs[stream] = run
            self._queries[stream] = run.start(self._trigger, self._watched)
            prove(self._queries[stream])


def remove_checkpoint(folder: Place, queries: Mapping[str, StreamingQuery]) -> None:
    """Remove a temporary checkpoint; what still ran on it would make it again."""
    stop_all(queries)
    with suppress(OSError):
        folder.delete_folder()


def check_beside(running: StagePlan, wanted: StagePlan) -> None:
    """Refuse a plan whose state cannot live beside that of the running one."""
    before = dict(running.user_code)
    for name, implementation in wanted.user_code:
        if before.get(name, implementation) is not implementation:
            raise ChangeError(
                f"{name!r} has been registered anew, and the state of running queries is of the one before"
                "\nhint: register it under another name"
            )
