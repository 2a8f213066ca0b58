"""A running job: one Spark query a stream, all its results written to their sinks, and queries that come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from windrow.compile.read_choose import read_choose
from windrow.errors import ChangeError, SettingsError
from windrow.language import CreateIndex
from windrow.places.place import AnyPlace, place_of
from windrow.plan.instants import read_instant
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.sink import INDEX, Sink, check_places
from windrow.spark.job.checkpoint import Added, QueryEdits
from windrow.spark.job.hold import Hold, check_free
from windrow.spark.job.job_indexes import index_folder
from windrow.spark.job.job_life import JobLife
from windrow.spark.job.look_after import Caretaker
from windrow.spark.job.recovery import Recovery
from windrow.spark.job.refresh_tables import check_refreshable
from windrow.spark.job.reset_clock import check_goes_back, check_timing
from windrow.spark.job.running import Aside, Planner, Running
from windrow.spark.job.stream_run import Trigger, is_live
from windrow.spark.job.watched import Watched
from windrow.spark.sources.tables import Tables
from windrow.spark.stages.editions import version_of


class Job(JobLife):
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
        tables: Tables | None = None,
    ) -> None:
        """`hold` has the checkpoint, and is let go of when the job has ended.

        `recovery` says what becomes of what dies. `aside` are queries that do not run and may come back: they have been
        dropped, or have stopped. `tables` are those that queries are joined with.
        """
        self._tables = tables or Tables()
        place, recovery, watched = place_of(checkpoint), recovery or Recovery(), Watched(live=is_live(trigger))
        self._aside = dict(aside or {})
        running = Running(queries, sinks, planner, trigger, place, watched)
        for table in self._tables.refreshes:
            check_refreshable(table, [run.plan for run in running.runs.values()], SettingsError)
        caretaker = Caretaker(running, recovery, self._aside, place, watched)
        super().__init__(place, running, watched, hold, recovery, caretaker)
        self.drift: list[str] = []
        """What differs from the queries that the checkpoint had run before, a sentence for each."""
        self.asked: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {}
        """What else may be asked of it in a request, by name, and who answers."""
        for name, why in QueryEdits.read(place).stopped.items():
            if name in self._aside:
                watched.query_stopped(self._aside[name][0].run, name, why)
        running.start()
        hold.lives = lambda: self.is_active

    def add(self, name: str, text: str, sink: Sink | None = None, *, choose: Mapping[str, str] | None = None) -> None:
        """Run one more query, into `sink` or else onto the console.

        It answers from the first window that begins after the newest event there was, or earlier where panes that
        others keep cover it. One that needs more stages than there are where its streams are read has a Spark query of
        its own, which reads them from where their sources begin. `choose` asks for ways by name, as that of
        `session.query`; the checkpoint keeps it.
        """
        wanted = read_choose(choose)
        if wanted.index is not None:
            raise SettingsError("choose: a checkpoint cannot keep a class; give an index of your own to the session")
        with self._lock:
            if name in self._running.plans:
                raise ChangeError(f"there is a query {name!r} already\nhint: drop it first, or choose another name")
            self._check_runs()
            plan = self._running.placed(self._running.planner.plan(name, text, self._running.plans.values(), wanted))
            sink = sink or Sink("console")
            check_places(self._running.sinks | {name: sink})
            self._running.planner.forget(name)
            if sink.format == INDEX:  # one of this name, which was dropped, may have had other columns
                index_folder(self._place, name).delete_folder()
            changes = QueryEdits.read(self._place)
            changes.added[name] = Added(text, sink, plan.rounded_us, wanted.wishes)
            changes.stopped.pop(name, None)
            self._come(name, plan, sink, changes)

    def read_index(self, index: CreateIndex) -> tuple[str, Sink]:
        """The query of an index over the streams of this job, to be added, and the sink that publishes it."""
        return self._running.planner.read_index(index)

    def resume(self, name: str) -> None:
        """Let a query run again that was dropped or has stopped, as it was declared.

        It answers as one that is added: from the first window that begins after the newest event there was.
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
            plan, sink = self._running.placed(self._aside[name][0]), self._aside[name][1]
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
            check_refreshable(table, joining.values(), ChangeError)
            if table in self._tables.refreshes:
                self._tables.read_again(table)
            self._join_anew(table, joining)

    def join_refreshed(self, table: str) -> None:
        """Have streams joined, from the next batch on, with what a table held when it was last read."""
        with self._lock:
            self._check_runs()
            joining = {stream: run.plan for stream, run in self._running.runs.items() if table in run.plan.tables}
            self._join_anew(table, joining)

    def tell_table(self, table: str, *, failed: str | None = None) -> None:
        """Have progress tell how a table was read that is refreshed, or why it was not."""
        held = self._tables.held(table)
        if held is not None:
            for stream in [stream for stream, run in self._running.runs.items() if table in run.plan.tables]:
                self._watched.table_read(stream, table, version_of(held.rows), held.read_us, failed)

    def _join_anew(self, table: str, joining: Mapping[str, StagePlan]) -> None:
        """Go on with what `table` holds now."""
        if joining:
            runs = {stream: self._running.run_of(stream) for stream in joining}  # read before anything is stopped
            for stream, run in runs.items():
                self._running.stop(stream)
                self._running.go_on(stream, run)

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
            queries = list(self._running.plans.values())
            reading = next((query.run for query in queries if stream in query.sources), stream)
            figures = self.progress().get(reading)
            instant, clock = read_instant(to), None if figures is None else figures.clock
            known = list(dict.fromkeys(name for query in queries for name in query.sources))
            check_goes_back(stream, instant, queries, known, clock)
            run = self._running.runs[reading]  # the only one: queries that can go back are answered in one stage
            check_timing(stream, run.plan.stages[0].stream(stream).timing)
            run.reset_clock(instant)

    def _come(self, name: str, plan: AnyQuery, sink: Sink, changes: QueryEdits) -> None:
        """Go on with one query more; if it stops again, that is told again."""
        running = self._running
        running.change(plan.run, running.plans | {name: plan}, running.sinks | {name: sink}, changes)
        self._watched.query_resumed(name)
        self._told.discard(name)

    def _check_runs(self) -> None:
        if not self.is_active:
            raise ChangeError("the job has ended: queries can come and go only while it runs")
