"""`Draft`: a script's statements declared without Spark, for `windrow check` and `windrow explain`.

To start Spark takes seconds, and most scripts need none to be read: their columns are declared, and `expressions/`
knows the types of their expressions as Spark has them. A draft never guesses. Where only Spark can tell, also where
something is wrong by our own rules and Spark is to say so, it raises `NeedsSpark`, and the same statements are declared
on a session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.compile.compile import Compiler, Wishes
from windrow.compile.explain import explain_plans
from windrow.compile.figures import Figures
from windrow.compile.read_choose import read_choose
from windrow.declared import Declared
from windrow.errors import WindrowError
from windrow.expressions.evaluate import type_of
from windrow.expressions.local_engine import LocalEngine
from windrow.expressions.types import is_time, written_type
from windrow.language import ColumnDefinition, identifier_sql, parse_expression
from windrow.places.outside_spark import settings_outside_spark
from windrow.places.place import place_of
from windrow.plan.bind.refuse_time_functions import wrong_time
from windrow.plan.catalog import Catalog, Described
from windrow.plan.history import History
from windrow.plan.idle_clock import read_beat
from windrow.plan.kafka_options import source_options
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.run_names import CHANGES_OF
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.refresh import Refresh
from windrow.plan.sink import DELTA, OWN_FORMATS, Sink, check_partitions
from windrow.plan.timed_by import TimedBy
from windrow.schedule.costs import schedule_costs
from windrow.spark.plain_types import is_plain
from windrow.spark.sinks.explain_sinks import explain_sinks
from windrow.spark.sources.asked import asked_of, columns_of, way_told
from windrow.spark.sources.file_columns import MOST, files_of, in_folders
from windrow.spark.sources.file_options import CORRUPT, TEXTS, bounded, not_by_name

_FORMATS = ("parquet", "csv", "json", "orc", "text")
"""The sources that every Spark has."""

_CHAIN = 50
"""A longer chain of operators is evaluated by Spark in another way."""


class NeedsSpark(Exception):
    """Why only Spark can tell whether a script is right, or what runs for it."""


@dataclass(frozen=True, slots=True)
class OpenedFiles:
    """Files of a stream, with the columns that are declared of them."""

    schema: pa.Schema
    format: str
    options: Mapping[str, str]


class DraftEngine:
    """The types of row expressions, as far as they are known without Spark."""

    def type_of(self, expression: exp.Expr, schema: pa.Schema) -> pa.DataType:
        if sum(1 for _ in expression.find_all(exp.Binary)) > _CHAIN:
            raise NeedsSpark("an expression is very long")
        try:
            return type_of(expression, schema)
        except (WindrowError, pa.ArrowException) as error:
            raise NeedsSpark(
                str(error).splitlines()[0].replace("replay does not evaluate", "only Spark knows")
            ) from None


class LaterClusterings:
    """The clusterings that ship, loaded when one is asked for."""

    user: Mapping[str, type] = {}

    def described(
        self, name: str, parameters: tuple[Any, ...], named: Mapping[str, Any], dimensions: int, attached: bool
    ) -> Described:
        from windrow.clustering import KnownClusterings

        return KnownClusterings().described(name, parameters, named, dimensions, attached)


class Draft(Declared):
    """What a script declares, on no Spark: `Application` declares it here as on a session."""

    reads_files = False

    def __init__(
        self,
        master: str,
        options: Mapping[str, str],
        *,
        shards: int | None = None,
        memory_bytes: int = DEFAULT_BYTES,
        keep: str | None = None,
        expiry: str | None = None,
        choose: Mapping[str, Any] | None = None,
        beat: str | None = None,
    ) -> None:
        """`master` and `options` are those of the Spark that would be started."""
        super().__init__(read_beat(beat))
        _check_spark(options)
        wanted = read_choose(choose, keep=keep, expiry=expiry)
        self.shards = shards or local_cores(master)
        self._opened: dict[str, OpenedFiles] = {}
        catalog = Catalog(
            DraftEngine(),
            self._streams,
            self._columns_of_tables,
            {},
            LaterClusterings(),
            LocalEngine(),
            self._views,
            self._indexes,
        )
        wishes = Wishes(memory_bytes, wanted, self.shards * memory_bytes, self.shards)
        self._compiler = Compiler(catalog, _unread, wishes)

    def open_stream(self, format: str, options: Mapping[str, str], ddl: str | None) -> OpenedFiles:
        """A stream of files whose columns are declared."""
        if format.lower() == DELTA:
            raise NeedsSpark("a table is asked for its columns")
        lowered = {name.lower(): value for name, value in options.items()}
        odd = [lowered[name] for name in ("maxfilespertrigger", "maxbytespertrigger") if name in lowered]
        if any(not value.isdigit() for value in odd):
            raise NeedsSpark("an option may be wrong")
        schema = self._declared(format, lowered, ddl)
        own = lowered.get("columnnameofcorruptrecord", CORRUPT).lower()
        if format in TEXTS and own in (name.lower() for name in schema.names):
            raise NeedsSpark(f"{own} is declared")
        return OpenedFiles(schema, format, bounded(format, options))

    def open_messages(
        self,
        options: Mapping[str, str],
        message: str | None,
        message_options: Mapping[str, str],
        columns: Sequence[ColumnDefinition],
    ) -> OpenedFiles:
        """A stream of Kafka, whose broker has to be asked."""
        source_options(options)
        raise NeedsSpark("a broker is asked for its topics")

    def open_table(
        self, name: str, format: str, options: Mapping[str, str], ddl: str | None, refresh: Refresh | None = None
    ) -> None:
        """Register rows that events are joined with, whose columns are declared."""
        self._check_name(name)
        lowered = {key.lower(): value for key, value in options.items()}
        schema = self._declared(format, lowered, ddl)
        self._columns_of_tables[name] = schema if refresh is None else refresh.columns(name, schema)

    def _declared(self, format: str, options: Mapping[str, str], ddl: str | None) -> pa.Schema:
        if ddl is None:
            raise NeedsSpark("columns are not declared, and have to be found in the files")
        files = list(islice(files_of(options.get("path", ""), options), MOST))
        schema = in_folders(files, options, declared_schema(ddl))
        if schema is None:
            raise NeedsSpark("folders are named by columns")
        return schema

    def declare_opened(
        self,
        name: str,
        opened: OpenedFiles,
        timed_by: TimedBy,
        after: History | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        """Register a stream that was opened."""
        if after is not None:
            raise NeedsSpark("a history is read before a stream")
        self._check_name(name)
        if name.startswith(CHANGES_OF) or timed_by.denied is not None:
            raise NeedsSpark("a stream is declared wrongly")
        if timed_by.time is not None:
            tree = parse_expression(timed_by.time)
            if not is_time(DraftEngine().type_of(tree, opened.schema)) or wrong_time(tree) is not None:
                raise NeedsSpark(f"{timed_by.time} is no plain time")
        self._opened[name] = opened
        self._streams[name] = timed_by.beating(self._beat_us).stream(name, opened.schema)

    def missing_format(self, format: str) -> str | None:
        """What is wrong with the name of a format, if anything."""
        if format not in (*_FORMATS, *OWN_FORMATS):
            raise NeedsSpark(f"only Spark knows the format {format}")
        return None

    def shown_columns(self, query: AnyQuery) -> pa.Schema:
        """The columns of a query's rows as their reader sees them."""
        if not isinstance(query, QueryPlan):
            return query.emitted
        if query.emit != SNAPSHOT:
            from windrow.runtime.answers.finish import finish_part

            return finish_part(query.emitted.empty_table(), query).schema
        emitted, engine = query.numbered, DraftEngine()
        shown = [emitted.field(name) for name in query.leading]
        shown += [pa.field(each.name, engine.type_of(parse_expression(each.sql), emitted)) for each in query.outputs]
        return pa.schema(shown)

    def check(self, checkpoint: str | None = None) -> None:
        """Refuse what shows only where all registered queries are put together."""
        kept, figures = self._known_in(checkpoint)
        self._compiler.check(self._queries, figures, kept)

    def explain(self, sinks: Mapping[str, Sink], checkpoint: str | None = None) -> str:
        """What would run for all registered queries, and why it was chosen; and how rows get to their sinks."""
        kept, figures = self._known_in(checkpoint)
        plans = list(self._compiler.compile_all(self._queries, figures).values())
        streams = [stream for plan in plans for stream in plan.stages[0].read]
        ways = {stream.stream: way_told(self._way(stream)) for stream in streams}
        told = explain_plans(plans, kept, self._compiler.wishes.keeping, figures, ways, schedule_costs)
        queries = list(self._queries.values())
        return f"{told}\n\n{explain_sinks(queries, sinks, self._covered, _written)}"

    def _known_in(self, checkpoint: str | None) -> tuple[int, dict[str, Figures]]:
        """The shards of a checkpoint, and what it knows of the streams."""
        if checkpoint is None:
            return self.shards, {}
        from windrow.spark.job.statistics import known_in

        return known_in(place_of(checkpoint, settings_outside_spark()))

    def _way(self, stream: StreamPlan) -> str | None:
        """Why the rows of a stream come through Spark; None where tasks read its files by their names."""
        opened, asked = self._opened[stream.stream], asked_of(stream)
        reason = not_by_name(opened.format, opened.options)
        if reason is not None:
            return reason
        from windrow.spark.sources.parquet_files import not_readable

        time = self._streams[stream.stream].time
        texts = [*asked.texts, *([] if time is None else [time])]
        for text in texts:
            DraftEngine().type_of(parse_expression(text), opened.schema)
        needed = {name: opened.schema.field(name).type for name in columns_of(texts, opened.schema.names)}
        if not all(map(is_plain, needed.values())):
            raise NeedsSpark("a column is of a type that only Spark has")
        lowered = {name.lower(): value for name, value in opened.options.items()}
        return not_readable(files_of(lowered["path"], lowered), needed, MOST)

    def _covered(self, query: AnyQuery) -> pa.Schema | str:
        if query.order and query.limit is None:
            return "ORDER BY without LIMIT orders all rows of a window"
        shown = self.shown_columns(query)
        if isinstance(query, QueryPlan):
            for text in query.finishing if query.emit == SNAPSHOT else ():
                DraftEngine().type_of(parse_expression(text), query.numbered)
        odd = next((field for field in shown if not is_plain(field.type)), None)
        return shown if odd is None else f"{odd.name} has the type {odd.type}"


def declared_schema(ddl: str) -> pa.Schema:
    """The columns of CREATE STREAM in Arrow's types.

    >>> declared_schema("ts TIMESTAMP, price DECIMAL(9, 2)")
    ts: timestamp[us, tz=UTC]
    price: decimal128(9, 2)
    """
    try:
        written = exp.DataType.build(f"STRUCT<{ddl}>", dialect="spark")
        columns = [(each.name, written_type(each.args["kind"])) for each in written.expressions]
    except (SqlglotError, WindrowError, ValueError, KeyError) as error:
        raise NeedsSpark("a column is of a type that only Spark has") from error
    if len({name.lower() for name, _ in columns}) < len(columns):
        raise NeedsSpark("two columns have the same name")
    return pa.schema(columns)


def local_cores(master: str) -> int:
    """How many cores a local Spark would have.

    >>> local_cores("local"), local_cores("local[3]")
    (1, 3)
    """
    asked = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    if asked is None:
        raise NeedsSpark(f"{master} is not this machine alone")
    if asked[1] != "*":
        return int(asked[1] or 1)
    return max(1, min(len(os.sched_getaffinity(0)), _allowed_cores()))


def _allowed_cores() -> int:
    """So many cores as a container may use, as the JVM counts them."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return 1 << 20 if quota == "max" else -(-int(quota) // int(period))
    except (OSError, ValueError):
        return 1 << 20


def _check_spark(options: Mapping[str, str]) -> None:
    """Settings may change what Spark's functions give, and how it reads files."""
    if options:
        raise NeedsSpark(f"{next(iter(options))} is a setting of Spark")
    homes = [os.environ.get("SPARK_CONF_DIR"), os.path.join(os.environ.get("SPARK_HOME", ""), "conf")]
    if any(home and os.path.exists(os.path.join(home, "spark-defaults.conf")) for home in homes):
        raise NeedsSpark("spark-defaults.conf has settings of Spark")


def _unread(name: str) -> pa.Table:
    raise NeedsSpark(f"the rows of table {identifier_sql(name)} decide how it is joined")


def _written(sink: Sink, schema: pa.Schema) -> object:
    from windrow.spark.sinks.file_format import file_format

    check_partitions(sink, schema.names)
    own = {name.lower(): value for name, value in sink.spark_options.items()}
    if own.get("timezone", "UTC") != "UTC":
        raise NeedsSpark("a sink has a time zone")
    return file_format(sink, schema, {"utc": "true"})
