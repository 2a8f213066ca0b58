"""Who writes the rows of each query, and rejected events, by what their sinks are. Some are shared between queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import SparkSession

from windrow.errors import SettingsError
from windrow.places.place import Place
from windrow.places.reach import check_reached
from windrow.plan.kafka_options import KAFKA
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.sink import DELTA, FORMATS, HOLDS_ANSWER, INDEX, JDBC, LAKES, MEMORY, Sink, wrong_holding
from windrow.plan.topic_options import check_columns, topic_of
from windrow.plan.window_index import facts_of
from windrow.spark.connect import check_served_sink, is_connect
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.file_names import folder_of
from windrow.spark.job.job_indexes import index_folder
from windrow.spark.sinks.answer_files import AnswerSink, answer_home, times_begun_anew
from windrow.spark.sinks.answer_lake import AnswerLake
from windrow.spark.sinks.answer_table import AnswerTable, job_mark
from windrow.spark.sinks.append_table import AppendTable
from windrow.spark.sinks.files import FileSink
from windrow.spark.sinks.index_files import IndexSink
from windrow.spark.sinks.lake import LakeCommits, LakeSink
from windrow.spark.sinks.lake_tables import files_of, table_of
from windrow.spark.sinks.merged_lake import MergedLake
from windrow.spark.sinks.rolling import ROLLING, RollingSink
from windrow.spark.sinks.rolling_lake import RollingLake
from windrow.spark.sinks.shared_index import SharedIndexSink, chosen_of
from windrow.spark.sinks.topic import TopicSink
from windrow.spark.sinks.topic_messages import answer_messages, messages_of, rejected_messages
from windrow.spark.sinks.writers import AnyWriter, check_path, mark_of, writer_for
from windrow.spark.sources.source import Source


class SinkWriters:
    """The writers of one job. They are kept, since some remember what they have written."""

    def __init__(self, spark: SparkSession, checkpoint: Place, job: str, sources: Mapping[str, Source]) -> None:
        self._spark, self._checkpoint, self._job, self._sources = spark, checkpoint, job, sources
        self._writers: dict[tuple[str, Sink], AnyWriter] = {}
        self._shared: dict[tuple[str, Sink], FileSink] = {}
        self._reached: set[Sink] = set()

    def of_query(self, query: AnyQuery, sink: Sink, wider: Sequence[str] = ()) -> AnyWriter:
        """Who writes the rows of a query to its sink; those of an index may be in one that is `wider`."""
        if is_connect(self._spark):
            check_served_sink(query.name, sink)
        wrong = wrong_holding(sink, query.emit)
        if wrong is not None:
            raise SettingsError(f"sink {query.name!r}: {wrong[0]}\nhint: {wrong[1]}")
        if sink.format == INDEX:
            return self._index_of(query, sink, wider)
        if sink.holds == HOLDS_ANSWER and sink.format == JDBC:
            return AnswerTable(sink, self._marks(query)[-1], len(query.leading), query.shown)
        if sink.format.lower() == JDBC:
            return AppendTable(sink, job_mark(self._job, query))
        if sink.format.lower() == KAFKA:
            return self._topic_of(query, sink)
        if sink.format in LAKES:
            return self._lake_of(query, sink)
        if sink.holds != HOLDS_ANSWER and sink.format in FORMATS:
            return self._files_of(query, sink)
        if sink.holds != HOLDS_ANSWER or sink.path is None:
            return self._writer(query.name, sink)
        return AnswerSink(sink, answer_home(self._checkpoint, query), len(query.leading), self._place_of(sink))

    def of_rejected(self, stream: str, sink: Sink, run: str) -> AnyWriter:
        """Who writes the rejected events of a stream that the Spark query called `run` keeps."""
        own = stream if stream == run else f"{stream} in {run}"  # another keeper's files stay
        if sink.format in FORMATS:
            return self._rejected_files(stream, sink, self._prefix(f"rejected_{own}"), run)
        if sink.format.lower() == JDBC:
            return AppendTable(sink, self._prefix(f"rejected_{own}"))
        if sink.format.lower() == KAFKA:
            return self._rejected_topic(stream, sink, run)
        return self._writer(f"rejected_{stream}", sink)

    def _topic_of(self, query: AnyQuery, sink: Sink) -> AnyWriter:
        """The topic that a query writes to: its producer goes on where another set of queries begins."""
        topic, holds = topic_of(dict(sink.options)), sink.holds == HOLDS_ANSWER
        *formerly, mark = self._marks(query) if holds else [job_mark(self._job, query)]
        own = (f"{query.name} as {mark}", sink)
        if own not in self._writers:
            check_columns(topic, tuple(query.shown))
            if holds:
                messages = partial(answer_messages, topic=topic, leading=len(query.leading))
            else:
                messages = partial(messages_of, topic=topic)
            self._writers[own] = TopicSink(topic, mark, messages, checked=not holds, formerly=formerly)
        return self._writers[own]

    def _lake_of(self, query: AnyQuery, sink: Sink) -> AnyWriter:
        """The table of a lake that a query writes to: its batches are noted under a mark of the query."""
        mark = self._marks(query)[-1] if sink.holds == HOLDS_ANSWER else job_mark(self._job, query)
        own = (f"{query.name} as {mark}", sink)
        if own not in self._writers:
            if sink.format == DELTA:
                check_path(query.name, sink)
            prefix = self._prefix(f"{sink.format} {mark} in {sink.place}")
            if sink.holds == HOLDS_ANSWER and sink.key:
                commits = LakeCommits(table_of(self._spark, sink, mark)[0], sink)
                self._writers[own] = MergedLake(sink, commits, len(query.leading), query.shown)
            elif sink.holds == HOLDS_ANSWER:
                home, leading = answer_home(self._checkpoint, query), len(query.leading)
                self._writers[own] = AnswerLake(sink, mark, prefix, self._spark, home, leading)
            elif sink.roll_us is not None:
                home = folder_of(self._checkpoint, query.run) / ROLLING / prefix
                self._writers[own] = RollingLake(sink, mark, prefix, self._spark, home)
            else:
                table, place = table_of(self._spark, sink, mark)
                files, commits = files_of(sink, place), LakeCommits(table, sink)
                plain = LakeSink(files, prefix, self._spark, place, commits)
                plain.was_called(self._prefix(f"{sink.format} {query.name}"))
                self._writers[own] = plain
        return self._writers[own]

    def _marks(self, query: AnyQuery) -> list[str]:
        """The marks under which the answer of a query was noted, one for each time that it has begun, the last now."""
        mark = job_mark(self._job, query)
        begun = times_begun_anew(self._checkpoint, query.name)
        return [mark, *(f"{mark}-{number}" for number in range(1, begun + 1))]

    def _rejected_topic(self, stream: str, sink: Sink, run: str) -> AnyWriter:
        """A topic of dead letters."""
        own = (f"rejected_{stream} in {run}", sink)
        if own not in self._writers:
            topic = topic_of(dict(sink.options), rejected=True)
            messages = partial(rejected_messages, of_kafka=self._sources[stream].raw is not None)
            mark = self._prefix(own[0])
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

    def _index_of(self, query: AnyQuery, sink: Sink, wider: Sequence[str]) -> FileSink:
        """The sink of an index; one whose rows are in another of the same batches has them there."""
        folder = index_folder(self._checkpoint, query.name)
        wide = chosen_of(folder, {name: index_folder(self._checkpoint, name) for name in wider})
        own = (query.name if wide is None else f"{query.name} in {wide.name}", sink)
        if own not in self._shared:
            given = (facts_of(query.name, sink, query.emitted), folder, self._spark)
            prefix = self._prefix(f"index {query.name}")
            self._shared[own] = (
                IndexSink(*given, prefix) if wide is None else SharedIndexSink(*given, prefix, wide.name)
            )
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
        return f"{self._job}-{mark_of(mark)}"

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
