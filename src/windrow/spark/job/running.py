"""The Spark queries of a job, one a stream: which queries run in each, started, stopped, and changed while they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from windrow.compile.figures import Figures, figures_for, figures_of
from windrow.compile.join_runs import join_runs
from windrow.current.answers import Answers
from windrow.errors import ChangeError
from windrow.language import CreateIndex
from windrow.places.place import Place
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.sink import Sink
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.file_names import file_name
from windrow.spark.job.forget_state import forgetting, remember, state_of
from windrow.spark.job.runs_there import runs_there
from windrow.spark.job.spark_query import finish_batch, prove, reason, stop_all
from windrow.spark.job.statistics import ByRun, kept_statistics, over
from windrow.spark.job.stream_run import StreamRun, Trigger
from windrow.spark.job.watched import Watched

Aside = tuple[AnyQuery, Sink]
"""A query that does not run, and where its rows would go."""


class Planner(Protocol):
    """Who knows the streams: makes plans of queries, and runs of plans. `answers` are those that runs keep."""

    answers: Answers

    def plan(self, name: str, text: str, beside: Iterable[AnyQuery], choose: Wanted) -> AnyQuery:
        """The plan of one query, to run beside others; `choose` is asked for it alone."""

    def read_index(self, index: CreateIndex) -> tuple[str, Sink]:
        """The query of an index that is added, and the sink that publishes it."""

    def run_of(self, queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], figures: Figures | None) -> StreamRun:
        """What runs for `queries`, which are all over one stream, of which `figures` are measured."""

    def share_out(self, queries: Sequence[AnyQuery]) -> list[str]:
        """Decide which Spark query keeps the rejected events of each stream; gives those that now do and did not."""

    def forget(self, name: str) -> None:
        """Let a query that comes under the name of an earlier one begin anew."""

    def begin_anew(self) -> None:
        """Have the runs that are made from now on trust nothing that workers have in memory: a batch has failed."""


class Running:
    """What runs: plans and sinks by query, and by stream what is run for them and the Spark query that does."""

    def __init__(
        self,
        plans: Mapping[str, AnyQuery],
        sinks: Mapping[str, Sink],
        planner: Planner,
        trigger: Trigger,
        place: Place,
        watched: Watched,
    ) -> None:
        """Nothing runs yet: `start` begins."""
        self.planner, self._trigger, self._place, self._watched = planner, trigger, place, watched
        self.plans, self.sinks = dict(plans), dict(sinks)
        self._known = kept_statistics(place)
        planner.share_out(list(self.plans.values()))
        self.queries: dict[str, StreamingQuery] = {}
        self.runs = {stream: self.run_of(stream) for stream in self.streams()}
        remember(place, [run.plan for run in self.runs.values()])

    def start(self) -> None:
        """Start all; none runs where not all do."""
        try:
            for stream in self.runs:
                self.restart(stream)
        except BaseException:
            stop_all(self.queries)
            raise

    def restart(self, stream: str) -> None:
        """Start the Spark query of a stream from its checkpoint, as it ran."""
        self.queries[stream] = self.runs[stream].start(self._trigger, self._watched)

    def begin_anew(self, stream: str) -> None:
        """Start the Spark query of a stream from its checkpoint; workers read its state, and trust no memory."""
        self.planner.begin_anew()
        self.runs.pop(stream, None)
        if stream in self.streams():
            self.runs[stream] = self.run_of(stream)
            self.restart(stream)

    @property
    def goes_live(self) -> bool:
        """Whether a stream is about to be read whose history has been."""
        ended = (stream for stream, query in self.queries.items() if not query.isActive and query.exception() is None)
        return any(stream in self.runs and self.runs[stream].in_history for stream in ended)

    def streams(self) -> list[str]:
        """The streams, or sets of streams, that have a Spark query."""
        return list(dict.fromkeys(plan.run for plan in self.plans.values()))

    def placed(self, plan: AnyQuery) -> AnyQuery:
        """A query that comes, in a run that suffices for it, where there is one."""
        return join_runs({plan.name: plan}, runs_there(self._place, self.runs))[plan.name]

    def measured(self) -> dict[str, Figures]:
        """What is known of the streams by now, for what is chosen by it."""
        return {run: figures_of(streams) for run, streams in self.statistics().items() if streams}

    def statistics(self) -> ByRun:
        """What the streams of each run are like: as measured, and of what was not seen yet as the checkpoint has it."""
        now = self._watched.statistics()
        return {run: over(now.get(run, {}), self._known.get(run, {})) for run in {**self._known, **now}}

    def run_of(self, stream: str) -> StreamRun:
        """What runs for all queries of a stream."""
        return self.run_with(stream, [plan for plan in self.plans.values() if plan.run == stream])

    def run_with(self, stream: str, plans: Sequence[AnyQuery]) -> StreamRun:
        """What would run for some queries of a stream."""
        sinks = {plan.name: self.sinks[plan.name] for plan in plans}
        return self.planner.run_of(plans, sinks, figures_for(plans[0], self.measured()))

    def heirs(self, stream: str) -> list[str]:
        """The other streams that now keep rejected events, and did not."""
        return [heir for heir in self.planner.share_out(list(self.plans.values())) if heir != stream]

    def change(
        self, stream: str, plans: Mapping[str, AnyQuery], sinks: Mapping[str, Sink], changes: QueryEdits
    ) -> None:
        """Go on with other queries over `stream`; if that fails, with those that ran before."""
        before = (self.plans, self.sinks, QueryEdits.read(self._place))
        self.plans, self.sinks = dict(plans), dict(sinks)
        try:
            heirs = self.heirs(stream)
            run = self.run_of(stream) if stream in self.streams() else None
            if run is not None and stream in self.runs:
                check_beside(self.runs[stream].plan, run.plan)
            self._forget(stream, run, changes)
        except Exception:
            self._go_back(before[0], before[1])
            raise
        try:
            changes.write(self._place)
            for heir in heirs:  # before the one that has kept rejected events until now: none is lost
                self.stop(heir)
                self.go_on(heir, self.run_of(heir))
            self.stop(stream)
            self.go_on(stream, run)
        except Exception as error:
            self._go_back(before[0], before[1])
            before[2].write(self._place)
            for one in (*heirs, stream):
                self.stop(one)
                self.go_on(one, self.run_of(one) if one in self.streams() else None)
            told = reason(error) if isinstance(error, StreamingQueryException) else str(error)
            raise ChangeError(f"{told}\nthe job goes on as it was") from error

    def go_on(self, stream: str, run: StreamRun | None) -> None:
        """Go on over a stream that was stopped, with `run`, if there is one; raises what it dies of at once."""
        self.runs.pop(stream, None)
        if run is not None:
            self.runs[stream] = run
            self.restart(stream)
            prove(self.queries[stream])

    def stop(self, stream: str) -> None:
        """End the Spark query of a stream after the batch under way."""
        query = self.queries.pop(stream, None)
        if query is not None:
            finish_batch(query)
            query.stop()
            if stream in self.runs and self.runs[stream].rolls:
                self.runs[stream].show_waiting()

    def _forget(self, stream: str, run: StreamRun | None, changes: QueryEdits) -> None:
        """Have all state deleted that the stream's queries knew until now, and will know no more."""
        before = state_of(self.runs[stream].plan) if stream in self.runs else {}
        changes.forget(file_name(stream), before, {} if run is None else state_of(run.plan))
        if run is not None:
            run.plan = forgetting(run.plan, changes)

    def _go_back(self, plans: dict[str, AnyQuery], sinks: dict[str, Sink]) -> None:
        self.plans, self.sinks = plans, sinks
        self.planner.share_out(list(plans.values()))


def check_beside(running: StagePlan, wanted: StagePlan) -> None:
    """Refuse a plan whose state cannot live beside that of the running one."""
    before = dict(running.user_code)
    for name, implementation in wanted.user_code:
        if before.get(name, implementation) is not implementation:
            raise ChangeError(
                f"{name!r} has been registered anew, and the state of running queries is of the one before"
                "\nhint: register it under another name"
            )
