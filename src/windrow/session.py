"""`Session`: declare streams, tables and queries in Python, then start one job for all of them."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType

from windrow.clustering import KnownClusterings, check_plugin
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.explain import explain_plans
from windrow.compile.keep_rows import Figures, Keeping
from windrow.compile.read_choose import read_choose
from windrow.compile.round_slide import with_slide
from windrow.control import obey
from windrow.current.answers import Answers
from windrow.current.html import Explained, html_table
from windrow.declared import Declared
from windrow.errors import SettingsError
from windrow.expressions.local_engine import LocalEngine
from windrow.kernels.state_codec import storing
from windrow.kernels.user import check_state
from windrow.language import (
    ColumnDefinition,
    Query,
    SplitStream,
    identifier_sql,
    parse_duration,
    parse_query,
    parse_script,
)
from windrow.language.script import parse_columns
from windrow.local.ask import aggregate, ask
from windrow.operators.stored_functions import check_function
from windrow.places.place import Place, place_of
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.ahead import read_ahead
from windrow.plan.catalog import Catalog, Stream, Unique, UserAggregate, UserFunction
from windrow.plan.expiry import read_expiry
from windrow.plan.lateness import read_lateness
from windrow.plan.memory import DEFAULT_BYTES, read_memory
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.run_names import CHANGES_OF
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.query_parts import query_parts
from windrow.plan.sink import Sink, check_options, check_places
from windrow.plan.stream_function import read_function
from windrow.plan.unique import read_unique
from windrow.plan.user_aggregates import check_aggregate
from windrow.plan.window_index import declared_index, index_sink
from windrow.schedule.costs import schedule_costs
from windrow.spark.connect import refuse_connect
from windrow.spark.expressions import SparkEngine, result_type
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.checkpoint import QueryEdits, kept_in
from windrow.spark.job.drift import check_drift, differing, drift, note_queries, noted_queries
from windrow.spark.job.first_windows import first_windows
from windrow.spark.job.hangs import TASK_TIMEOUT
from windrow.spark.job.hold import Hold
from windrow.spark.job.job import Job
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.job.job_life import remove_checkpoint
from windrow.spark.job.job_requests import Listener
from windrow.spark.job.keep_expiry import keep_expiry, kept_expiry
from windrow.spark.job.look_after import LOGGER
from windrow.spark.job.recovery import ISOLATE, RESTARTS, Recovery
from windrow.spark.job.runs import Runs
from windrow.spark.job.status_note import StatusNote
from windrow.spark.job.stream_run import Trigger, is_live
from windrow.spark.packages import with_packages
from windrow.spark.settings import apply_settings, local_spark
from windrow.spark.sinks.covered import covered_schema, shown_schema
from windrow.spark.sinks.explain_sinks import explain_sinks
from windrow.spark.sinks.files import format_in
from windrow.spark.sinks.results import typed_results
from windrow.spark.sources.file_options import bounded, missing_path
from windrow.spark.sources.kafka import read_kafka, split_columns
from windrow.spark.sources.named_files import NamedFiles, name_files
from windrow.spark.sources.read import missing_format, read_stream, read_table, table_rows, time_expression
from windrow.spark.sources.source import Opened, Source
from windrow.spark.stages.pipeline import packed_results, ways_of


class Session(Declared):
    """Continuous queries over the streams of a Spark session.

    `Session()` starts a local Spark; `Session(spark)` uses yours, and sets on it what `settings` lists. `shards` is
    into how many parts state is cut: as many as there are cores, unless you say otherwise. A checkpoint keeps its own.
    `memory` is how much of it each part may have in memory, such as "256 MB"; the rest is read when it is needed.
    `keep` says what panes keep, "partials" or "rows", where it is not to be chosen by what both take. `expiry` says how
    rows of joins and set operators expire ("input-triggered", "time probing", "negative tuples", "hybrid"), where it is
    not to be the cheapest way. `choose` asks for ways by name, such as {"maintenance": "two stacks"}, for all queries
    that can have them: `windrow choices` lists what there is. `packages` are what a Spark that is started here is to
    bring: "kafka", "avro", "postgresql".
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        *,
        shards: int | None = None,
        memory: str | int = DEFAULT_BYTES,
        keep: str | None = None,
        expiry: str | None = None,
        choose: Mapping[str, Any] | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.memory_bytes = read_memory(memory)
        read_expiry(expiry)
        Keeping(keep)
        wanted = read_choose(choose, keep=keep, expiry=expiry)
        self._expiry = read_expiry(wanted.get("expiry"))
        if shards is not None and (not isinstance(shards, int) or shards < 1):
            raise SettingsError(f"shards={shards!r} is not a whole number from 1")
        if spark is not None and packages:
            raise SettingsError("packages are for a Spark that is started here: give yours spark.jars.packages")
        self.spark = spark if spark is not None else local_spark(options=with_packages({}, packages))
        refuse_connect(self.spark)
        self.shards = shards or self.spark.sparkContext.defaultParallelism
        self._job: Job | None = None
        self.settings = apply_settings(self.spark, self.shards)
        self._sources: dict[str, Source] = {}
        self._tables: dict[str, DataFrame] = {}
        self._aggregates: dict[str, UserAggregate] = {}
        self._clusterings: dict[str, type] = {}
        self._functions: dict[str, UserFunction] = {}
        known = (self._streams, self._columns_of_tables, self._aggregates, KnownClusterings(self._clusterings))
        catalog = Catalog(SparkEngine(self.spark), *known, LocalEngine(), self._views, self._indexes, self._functions)
        wishes = Wishes(self.memory_bytes, wanted, self.shards * self.memory_bytes, self.shards)
        self._compiler = Compiler(catalog, lambda name: table_rows(self._tables[name]), wishes)

    def __repr__(self) -> str:
        named: dict[str, Iterable[str]] = {"streams": self._streams, "tables": self._tables, "queries": self._queries}
        told = [f"{what} {', '.join(names)}" for what, names in named.items() if [*names]]
        return f"<windrow.Session on {self.shards} shards: {'; '.join(told) or 'nothing registered'}>"

    def _repr_html_(self) -> str:
        """What is registered, for a notebook."""
        rows = [["stream", name, ", ".join(own.schema.names)] for name, own in self._streams.items()]
        rows += [["table", name, ", ".join(own.names)] for name, own in self._columns_of_tables.items()]
        texts = {name: query.text[slice(*query.span)] for name, query in self._texts.items()}
        rows += [["query", name, " ".join(text.split())] for name, text in texts.items()]
        return html_table(["", "name", "columns"], rows, f"a session on {self.shards} shards")

    def stream(
        self,
        name: str,
        dataframe: DataFrame,
        time: str | None = None,
        lateness: str = "0 seconds",
        *,
        idle_clock: bool = False,
        ahead: str | None = None,
        corrupt: str | None = None,
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
    ) -> None:
        """Register a streaming DataFrame: `time` is the column, or expression, that says when an event happened.

        Without `time`, an event happens when it arrives. `idle_clock` lets the wall clock close windows while no event
        comes. One wrong time would move the clock far ahead of all other events, so an event that is more than `ahead`
        after its batch began is rejected: "1 day" unless you say otherwise, "unbounded" for no limit, which is what
        jobs have that only work off what is there. `corrupt` names the column that holds the text of rows that could
        not be read, if there is one. With `deduplicate_by` and `within`, such as "id" and "1 hour", queries do not see
        an event if another with the same id happened less than an hour before it.
        """
        unique = read_unique(deduplicate_by, within, time)
        timing: dict[str, Any] = {"idle_clock": idle_clock, "ahead": ahead, "unique": unique}
        self.declare_stream(name, dataframe, time, lateness, corrupt=corrupt, files=None, **timing)

    def stream_files(
        self,
        name: str,
        path: str,
        *,
        schema: str | None = None,
        time: str | None = None,
        lateness: str = "0 seconds",
        idle_clock: bool = False,
        ahead: str | None = None,
        format: str = "parquet",
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        **options: str | int | bool,
    ) -> None:
        """Register the files at `path`, and those that come there, as a stream.

        `schema` are the columns as in CREATE STREAM, "ts TIMESTAMP, price DOUBLE"; without it they are those that the
        files now there have. `options` are those of Spark's source of files, such as maxFilesPerTrigger=10. Parquet
        files are read by the tasks that fold their rows, where these know all that queries ask of a row; `explain`
        tells. `time` and what follows it are as in `stream`.
        """
        given = {"path": str(path), **{key: _option(value) for key, value in options.items()}}
        wrong = missing_path(format, given)
        if wrong is not None:
            raise SettingsError(f"stream {name!r}: {wrong}")
        opened = self.open_stream(format, given, schema)
        unique = read_unique(deduplicate_by, within, time)
        self.declare_opened(name, opened, time, lateness, idle_clock=idle_clock, ahead=ahead, unique=unique)

    def open_stream(self, format: str, options: Mapping[str, str], ddl: str | None) -> Opened:
        """A stream in a format of Spark's, to be declared; without `ddl`, its columns are found in the files."""
        frame, corrupt = read_stream(self.spark, format, options, ddl)
        return Opened(frame, corrupt, name_files(self.spark, format, bounded(format, options), frame))

    def declare_opened(
        self,
        name: str,
        opened: Opened,
        time: str | None,
        lateness: str,
        *,
        idle_clock: bool,
        ahead: str | None,
        unique: Unique | None,
    ) -> None:
        """Register a stream that was opened."""
        self.declare_stream(
            name,
            opened.frame,
            time,
            lateness,
            idle_clock=idle_clock,
            ahead=ahead,
            corrupt=opened.corrupt,
            files=opened.files,
            unique=unique,
            raw=opened.raw,
            hidden=opened.hidden,
        )

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
        idle_clock: bool = False,
        ahead: str | None = None,
        deduplicate_by: str | Sequence[str] | None = None,
        within: str | None = None,
        options: Mapping[str, str | int | bool] | None = None,
    ) -> None:
        """Register a topic of Kafka as a stream: `bootstrap` is its broker, "host:9092".

        `schema` are the columns as in CREATE STREAM, "card STRING, sent TIMESTAMP METADATA FROM 'timestamp'". `format`
        is json, csv, avro, text or raw, with `format_options` as behind FORMAT. `options` are `starting`, Spark's
        limits such as maxOffsetsPerTrigger, and those of Kafka's consumer by their own names. Spark needs its
        connector: `Session(packages=["kafka"])`. `time` and what follows it are as in `stream`.
        """
        given = {"bootstrap": bootstrap, "topic": topic}
        given |= {key: _option(value) for key, value in (options or {}).items()}
        about = (given, format.lower(), dict(format_options or {}))
        opened = self.open_messages(*about, parse_columns(schema or ""))
        unique = read_unique(deduplicate_by, within, time)
        self.declare_opened(name, opened, time, lateness, idle_clock=idle_clock, ahead=ahead, unique=unique)

    def open_messages(
        self,
        options: Mapping[str, str],
        message: str | None,
        message_options: Mapping[str, str],
        columns: Sequence[ColumnDefinition],
    ) -> Opened:
        """A stream of Kafka, to be declared."""
        return read_kafka(self.spark, options, message, message_options, *split_columns(columns))

    def open_table(self, name: str, format: str, options: Mapping[str, str], ddl: str | None) -> None:
        """Register rows in a format of Spark's that do not change."""
        self.table(name, read_table(self.spark, format, options, ddl))

    def missing_format(self, format: str) -> str | None:
        """What is wrong with the name of a format, if anything."""
        return missing_format(self.spark, format)

    def shown_columns(self, query: AnyQuery) -> pa.Schema:
        """The columns of a query's rows as their reader sees them."""
        return shown_schema(query, self.spark)

    def declare_stream(
        self,
        name: str,
        dataframe: DataFrame,
        time: str | None,
        lateness: str,
        *,
        idle_clock: bool,
        ahead: str | None,
        corrupt: str | None,
        files: NamedFiles | str | None,
        unique: Unique | None,
        raw: str | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        """Register a stream whose rows are in `dataframe`, and perhaps in files that tasks can read by their names.

        No query sees the `hidden` columns; `raw` is an expression for an event as it came.
        """
        self._check_name(name)
        if name.startswith(CHANGES_OF):
            raise SettingsError(
                f"no stream can be called {name!r}: what begins with {CHANGES_OF!r} is several together"
            )
        if not dataframe.isStreaming:
            raise SettingsError(f"{name!r} is not a stream: read it with spark.readStream, or register it as a table")
        limit = read_ahead(ahead)
        if time is None and (idle_clock or read_lateness(lateness) or limit is not None):
            what = "idle clock" if idle_clock else "limit ahead" if limit is not None else "lateness"
            raise SettingsError(f"{name!r} is timed by arrival and has no {what}: say with time=... when they happened")
        self._sources[name] = Source(dataframe, time_expression(dataframe, time, name), corrupt, files, time, raw)
        shown = dataframe.drop(*hidden) if corrupt is None else dataframe.drop(corrupt, *hidden)
        schema = to_arrow_schema(shown.schema, timezone="UTC")
        self._streams[name] = Stream(name, schema, time, read_lateness(lateness), idle_clock, limit, unique=unique)

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

    def table(self, name: str, dataframe: DataFrame) -> None:
        """Register a static DataFrame."""
        self._check_name(name)
        if dataframe.isStreaming:
            raise SettingsError(f"{name!r} is a stream: register it with stream(..., time=...)")
        self._tables[name] = dataframe
        self._columns_of_tables[name] = to_arrow_schema(dataframe.schema, timezone="UTC")

    def aggregate(
        self,
        name: str,
        implementation: type,
        returns: str | DataType | None = None,
        *,
        state: str | None = None,
    ) -> None:
        """Register a user's aggregate: a class with `init`, `add`, `finish`, and perhaps `merge` and `remove`.

        Its states are stored as plain values, or as its own `dump` and `load` make them; with `state="pickle"` as
        pickles, which run code when they are read: who can write to the checkpoint is to be trusted then.
        """
        check_aggregate(name, implementation)
        if self.spark.catalog.functionExists(name):
            raise SettingsError(f"{name.upper()} is a function of Spark already: give the aggregate another name")
        self._check_plugin(name, self._clusterings, "a clustering")
        self._check_plugin(name, self._functions, "a stream function")
        result = returns if returns is not None else Abilities.of(implementation).returns
        implementation = storing(f"aggregate {name!r}", implementation, state)
        check_state(name, implementation)
        self._aggregates[name.lower()] = UserAggregate(implementation, result_type(name, result))

    def clustering(self, name: str, implementation: type, *, state: str | None = None) -> None:
        """Register a user's clustering: a class with `init`, `add`, `merge`, `copy`, `report`, perhaps `exclude`.

        Its summaries are stored as the states of aggregates are.
        """
        self._check_plugin(name, self._aggregates, "an aggregate")
        self._check_plugin(name, self._functions, "a stream function")
        implementation = storing(f"clustering {name}", implementation, state)
        check_plugin(name, implementation)
        self._clusterings[name.lower()] = implementation

    def stream_function(
        self,
        name: str,
        implementation: type,
        returns: str | None = None,
        *,
        errors: str | None = None,
        state: str | None = None,
    ) -> None:
        """Register a function that remembers, which FROM calls: `FROM hits(TABLE positions PARTITION BY player)`.

        Its class has `init()` and `step(state, event)`, which is told the events of each key in order of time, and
        gives rows of the columns that `returns` has, "speed DOUBLE, far BOOLEAN". With errors="reject" an event that
        `step` fails with is left out and counted, rather than that the query stops. States are stored as those of
        aggregates are.
        """
        function = read_function(name, implementation, returns, errors)
        self._check_plugin(name, self._aggregates, "an aggregate")
        self._check_plugin(name, self._clusterings, "a clustering")
        self._functions[name.lower()] = check_function(name, function, state)

    def index(
        self,
        name: str,
        stream: str,
        keys: Sequence[str],
        *,
        range: str,
        slide: str,
        include: Sequence[str] = (),
    ) -> None:
        """Keep the events of the last `range` of a stream in order of `keys`, with the columns of `include`.

        A running job is asked by `job.lookup`, `job.scan`, `job.aggregate` and `job.ask`; `windrow ask` asks it from
        another terminal. What has expired goes by panes as long as `slide`.
        """
        lengths = (parse_duration(range), parse_duration(slide))
        self.create_index(declared_index(name, stream, keys, include, *lengths))

    def sql(self, text: str) -> DataFrame:
        """The results of one query, as a streaming DataFrame like any other; it may be registered as a stream."""
        plan = self.stream_plan([self.plan("query", text)])
        metrics = f"results {uuid.uuid4().hex[:8]}"
        packed = packed_results(self._sources, plan, self.shards, metrics=metrics)
        return typed_results(packed, plan.queries[0])

    def query(self, name: str, text: str, *, choose: Mapping[str, Any] | None = None) -> None:
        """Register a query, to be run together with others by `start`.

        `choose` is as that of the session, for this query alone, and goes before it. What cannot be right for the query
        is refused.
        """
        self.register(name, parse_query(text), read_choose(choose))

    def start(
        self,
        checkpoint: str | None = None,
        sinks: Mapping[str, Sink] | None = None,
        trigger: Trigger = None,
        *,
        rejected: Mapping[str, Sink] | Sink | None = None,
        on_error: str = ISOLATE,
        restarts: int = RESTARTS,
        task_timeout: str = TASK_TIMEOUT,
        strict: bool = False,
        keep_answers: bool = False,
    ) -> Job:
        """Run all registered queries, over one scan of each stream, each into its sink.

        Without a `checkpoint` there is a temporary one, which goes with the job. `rejected` is a sink for events that
        no window took, or one for each of some streams. `on_error` says what becomes of a query whose code or sink
        fails while others run: with "isolate" it stops, is told of, and the others go on without it; with "stop" the
        whole job stops, and nothing of its batch is written. `restarts` is how often a Spark query that has died of
        what passes, such as a machine that was lost, is started again without a batch done in between; a
        batch in which no task ends for `task_timeout` is done again, too. Where the
        checkpoint has run other queries than these, `job.drift` and the log say what differs; with `strict` it is
        refused. With `keep_answers`, `job.answer` has the current answer of each query; else of those whose sinks keep
        it.
        """
        recovery = Recovery(on_error, restarts, task_timeout)
        if not self._queries:
            raise SettingsError("there is no query to run: register one with query(name, text)")
        sinks = dict(sinks or {})
        published = {name: index_sink(bound.facts) for name, bound in self._indexes.items()}
        taken = [name for name, sink in published.items() if sinks.get(name, sink) != sink]
        if taken:
            raise SettingsError(f"{taken[0]!r} is an index, which the job publishes itself: leave out its sink")
        sinks |= published
        unknown = [name for name in sinks if name not in self._queries]
        if unknown:
            raise SettingsError(f"sink {unknown[0]!r} has no query; known queries: {', '.join(self._queries)}")
        missing = [name for name in self._queries if name not in sinks]
        if missing:
            raise SettingsError(
                f"no sink for {', '.join(missing)}: sinks={{'{missing[0]}': windrow.sink('parquet', path=...)}}"
            )
        if checkpoint:
            place = spark_place(self.spark, checkpoint)
            return self._started(place, sinks, trigger, rejected, recovery, strict, keep_answers)
        place = place_of(tempfile.mkdtemp(prefix="windrow-"))
        try:
            job = self._started(place, sinks, trigger, rejected, recovery, strict, keep_answers)
        except BaseException:
            remove_checkpoint(place, {})
            raise
        job.remove_at_end()
        return job

    def _started(
        self,
        checkpoint: Place,
        sinks: dict[str, Sink],
        trigger: Trigger,
        rejected: Mapping[str, Sink] | Sink | None,
        recovery: Recovery,
        strict: bool,
        keep_answers: bool,
    ) -> Job:
        hold = Hold(checkpoint)
        hold.take()
        try:
            queries, aside = self._queries_in(checkpoint, sinks)
            check_options(sinks | ({"rejected": rejected} if isinstance(rejected, Sink) else dict(rejected or {})))
            running = {name: sinks[name] for name in queries}
            check_places(running)
            kept = kept_in(checkpoint, self.shards, self._expiry and self._expiry.value)
            asked = self._asked()
            told = self._drift(checkpoint, queries, asked)
            if strict:
                check_drift(str(checkpoint), told)
            keep_expiry(checkpoint, queries, kept.expiry)
            known = (self._sources, self._compiler, rejected, is_live(trigger), self._measured())
            answers = Answers(kept.job, keep_all=keep_answers)
            runs = Runs(self.spark, checkpoint, kept, *known, hold.check, answers)
            job = Job(queries, running, trigger, runs, checkpoint, hold, recovery, aside)
            job.drift = told
            job.indexes = JobIndexes(checkpoint, ask, aggregate)
        except BaseException:
            hold.release()
            raise
        try:
            note_queries(checkpoint, asked)
            job.at_end(Listener(checkpoint, partial(obey, job), lambda: job.is_active).end)
            note = StatusNote(checkpoint, job.progress, lambda: job.queries, lambda: job.is_active)
            job.at_end(note.end)
            job.when_over(note.over)
        except BaseException:
            job.stop()
            raise
        self._job = job
        return job

    def _asked(self) -> dict[str, dict[str, str]]:
        """The registered queries, in parts that can be compared with those of an earlier start."""
        lateness = {name: stream.lateness_us for name, stream in self._streams.items()}
        return {name: query_parts(query, lateness) for name, query in self._queries.items()}

    def _drift(
        self, checkpoint: Place, queries: Mapping[str, AnyQuery], asked: Mapping[str, Mapping[str, str]]
    ) -> list[str]:
        """What differs from the queries that the checkpoint has run, in words, which the log gets too."""
        edits, before = QueryEdits.read(checkpoint), noted_queries(checkpoint)
        names = differing(before, asked, edits)
        runs = dict.fromkeys(query.run for query in queries.values()) if names else {}
        plans = [self.stream_plan([query for query in queries.values() if query.run == run]) for run in runs]
        firsts = first_windows(self.spark, checkpoint, plans, names)
        told = drift(str(checkpoint), before, asked, edits, firsts)
        for line in told:
            LOGGER.warning(line)
        return told

    def _queries_in(
        self, checkpoint: Place, sinks: dict[str, Sink]
    ) -> tuple[dict[str, AnyQuery], dict[str, tuple[AnyQuery, Sink]]]:
        """The queries that run on a checkpoint, and those that do not, since they were dropped or have stopped.

        The sinks of those that came while it ran join `sinks`.
        """
        changes = QueryEdits.read(checkpoint)
        queries = self._shared()
        away = {*changes.dropped, *changes.stopped} - (changes.added.keys() - changes.stopped.keys())
        aside = {name: queries.pop(name) for name in away if name in queries}
        for name, way in kept_expiry(changes, queries, self._expiry and self._expiry.value).items():
            wanted = Wanted((("expiry", way),))
            queries[name] = self._compiler.compile_query(name, self._texts[name], choose=wanted)
        for name, added in changes.added.items():
            plan = self._compiler.compile_query(name, parse_query(added.text), queries.values(), Wanted(added.choose))
            if added.slide_us is not None and isinstance(plan, QueryPlan):
                plan = with_slide(plan, added.slide_us)
            sinks[name] = added.sink
            if name in changes.stopped:
                aside[name] = plan
            else:
                queries[name] = plan
        if not queries:
            names = ", ".join(sorted(aside))
            raise SettingsError(
                f"no query is left to run: the checkpoint says that {names} were dropped or have stopped"
                f"\nhint: bring them back with windrow resume {checkpoint} {names}, or start with a new checkpoint"
            )
        return queries, {name: (plan, sinks[name]) for name, plan in aside.items()}

    def explain(self, text: str | None = None, *, sinks: Mapping[str, Sink] | None = None) -> str:
        """What runs for a query, or for all registered ones, and why it was chosen.

        With `sinks`, as for `start`, it also tells how the rows of each get there.
        """
        queries = self._queries if text is None else {"query": self.plan("query", text)}
        told = self.explain_runs(list(self._compiler.compile_all(queries, self._measured()).values()))
        if not sinks:
            return Explained(told)
        covered, written = partial(covered_schema, spark=self.spark), partial(format_in, spark=self.spark)
        return Explained(f"{told}\n\n{explain_sinks(list(queries.values()), sinks, covered, written)}")

    def explain_runs(self, plans: Sequence[StagePlan]) -> str:
        """What runs, and why it was chosen, of plans that there are."""
        ways = {stream: way for plan in plans for stream, way in ways_of(self._sources, plan).items()}
        keeping = self._compiler.wishes.keeping
        return explain_plans(plans, self.shards, keeping, self._measured(), ways, schedule_costs)

    def plan(self, name: str, text: str | Query, beside: Iterable[AnyQuery] = ()) -> AnyQuery:
        """The plan of one query, to run beside others."""
        return self._compiler.compile_query(name, parse_query(text) if isinstance(text, str) else text, beside)

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
        return table_rows(self._tables[name])

    def _measured(self) -> dict[str, Figures]:
        """What is known of the streams of the job that was started last."""
        return {} if self._job is None else self._job.measured()

    def _shared(self) -> dict[str, AnyQuery]:
        """The registered queries, which may share clusters."""
        return self._compiler.share(self._queries)

    def stream_plan(
        self, queries: Sequence[AnyQuery], *, keeps_rejected: bool = False, live: bool = False
    ) -> StagePlan:
        """What runs over one scan of the streams that all `queries` read; `live` is a job that goes on by itself."""
        figures = self._measured().get(queries[0].run, Figures())
        return self._compiler.compile_scan(queries, keeps_rejected=keeps_rejected, live=live, figures=figures)

    def _check_plugin(self, name: str, others: Mapping[str, object], what: str) -> None:
        if name.lower() in others:
            raise SettingsError(f"there is {what} {name!r} already: give one of them another name")


def _option(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
