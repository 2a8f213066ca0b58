"""From plans to what runs: one Spark query a stream, and a writer for each sink."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from pyspark.sql import SparkSession

from windrow.compile.compile import Compiler
from windrow.compile.keep_rows import Figures
from windrow.current.answers import Answers
from windrow.errors import SettingsError
from windrow.language import parse_query
from windrow.places.place import AnyPlace, Place, place_of
from windrow.places.reach import check_reached
from windrow.plan.kafka_options import KAFKA
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.sink import (
    DELTA,
    FORMATS,
    HOLDS_ANSWER,
    HOLDS_CHANGES,
    INDEX,
    JDBC,
    LAKES,
    MEMORY,
    Sink,
    wrong_holding,
)
from windrow.plan.topic_options import check_columns, topic_of
from windrow.plan.window_index import facts_of
from windrow.spark.connect import check_served_sink, is_connect
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.checkpoint import Kept, QueryEdits
from windrow.spark.job.file_names import folder_of
from windrow.spark.job.forget_state import forgetting
from windrow.spark.job.job_indexes import index_folder
from windrow.spark.job.keepers import choose_keepers, read_keepers, write_keepers
from windrow.spark.job.stream_run import StreamRun
from windrow.spark.sinks.answer_files import AnswerSink, answer_home, forget_answers
from windrow.spark.sinks.answer_table import AnswerTable, job_mark
from windrow.spark.sinks.append_table import AppendTable
from windrow.spark.sinks.covered import Coverage
from windrow.spark.sinks.delta_table import DeltaLog
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.iceberg_table import IcebergTable
from windrow.spark.sinks.index_files import IndexSink
from windrow.spark.sinks.keep_answers import Keeping
from windrow.spark.sinks.lake import LakeSink, LakeTable, lake_place
from windrow.spark.sinks.rolling import ROLLING, RollingSink
from windrow.spark.sinks.topic import TopicSink
from windrow.spark.sinks.topic_messages import answer_messages, messages_of, rejected_messages
from windrow.spark.sinks.writers import AnyWriter, check_path, mark_of, writer_for
from windrow.spark.sources.source import Source

_PARTITION = "partitionBy"


def _listed(sink: Sink) -> list[str]:
    """The columns that folders are named by, as an option has them."""
    return [", ".join(sink.partition_by)] if sink.partition_by else []


class Runs:
    """Makes the runs of one job. Writers are kept, since some remember what they have written."""

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
        self._writers: dict[tuple[str, Sink], AnyWriter] = {}
        self._shared: dict[tuple[str, Sink], FileSink] = {}
        self._reached: set[Sink] = set()
        self._keepers = read_keepers(checkpoint)
        self._job = uuid.uuid4().hex

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

    def plan(self, name: str, text: str, beside: Iterable[AnyQuery], choose: Wanted) -> AnyQuery:
        """The plan of one query, to run beside others; `choose` is asked for it alone."""
        return self._compiler.compile_query(name, parse_query(text), beside, choose)

    def run_of(self, queries: Sequence[AnyQuery], sinks: Mapping[str, Sink], figures: Figures | None) -> StreamRun:
        """What runs for `queries`, which are all over one stream, of which `figures` are measured."""
        run = queries[0].run
        rejected = self._rejecting(queries[0])
        known = figures or self._figures.get(run, Figures())
        plan = self._compiler.compile_scan(queries, keeps_rejected=bool(rejected), live=self._live, figures=known)

        def keeping(covered: Coverage) -> Keeping:
            return Keeping(self.answers, queries, sinks, self._checkpoint, covered, list(rejected))

        return StreamRun(
            self._spark,
            forgetting(plan, QueryEdits.read(self._checkpoint)),
            self._sources,
            self._checkpoint,
            {query.name: self._writer_of(query, sinks[query.name]) for query in queries},
            rejected,
            self._kept.shards,
            f"{self._job} {run}",
            self._kept.job,
            self._may_commit,
            None if is_connect(self._spark) else keeping,
        )

    def _rejecting(self, query: AnyQuery) -> dict[str, AnyWriter]:
        """Who writes the rejected events of each stream that `query` reads, where its Spark query keeps them."""
        found: dict[str, AnyWriter] = {}
        for stream in query.sources:
            bad = self._sink_of_rejected(stream)
            if bad is None or self._keepers.get(stream) != query.run:
                continue
            own = stream if stream == query.run else f"{stream} in {query.run}"  # another keeper's files stay
            if bad.format in FORMATS:
                found[stream] = self._rejected_files(stream, bad, self._prefix(f"rejected_{own}"), query.run)
            elif bad.format.lower() == JDBC:
                found[stream] = AppendTable(bad, self._prefix(f"rejected_{own}"))
            elif bad.format.lower() == KAFKA:
                found[stream] = self._rejected_topic(stream, bad, query.run)
            else:
                found[stream] = self._writer(f"rejected_{stream}", bad)
        return found

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

    def _writer_of(self, query: AnyQuery, sink: Sink) -> AnyWriter:
        if is_connect(self._spark):
            check_served_sink(query.name, sink)
        wrong = wrong_holding(sink, query.emit)
        if wrong is not None:
            raise SettingsError(f"sink {query.name!r}: {wrong[0]}\nhint: {wrong[1]}")
        if sink.format == INDEX:
            return self._index_of(query, sink)
        if sink.holds == HOLDS_ANSWER and sink.format == JDBC:
            return AnswerTable(sink, job_mark(self._kept.job, query), len(query.leading), query.shown)
        if sink.format.lower() == JDBC:
            return AppendTable(sink, job_mark(self._kept.job, query))
        if sink.format.lower() == KAFKA:
            return self._topic_of(query, sink)
        if sink.format in LAKES:
            return self._lake_of(query, sink)
        if sink.holds != HOLDS_ANSWER and sink.format in FORMATS:
            return self._files_of(query, sink)
        if sink.holds != HOLDS_ANSWER or sink.path is None:
            return self._writer(query.name, sink)
        return AnswerSink(sink, answer_home(self._checkpoint, query), len(query.leading), self._place_of(sink))

    def _topic_of(self, query: AnyQuery, sink: Sink) -> AnyWriter:
        """The topic that a query writes to: its producer goes on where another set of queries begins."""
        topic, own = topic_of(dict(sink.options)), (query.name, sink)
        if own not in self._writers:
            check_columns(topic, tuple(query.shown))
            if sink.holds == HOLDS_ANSWER:
                messages = partial(answer_messages, topic=topic, leading=len(query.leading))
            else:
                messages = partial(messages_of, topic=topic)
            mark = job_mark(self._kept.job, query)
            self._writers[own] = TopicSink(topic, mark, messages, checked=sink.holds != HOLDS_ANSWER)
        return self._writers[own]

    def _lake_of(self, query: AnyQuery, sink: Sink) -> AnyWriter:
        """The table of a lake that a query writes to."""
        own, mark = (query.name, sink), job_mark(self._kept.job, query)
        if own not in self._writers:
            if sink.format == DELTA:
                check_path(query.name, sink)
                place = lake_place(sink.path or "", sink.format)
                table: LakeTable = DeltaLog(place.path, mark)
            else:
                named = IcebergTable(dict(sink.options), mark)
                place, table = lake_place(named.folder, sink.format), named
            check_reached(place, f"the folder of a table of {sink.format}")
            files = Sink("parquet", (("path", place.path), *((_PARTITION, each) for each in _listed(sink))))
            self._writers[own] = LakeSink(files, self._prefix(f"{sink.format} {query.name}"), self._spark, place, table)
        return self._writers[own]

    def _rejected_topic(self, stream: str, sink: Sink, run: str) -> AnyWriter:
        """A topic of dead letters."""
        own = (f"rejected_{stream} in {run}", sink)
        if own not in self._writers:
            topic = topic_of(dict(sink.options), rejected=True)
            messages = partial(rejected_messages, of_kafka=self._sources[stream].raw is not None)
            mark = f"{self._kept.job}-{mark_of(own[0])}"
            self._writers[own] = TopicSink(topic, mark, messages, checked=False)
        return self._writers[own]

    def _files_of(self, query: AnyQuery, sink: Sink) -> FileSink:
        """The sink of files that all queries over a stream share which name it.

        Batches of two streams have the same numbers, so the names of files tell the stream, too.
        """
        check_path(query.name, sink)
        own = (query.run, sink)
        if own not in self._shared:
            place = f"{sink.format} files of {query.run} in {self._named(sink)}"
            marks = {writer.prefix for writer in self._shared.values()}
            mark = self._prefix(place)  # two sinks may write one format into one folder, with other options
            prefix = mark if mark not in marks else self._prefix(f"{place} with {sink.options}")
            self._shared[own] = self._file_sink(sink, prefix, query.run)
        self._shared[own].was_called(self._prefix(query.name))
        return self._shared[own]

    def _index_of(self, query: AnyQuery, sink: Sink) -> FileSink:
        own = (query.name, sink)
        if own not in self._shared:
            facts = facts_of(query.name, sink, query.emitted)
            folder = index_folder(self._checkpoint, query.name)
            self._shared[own] = IndexSink(facts, folder, self._spark, self._prefix(f"index {query.name}"))
        return self._shared[own]

    def _place_of(self, sink: Sink) -> Place:
        """The folder of a sink; one that cannot be written is refused."""
        place = spark_place(self._spark, sink.path or "").absolute()
        if sink not in self._reached:
            check_reached(place, f"the folder of a sink of {sink.format} files")
            self._reached.add(sink)
        return place

    def _named(self, sink: Sink) -> str:
        """The folder of a sink, as files are marked by it: on this machine its whole path."""
        place = self._place_of(sink)
        return place.path if place.is_local else place.for_spark

    def _file_sink(self, sink: Sink, prefix: str, run: str) -> FileSink:
        if sink.roll_us is None:
            return FileSink(sink, prefix, self._spark, self._place_of(sink))
        home = folder_of(self._checkpoint, run) / ROLLING / prefix
        return RollingSink(sink, prefix, self._spark, home, self._place_of(sink))

    def _prefix(self, mark: str) -> str:
        return f"{self._kept.job}-{mark_of(mark)}"

    def _rejected_files(self, stream: str, sink: Sink, prefix: str, run: str) -> FileSink:
        check_path(f"rejected_{stream}", sink)
        own = (prefix, sink)
        if own not in self._shared:
            self._shared[own] = self._file_sink(sink, prefix, run)
        return self._shared[own]

    def _writer(self, name: str, sink: Sink) -> AnyWriter:
        """A writer that shows rows as those of `name`."""
        own = (name, sink)
        if own not in self._writers:
            self._check_view(name, sink)
            self._writers[own] = writer_for(name, sink, self._spark)
        return self._writers[own]

    def _check_view(self, name: str, sink: Sink) -> None:
        """Spark knows views by their names in any case: of two that differ in no more, one would hide the other."""
        for other, place in self._writers:
            if sink.format == place.format == MEMORY and other != name and other.lower() == name.lower():
                raise SettingsError(f"{other!r} and {name!r} would be one view: give one of them another name")
