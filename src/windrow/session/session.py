"""`Session`: declare streams, tables and queries in Python, then start one job for all of them."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.clustering import KnownClusterings
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.explain import explain_plans
from windrow.compile.figures import Figures, figures_for
from windrow.compile.keep_rows import Keeping
from windrow.compile.read_choose import read_choose
from windrow.current.html import Explained, html_table
from windrow.errors import SettingsError
from windrow.expressions.local_engine import LocalEngine
from windrow.language import Query, parse_duration, parse_query
from windrow.places.place import place_of
from windrow.plan.catalog import Catalog
from windrow.plan.expiry import read_expiry
from windrow.plan.memory import DEFAULT_BYTES, read_memory
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.sink import Sink
from windrow.plan.window_index import declared_index
from windrow.schedule.costs import schedule_costs
from windrow.serve.plan_graph import plan_graph
from windrow.serve.plan_picture import plan_picture
from windrow.session.plugins import SessionPlugins
from windrow.session.start import Start, check_columns, check_sinks
from windrow.session.streams import SessionStreams
from windrow.spark.broker_patience import going_on_from
from windrow.spark.connect import check_served, is_connect, parallelism
from windrow.spark.expressions import SparkEngine
from windrow.spark.fs_settings import spark_place
from windrow.spark.job.hangs import TASK_TIMEOUT
from windrow.spark.job.job import Job
from windrow.spark.job.job_life import remove_checkpoint
from windrow.spark.job.recovery import ISOLATE, RESTARTS, Recovery
from windrow.spark.job.statistics import known_in
from windrow.spark.job.stream_run import Trigger
from windrow.spark.packages import with_packages
from windrow.spark.settings import apply_settings, local_spark
from windrow.spark.sinks.covered import Coverage
from windrow.spark.sinks.explain_sinks import explain_sinks
from windrow.spark.sinks.files import format_in
from windrow.spark.sinks.results import typed_results
from windrow.spark.stages.pipeline import packed_results, ways_of


class Session(SessionStreams, SessionPlugins):
    """Continuous queries over the streams of a Spark session.

    `Session()` starts a local Spark; `Session(spark)` uses yours, also one of Spark Connect, and sets on it what
    `settings` lists. `shards` is into how many parts state is cut: as many as there are cores, unless you say
    otherwise. A checkpoint keeps its own. `memory` is how much of it each part may have in memory, such as "256 MB";
    the rest is read when it is needed. `keep` says what panes keep, "partials" or "rows", where it is not to be chosen
    by what both take. `expiry` says how rows of joins and set operators expire ("input-triggered", "time probing",
    "negative tuples", "hybrid"), where it is not to be the cheapest way. `choose` asks for ways by name, such as
    {"maintenance": "two stacks"}, for all queries that can have them: `windrow choices` lists what there is.
    `packages` are what a Spark that is started here is to bring: "kafka", "avro", "postgresql". `beat`, such as "2
    seconds", is how often the idle clocks of all streams are looked at: one heartbeat for all that say no other.
    """

    reads_files = True

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
        beat: str | None = None,
    ) -> None:
        self.memory_bytes = read_memory(memory)
        read_expiry(expiry)
        Keeping(keep)
        wanted = read_choose(choose, keep=keep, expiry=expiry)
        self._expiry = read_expiry(wanted.get("expiry"))
        if shards is not None and (not isinstance(shards, int) or shards < 1):
            raise SettingsError(f"shards={shards!r} is not a whole number from 1")
        if spark is not None and packages:
            raise SettingsError("packages are for a Spark that is started here: give yours spark.jars.packages")
        chosen = spark if spark is not None else local_spark(options=with_packages({}, packages))
        SessionStreams.__init__(self, chosen, beat)
        SessionPlugins.__init__(self)
        self.shards = shards or parallelism(self.spark)
        self._job: Job | None = None
        self.settings = apply_settings(self.spark, self.shards)
        known = (self._streams, self._columns_of_tables, self._aggregates, KnownClusterings(self._clusterings))
        catalog = Catalog(SparkEngine(self.spark), *known, LocalEngine(), self._views, self._indexes, self._functions)
        wishes = Wishes(self.memory_bytes, wanted, self.shards * self.memory_bytes, self.shards)
        self._compiler = Compiler(catalog, self._tables.rows, wishes)
        self._covered = Coverage(self.spark)

    def __repr__(self) -> str:
        named: dict[str, Iterable[str]] = {
            "streams": self._streams,
            "tables": self._columns_of_tables,
            "queries": self._queries,
        }
        told = [f"{what} {', '.join(names)}" for what, names in named.items() if [*names]]
        return f"<windrow.Session on {self.shards} shards: {'; '.join(told) or 'nothing registered'}>"

    def _repr_html_(self) -> str:
        """What is registered, for a notebook."""
        rows = [["stream", name, ", ".join(own.schema.names)] for name, own in self._streams.items()]
        rows += [["table", name, ", ".join(own.names)] for name, own in self._columns_of_tables.items()]
        texts = {name: query.text[slice(*query.span)] for name, query in self._texts.items()}
        rows += [["query", name, " ".join(text.split())] for name, text in texts.items()]
        return html_table(["", "name", "columns"], rows, f"a session on {self.shards} shards")

    def shown_columns(self, query: AnyQuery) -> pa.Schema:
        """The columns of a query's rows as their reader sees them."""
        return self._covered.shown(query)

    def index(
        self,
        name: str,
        stream: str,
        keys: Sequence[str],
        *,
        range: str,
        slide: str,
        include: Sequence[str] = (),
        distribute: str | None = None,
    ) -> None:
        """Keep the events of the last `range` of a stream in order of `keys`, with the columns of `include`.

        A running job is asked by `job.lookup`, `job.scan`, `job.aggregate` and `job.ask`; `windrow ask` asks it from
        another terminal. What has expired goes by panes as long as `slide`. `distribute` says to which shard an event
        goes, as DISTRIBUTE BY does.
        """
        lengths = (parse_duration(range), parse_duration(slide))
        self.create_index(declared_index(name, stream, keys, include, *lengths, distribute))

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
        if is_connect(self.spark):
            check_served(checkpoint, keep_answers)
        if not self._queries:
            raise SettingsError("there is no query to run: register one with query(name, text)")
        sinks = check_sinks(sinks or {}, self._queries, self._indexes)
        self._covered = Coverage(self.spark)  # a function of Spark's may have been registered anew
        check_columns(sinks, self._queries, self.shown_columns)
        start = Start(
            spark=self.spark,
            compiler=self._compiler,
            sources=self._sources,
            streams=self._streams,
            queries=self._queries,
            texts=self._texts,
            shards=self.shards,
            expiry=self._expiry and self._expiry.value,
            figures=self._measured(),
            tables=self._tables,
        )
        place = spark_place(self.spark, checkpoint) if checkpoint else place_of(tempfile.mkdtemp(prefix="windrow-"))
        wishes: dict[str, Any] = {"rejected": rejected, "recovery": recovery, "strict": strict}
        try:
            with going_on_from(place):
                self._job = start.on(place, sinks, trigger, **wishes, keep_answers=keep_answers)
        except BaseException:
            if not checkpoint:
                remove_checkpoint(place, {})
            raise
        if not checkpoint:
            self._job.remove_at_end()
        return self._job

    def check(self, checkpoint: str | None = None) -> None:
        """Refuse what shows only where all registered queries are put together, such as a shard that there is not.

        By what the statistics of a `checkpoint` tell of its streams, what has no room in memory is refused, too.
        """
        kept, figures = self._known_in(checkpoint)
        self._compiler.check(self._queries, figures, kept)

    def explain(
        self, text: str | None = None, *, sinks: Mapping[str, Sink] | None = None, checkpoint: str | None = None
    ) -> str:
        """What runs for a query, or for all registered ones, and why it was chosen.

        With `sinks`, as for `start`, it also tells how the rows of each get there. With a `checkpoint` it goes by its
        shards and by what was measured there, else by what the job that was started last has measured.
        """
        queries = self._queries if text is None else {"query": self.plan("query", text)}
        kept, figures = self._known_in(checkpoint)
        plans = list(self._compiler.compile_all(queries, figures).values())
        told = self._explained(plans, figures, kept)
        places = {name: sink.shown for name, sink in (sinks or {}).items()}

        def draw() -> str:
            return plan_picture(plan_graph(plans, places, told))

        if not sinks:
            return Explained.drawn(told, draw)
        written = partial(format_in, spark=self.spark)
        rows = explain_sinks(list(queries.values()), sinks, Coverage(self.spark).schema, written)
        return Explained.drawn(f"{told}\n\n{rows}", draw)

    def explain_runs(self, plans: Sequence[StagePlan]) -> str:
        """What runs, and why it was chosen, of plans that there are."""
        return self._explained(plans, self._measured(), self.shards)

    def _explained(self, plans: Sequence[StagePlan], figures: Mapping[str, Figures], shards: int) -> str:
        ways = {stream: way for plan in plans for stream, way in ways_of(self._sources, plan).items()}
        keeping = self._compiler.wishes.keeping
        return explain_plans(plans, shards, keeping, figures, ways, schedule_costs)

    def _known_in(self, checkpoint: str | None) -> tuple[int, dict[str, Figures]]:
        """The shards of a checkpoint, and what it knows of the streams; without one, those of this session."""
        if checkpoint is None:
            return self.shards, self._measured()
        return known_in(spark_place(self.spark, checkpoint))

    def plan(self, name: str, text: str | Query, beside: Iterable[AnyQuery] = ()) -> AnyQuery:
        """The plan of one query, to run beside others."""
        return self._compiler.compile_query(name, parse_query(text) if isinstance(text, str) else text, beside)

    def _measured(self) -> dict[str, Figures]:
        """What is known of the streams of the job that was started last."""
        return {} if self._job is None else self._job.measured()

    def stream_plan(
        self, queries: Sequence[AnyQuery], *, keeps_rejected: bool = False, live: bool = False
    ) -> StagePlan:
        """What runs over one scan of the streams that all `queries` read; `live` is a job that goes on by itself."""
        figures = figures_for(queries[0], self._measured())
        return self._compiler.compile_scan(queries, keeps_rejected=keeps_rejected, live=live, figures=figures)
