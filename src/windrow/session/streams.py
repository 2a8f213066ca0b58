"""The streams and tables of a session: rows of Spark's, of files or of Kafka, and when each happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from windrow.declared import Declared
from windrow.errors import SettingsError
from windrow.language import ColumnDefinition, SplitStream, identifier_sql, parse_script
from windrow.language.script import parse_columns
from windrow.plan.catalog import Stream
from windrow.plan.history import History, starting_before
from windrow.plan.idle_clock import IdleClock, read_beat
from windrow.plan.nodes.run_names import CHANGES_OF
from windrow.plan.refresh import Refresh
from windrow.plan.sink import DELTA
from windrow.plan.timed_by import TimedBy
from windrow.spark.connect import is_connect
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.table_editions import kept_table
from windrow.spark.sources.delta import open_delta
from windrow.spark.sources.file_columns import missing_column
from windrow.spark.sources.file_options import bounded, missing_path
from windrow.spark.sources.history import read_history
from windrow.spark.sources.kafka import read_kafka, split_columns
from windrow.spark.sources.named_files import name_files
from windrow.spark.sources.read import missing_format, read_stream, read_table, time_expression
from windrow.spark.sources.source import Opened, Source
from windrow.spark.sources.tables import Tables


class SessionStreams(Declared):
    """What queries read. Where rows come from is known here; what is declared of them, in `Declared`."""

    def __init__(self, spark: SparkSession, beat: str | None = None) -> None:
        """`beat` is how often all idle clocks are looked at that say nothing else."""
        super().__init__(read_beat(beat))
        self.spark = spark
        self._sources: dict[str, Source] = {}
        self._tables = Tables()

    def stream(
        self,
        name: str,
        dataframe: DataFrame,
        time: str | None = None,
        lateness: str = "0 seconds",
        *,
        idle_clock: bool | IdleClock = False,
        ahead: str | None = None,
        corrupt: str | None = None,
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        correct_for: str | None = None,
        shed_above: str | None = None,
    ) -> None:
        """Register a streaming DataFrame: `time` is the column, or expression, that says when an event happened.

        Without `time`, an event happens when it arrives. `idle_clock` lets the wall clock close windows while no event
        comes; windrow.idle_clock(alpha=0.9, beat="2 seconds") says how it learns the delay of events, and how often it
        is looked at. One wrong time would move the clock far ahead of all other events, so an event that is more than
        `ahead` after its batch began is rejected: "1 day" unless you say otherwise, "unbounded" for no limit, which is
        what jobs have that only work off what is there. `corrupt` names the column that holds the text of rows that
        could not be read, if there is one. With `deduplicate_by` and `within`, such as "id" and "1 hour", queries do
        not see an event if another with the same id happened less than an hour before it. With `correct_for`, such as
        "1 minute", windows are answered again when an event comes that they lack, up to that long after their end: rows
        then have `op`, `-` for what was told and `+` for what holds instead. With `shed_above`, such as "10 seconds", a
        job whose delay grows above that takes only a share of the rows, and results have `sampled`, which says how
        large it was.
        """
        timed_by = TimedBy.read(time, lateness, idle_clock, ahead, deduplicate_by, within, correct_for, shed_above)
        self.declare_opened(name, Opened(dataframe, corrupt, None), timed_by)

    def stream_files(
        self,
        name: str,
        path: str,
        *,
        schema: str | None = None,
        time: str | None = None,
        lateness: str = "0 seconds",
        idle_clock: bool | IdleClock = False,
        ahead: str | None = None,
        format: str = "parquet",
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        correct_for: str | None = None,
        shed_above: str | None = None,
        after: History | None = None,
        **options: str | int | bool,
    ) -> None:
        """Register the files at `path`, and those that come there, as a stream.

        `schema` are the columns as in CREATE STREAM, "ts TIMESTAMP, price DOUBLE"; without it they are those that the
        files now there have. `options` are those of Spark's source of files, such as maxFilesPerTrigger=10. Parquet
        files are read by the tasks that fold their rows, where these know all that queries ask of a row; `explain`
        tells. `format="delta"` follows the table at `path`, version by version. `time` and what follows it are as in
        `stream`. With `after`, such as windrow.history("parquet", until="2026-11-16 00:00", path="lake/tx"), those
        files are read first, for what happened before that instant.
        """
        given = {"path": str(path), **{key: _option(value) for key, value in options.items()}}
        wrong = missing_path(format, given)
        if wrong is not None:
            raise SettingsError(f"stream {name!r}: {wrong}")
        timed_by = TimedBy.read(time, lateness, idle_clock, ahead, deduplicate_by, within, correct_for, shed_above)
        opened = self.open_stream(format, given, schema)
        self.declare_opened(name, opened, timed_by, after)

    def open_stream(self, format: str, options: Mapping[str, str], ddl: str | None) -> Opened:
        """A stream in a format of Spark's, or of Delta, to be declared; without `ddl`, its columns are found there."""
        if format.lower() == DELTA:
            return open_delta(self.spark, options, ddl)
        frame, corrupt = read_stream(self.spark, format, options, ddl)
        return Opened(frame, corrupt, name_files(self.spark, format, bounded(format, options), frame))

    def declare_opened(
        self,
        name: str,
        opened: Opened,
        timed_by: TimedBy,
        after: History | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        """Register a stream that was opened: rows of Spark's, perhaps in files that tasks can read by their names.

        It is read `after` its history, if it has one, whose files may lack the columns `beside` the others.
        """
        self._check_name(name)
        if name.startswith(CHANGES_OF):
            raise SettingsError(
                f"no stream can be called {name!r}: what begins with {CHANGES_OF!r} is several together"
            )
        if not opened.frame.isStreaming:
            raise SettingsError(f"{name!r} is not a stream: read it with spark.readStream, or register it as a table")
        if timed_by.denied is not None:
            raise SettingsError(
                f"{name!r} is timed by arrival and has no {timed_by.denied}: say with time=... when they happened"
            )
        time_sql = time_expression(opened.frame, timed_by.time, name)
        unseen = opened.hidden if opened.corrupt is None else (opened.corrupt, *opened.hidden)
        about = (opened.frame, time_sql, opened.corrupt, opened.files, timed_by.time, opened.raw)
        source = Source(*about, topics=opened.topics)
        if after is not None:
            past = self._history(name, after, opened.frame.drop(*unseen).schema, timed_by, beside)
            source = replace(source, history=past, after=after)
        self._sources[name] = source
        schema = to_arrow_schema(opened.frame.drop(*unseen).schema, timezone="UTC")
        self._streams[name] = timed_by.beating(self._beat_us).stream(name, schema)

    def _history(self, name: str, after: History, live: StructType, timed_by: TimedBy, beside: Sequence[str]) -> Source:
        if timed_by.time is None:
            raise SettingsError(f"{name!r} is timed by arrival, and a history has arrived before: say time=...")
        if is_connect(self.spark):
            raise SettingsError("histories are not read through Spark Connect\nhint: start the job where Spark is")
        needed = [field.name for field in live.fields if field.name not in beside]
        options = dict(after.options)
        lacks = missing_column(after.format, options, needed)
        wrong = missing_path(after.format, options) or (None if lacks is None else lacks[1])
        if wrong is not None:
            raise SettingsError(f"the history of stream {name!r}: {wrong}")
        past = read_history(self.spark, after, live, needed)
        time_sql = time_expression(past.frame, timed_by.time, name)
        return Source(past.frame, time_sql, past.corrupt, past.files, timed_by.time, past.raw)

    def stream_kafka(
        self,
        name: str,
        bootstrap: str,
        topic: str,
        *,
        schema: str | None = None,
        format: str = "json",
        format_options: Mapping[str, str] | None = None,
        time: str | None = None,
        lateness: str = "0 seconds",
        idle_clock: bool | IdleClock = False,
        ahead: str | None = None,
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        correct_for: str | None = None,
        shed_above: str | None = None,
        options: Mapping[str, str | int | bool] | None = None,
        after: History | None = None,
    ) -> None:
        """Register a topic of Kafka as a stream: `bootstrap` is its broker, "host:9092".

        `schema` are the columns as in CREATE STREAM, "card STRING, sent TIMESTAMP METADATA FROM 'timestamp'". `format`
        is json, csv, avro, text or raw, with `format_options` as behind FORMAT. `options` are `starting`, Spark's
        limits such as maxOffsetsPerTrigger, and those of Kafka's consumer by their own names. Spark needs its
        connector: `Session(packages=["kafka"])`. `time` and what follows it are as in `stream`. `after` is as in
        `stream_files`: unless `starting` is said, the topic is then read from where the history ends, less the
        lateness, by the broker's time.
        """
        given = {"bootstrap": bootstrap, "topic": topic}
        given |= {key: _option(value) for key, value in (options or {}).items()}
        timed_by = TimedBy.read(time, lateness, idle_clock, ahead, deduplicate_by, within, correct_for, shed_above)
        given, columns = starting_before(given, after, timed_by.lateness_us), parse_columns(schema or "")
        opened = self.open_messages(given, format.lower(), dict(format_options or {}), columns)
        beside = [column.name for column in columns if column.metadata is not None]
        self.declare_opened(name, opened, timed_by, after, beside)

    def open_messages(
        self,
        options: Mapping[str, str],
        message: str | None,
        message_options: Mapping[str, str],
        columns: Sequence[ColumnDefinition],
    ) -> Opened:
        """A stream of Kafka, to be declared."""
        return read_kafka(self.spark, options, message, message_options, *split_columns(columns))

    def open_table(
        self, name: str, format: str, options: Mapping[str, str], ddl: str | None, refresh: Refresh | None = None
    ) -> None:
        """Register rows in a format of Spark's that events are joined with."""
        again = partial(read_table, self.spark, format, options, ddl)
        try:
            frame = again()
        except SettingsError:
            shown = self._tables.declare_kept(name, again, refresh)
            if shown is None:
                raise
            self._check_name(name)
            self._columns_of_tables[name] = shown
            return
        self._declare_table(name, frame, refresh)

    def tables_kept_in(self, checkpoint: str) -> None:
        """Declare tables with REFRESH that are not there now by the rows that a checkpoint has of them, if it has some.

        A start on the checkpoint goes on with these rows, until a refresh finds the tables again.
        """
        self._tables.kept = partial(kept_table, spark_place(self.spark, checkpoint))

    def missing_format(self, format: str) -> str | None:
        """What is wrong with the name of a format, if anything."""
        return missing_format(self.spark, format)

    def split(self, stream: str, branches: Mapping[str, str]) -> None:
        """Make several streams of one: each has the columns and the events that its branch takes.

        `session.split("positions", {"balls": "SELECT ts, x WHERE sid < 10", "feet": "SELECT * WHERE sid >= 10"})`. An
        event may go to several. They are read in one scan, and only as far as queries ask for them.
        """
        names, texts = ", ".join(map(identifier_sql, branches)), ", ".join(f"({text})" for text in branches.values())
        if not branches:
            raise SettingsError("a split has a branch for each stream\nhint: {'balls': 'SELECT * WHERE sid < 10'}")
        (statement,) = parse_script(f"CREATE STREAM {names} AS SPLIT {identifier_sql(stream)} {texts}")
        assert isinstance(statement, SplitStream)
        for name, query in statement.branches:
            self.branch(name, query)

    def table(self, name: str, dataframe: DataFrame, *, refresh: str | None = None, read_at: str | None = None) -> None:
        """Register a static DataFrame. With `refresh`, such as "10 minutes", a job reads it again so often.

        `read_at` is the name of a column more, which says when the rows that an answer has used were read.
        """
        self._declare_table(name, dataframe, Refresh.read(refresh, read_at))

    def _declare_table(self, name: str, dataframe: DataFrame, refresh: Refresh | None) -> None:
        self._check_name(name)
        if dataframe.isStreaming:
            raise SettingsError(f"{name!r} is a stream: register it with stream(..., time=...)")
        self._columns_of_tables[name] = self._tables.declare(name, dataframe, refresh)

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams that queries may read."""
        return dict(self._streams)

    @property
    def sources(self) -> dict[str, Source]:
        """Where the rows of each stream come from."""
        return dict(self._sources)

    @property
    def tables(self) -> dict[str, pa.Schema]:
        """The columns of the tables that queries may join."""
        return dict(self._columns_of_tables)

    def table_rows(self, name: str) -> pa.Table:
        """The rows of a table, as a query would join them."""
        return self._tables.rows(name)


def _option(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
