"""From plans to what runs: one Spark query a stream, and a writer for each sink."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.plan.change_plan import ChangePlan, ChangesPlan
from windrow.plan.pipeline import QueryPlan, StreamPlan
from windrow.plan.sink import HOLDS_ANSWER, HOLDS_CHANGES, JDBC, Sink, wrong_holding
from windrow.spark.answer_table import AnswerTable, job_mark
from windrow.spark.answers import AnswerSink, answer_home, forget_answers
from windrow.spark.checkpoint import Kept
from windrow.spark.pipeline import Source
from windrow.spark.sinks import Writer, writer_for
from windrow.spark.stream_run import StreamRun

AnyQuery = QueryPlan | ChangePlan


class Runs:
    """Makes the runs of one job. Writers are kept, since some remember what they have written."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: str,
        kept: Kept,
        sources: Mapping[str, Source],
        plan: Callable[[str, str, Iterable[AnyQuery]], AnyQuery],
        plan_stream: Callable[..., StreamPlan | ChangesPlan],
        rejected: Mapping[str, Sink] | Sink | None,
    ) -> None:
        self._spark, self._checkpoint, self._kept, self._sources = spark, checkpoint, kept, sources
        self.plan, self._plan_stream, self._rejected = plan, plan_stream, rejected
        self._writers: dict[tuple[str, Sink], Writer] = {}
        self._job = uuid.uuid4().hex

    def run_of(self, queries: Sequence[AnyQuery], sinks: Mapping[str, Sink]) -> StreamRun:
        """What runs for `queries`, which are all over one stream."""
        stream = queries[0].stream
        rejected = self._rejecting(queries[0])
        return StreamRun(
            self._spark,
            self._plan_stream(list(queries), keeps_rejected=bool(rejected)),
            self._sources,
            self._checkpoint,
            {query.name: self._writer_of(query, sinks[query.name]) for query in queries},
            rejected,
            self._kept.shards,
            f"{self._job} {stream}",
            self._kept.job,
        )

    def _rejecting(self, query: AnyQuery) -> dict[str, Writer]:
        """Who writes the rejected events of each stream that `query` reads."""
        found: dict[str, Writer] = {}
        for stream in query.streams if isinstance(query, ChangePlan) else (query.stream,):
            bad = self._rejected.get(stream) if isinstance(self._rejected, Mapping) else self._rejected
            if bad is None:
                continue
            if bad.holds != HOLDS_CHANGES:
                raise SettingsError("rejected events have no answer that a sink could hold\nhint: leave out holds")
            own = stream if stream == query.stream else f"{stream} in {query.stream}"  # its files are its own
            found[stream] = self._writer(f"rejected_{own}", bad)
        return found

    def forget(self, name: str) -> None:
        """Let a query that comes under the name of an earlier one begin anew."""
        forget_answers(self._checkpoint, name)

    def _writer_of(self, query: AnyQuery, sink: Sink) -> Writer:
        wrong = wrong_holding(sink, query.emit)
        if wrong is not None:
            raise SettingsError(f"sink {query.name!r}: {wrong[0]}\nhint: {wrong[1]}")
        if sink.holds == HOLDS_ANSWER and sink.format == JDBC:
            return AnswerTable(sink, job_mark(self._kept.job, query), len(query.leading), query.shown)
        if sink.holds != HOLDS_ANSWER or sink.path is None:
            return self._writer(query.name, sink)
        return AnswerSink(sink, answer_home(self._checkpoint, query), len(query.leading))

    def _writer(self, name: str, sink: Sink) -> Writer:
        if (name, sink) not in self._writers:
            self._writers[name, sink] = writer_for(name, sink, self._kept.job, self._spark)
        return self._writers[name, sink]
