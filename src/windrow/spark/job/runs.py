"""From plans to what runs: one Spark query a stream."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.compile.compile import Compiler
from windrow.compile.figures import Figures, figures_for
from windrow.compile.refuse_large import refuse_large
from windrow.current.answers import Answers
from windrow.errors import SettingsError
from windrow.language import CreateIndex, parse_query, to_sql
from windrow.places.place import AnyPlace, place_of
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.sink import HOLDS_CHANGES, Sink
from windrow.plan.window_index import bind_index, index_sink
from windrow.spark.connect import check_served_sink, is_connect
from windrow.spark.job.checkpoint import Kept, QueryEdits
from windrow.spark.job.forget_state import forgetting
from windrow.spark.job.keepers import choose_keepers, read_keepers, write_keepers
from windrow.spark.job.sink_writers import SinkWriters
from windrow.spark.job.stream_run import StreamRun
from windrow.spark.sinks.answer_files import forget_answers, times_begun_anew
from windrow.spark.sinks.covered import Coverage
from windrow.spark.sinks.keep_answers import Keeping
from windrow.spark.sinks.shared_index import wider_indexes
from windrow.spark.sinks.writers import AnyWriter
from windrow.spark.sources.source import Source


class Runs:
    """Makes the runs of one job."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: AnyPlace,
        kept: Kept,
        sources: Mapping[str, Source],
        compiler: Compiler,
        rejected: Mapping[str, Sink] | Sink | None,
        live: bool,
        figures: Mapping[str, Figures],
        may_commit: Callable[[], None] = lambda: None,
        answers: Answers | None = None,
    ) -> None:
        """`figures` are what is known of the streams already, if anything is.

        `may_commit` raises if another job has taken the checkpoint over. `answers` has the current answers.
        """
        self._may_commit = may_commit
        self.answers = Answers() if answers is None else answers
        self._spark, self._checkpoint, self._kept, self._sources = spark, place_of(checkpoint), kept, sources
        self._compiler, self._rejected, self._live, self._figures = compiler, rejected, live, figures
        self._writers = SinkWriters(spark, self._checkpoint, kept.job, sources)
        self._keepers = read_keepers(checkpoint)
        self._job = uuid.uuid4().hex
        self._ran: set[str] = set()  # by name: whoever runs already has room, whatever an estimate says

    def share_out(self, queries: Sequence[AnyQuery]) -> list[str]:
        """Decide which Spark query keeps the rejected events of each stream, if all `queries` run.

        Gives those that have become keepers.
        """
        wanted = [stream for query in queries for stream in query.sources if self._sink_of_rejected(stream)]
        taken = [query.name for query in queries if query.name in {f"rejected_{stream}" for stream in wanted}]
        if taken:
            raise SettingsError(f"no query can be called {taken[0]!r}: rejected events go under this name")
        before = self._keepers
        chosen = choose_keepers(queries, before)
        self._keepers = {stream: keeper for stream, keeper in chosen.items() if stream in wanted}
        if self._keepers != before:
            write_keepers(self._checkpoint, self._keepers)
        return [keeper for stream, keeper in self._keepers.items() if before.get(stream) != keeper]

    def read_index(self, index: CreateIndex) -> tuple[str, Sink]:
        """The query of an index that is added, and the sink that publishes it."""
        bound = bind_index(index, self._compiler.catalog, self._compiler.columns_of)
        return to_sql(bound.query), index_sink(bound)

    def plan(self, name: str, text: str, beside: Iterable[AnyQuery], choose: Wanted) -> AnyQuery:
        """The plan of one query, to run beside others; `choose` is asked for it alone."""
        return self._compiler.compile_query(name, parse_query(text), beside, choose)

    def run_of(self, queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], figures: Figures | None) -> StreamRun:
        """What runs for `queries`, which are all over one stream, of which `figures` are measured."""
        run = queries[0].run
        rejected = self._rejecting(queries[0])
        known = figures if figures is not None and figures.streams else figures_for(queries[0], self._figures)
        plan = self._compiler.compile_scan(
            queries, keeps_rejected=bool(rejected), live=self._live, figures=known, shards=self._kept.shards
        )
        if not self._ran.issuperset(query.name for query in queries):
            refuse_large(plan, known, self._kept.shards)
            self._ran.update(query.name for query in queries)

        def keeping(covered: Coverage) -> Keeping:
            return Keeping(self.answers, queries, sinks, self._checkpoint, covered, list(rejected))

        wider = wider_indexes(queries, sinks)
        return StreamRun(
            self._spark,
            self._counted(forgetting(plan, QueryEdits.read(self._checkpoint))),
            self._sources,
            self._checkpoint,
            {
                query.name: self._writers.of_query(query, sinks[query.name], wider.get(query.name, ()))
                for query in queries
            },
            rejected,
            self._kept.shards,
            f"{self._job} {run}",
            self._kept.job,
            self._may_commit,
            None if is_connect(self._spark) else keeping,
        )

    def _counted(self, plan: StagePlan) -> StagePlan:
        """The same plan, which tells who begins anew from who has been told already, in all its stages."""
        names = sorted({query.name for stage in plan.stages for query in stage.queries})
        begun = tuple((name, count) for name in names if (count := times_begun_anew(self._checkpoint, name)))
        before = None if plan.before is None else self._counted(plan.before)
        return replace(plan, begun=begun, before=before)

    def _rejecting(self, query: AnyQuery) -> dict[str, AnyWriter]:
        """Who writes the rejected events of each stream that `query` reads, where its Spark query keeps them."""
        wanted = {stream: self._sink_of_rejected(stream) for stream in query.sources}
        return {
            stream: self._writers.of_rejected(stream, bad, query.run)
            for stream, bad in wanted.items()
            if bad is not None and self._keepers.get(stream) == query.run
        }

    def _sink_of_rejected(self, stream: str) -> Sink | None:
        bad = self._rejected.get(stream) if isinstance(self._rejected, Mapping) else self._rejected
        if bad is not None and bad.holds != HOLDS_CHANGES:
            raise SettingsError("rejected events have no answer that a sink could hold\nhint: leave out holds")
        if bad is not None and is_connect(self._spark):
            check_served_sink(f"rejected_{stream}", bad)
        return bad

    def forget(self, name: str) -> None:
        """Let a query that comes under the name of an earlier one begin anew."""
        forget_answers(self._checkpoint, name)
        self.answers.forget(name)

    def begin_anew(self) -> None:
        """Have the runs that are made from now on trust nothing that workers have in memory: a batch has failed."""
        self._job = uuid.uuid4().hex
