"""Starting a job on a checkpoint: which queries run there, how they differ from those before, and who listens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from windrow.compile.compile import Compiler
from windrow.compile.figures import Figures, figures_for, figures_of
from windrow.compile.join_runs import join_runs
from windrow.compile.round_slide import with_slide
from windrow.control import obey
from windrow.current.answers import Answers
from windrow.errors import SettingsError
from windrow.language import Query, parse_query
from windrow.local.ask import aggregate, ask
from windrow.places.addresses import plain_place
from windrow.places.place import Place
from windrow.plan.catalog import Stream
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.query_parts import query_parts
from windrow.plan.sink import FORMATS, HOLDS_ANSWER, Sink, check_options, check_places, differing_columns
from windrow.plan.window_index import BoundIndex, index_sink
from windrow.spark.connect import NO_ANSWERS, is_connect
from windrow.spark.job.checkpoint import QueryEdits, kept_in
from windrow.spark.job.drift import check_drift, differing, drift, note_queries, noted_queries
from windrow.spark.job.first_windows import first_windows
from windrow.spark.job.group_offsets import GroupOffsets
from windrow.spark.job.hold import Hold, check_hold
from windrow.spark.job.job import Job
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.job.job_requests import Listener
from windrow.spark.job.keep_expiry import keep_expiry, kept_expiry
from windrow.spark.job.look_after import LOGGER
from windrow.spark.job.recovery import Recovery
from windrow.spark.job.refresh_tables import Refresher
from windrow.spark.job.runs import Runs
from windrow.spark.job.runs_there import runs_there
from windrow.spark.job.statistics import kept_statistics
from windrow.spark.job.status_note import StatusNote
from windrow.spark.job.stream_drift import columns_of_streams, note_streams, noted_streams, stream_drift
from windrow.spark.job.stream_run import Trigger, is_live
from windrow.spark.job.table_editions import kept_table
from windrow.spark.sources.source import Source
from windrow.spark.sources.tables import Tables


@dataclass(frozen=True, slots=True)
class Start:
    """All that is declared when a job starts, and the wishes of the session."""

    spark: SparkSession
    compiler: Compiler
    sources: Mapping[str, Source]
    streams: Mapping[str, Stream]
    queries: Mapping[str, AnyQuery]
    texts: Mapping[str, Query]
    shards: int
    expiry: str | None
    figures: Mapping[str, Figures]
    tables: Tables

    def on(
        self,
        checkpoint: Place,
        sinks: dict[str, Sink],
        trigger: Trigger,
        *,
        rejected: Mapping[str, Sink] | Sink | None,
        recovery: Recovery,
        strict: bool,
        keep_answers: bool,
    ) -> Job:
        """Start the queries on a checkpoint, which nobody else may hold; the rest is as in `Session.start`."""
        hold = Hold(checkpoint)
        hold.take()
        self.tables.begin(partial(kept_table, checkpoint))
        try:
            queries, aside = self._queries_in(checkpoint, sinks)
            check_options(sinks | ({"rejected": rejected} if isinstance(rejected, Sink) else dict(rejected or {})))
            running = {name: sinks[name] for name in queries}
            check_places(running)
            kept = kept_in(checkpoint, self.shards, self.expiry)
            known = {run: figures_of(streams) for run, streams in kept_statistics(checkpoint).items()}
            figures = {**self.figures, **known}
            asked = self._asked()
            columns = columns_of_streams(self.streams)
            told = stream_drift(noted_streams(checkpoint), columns)
            told += self._drift(checkpoint, queries, asked, figures)
            for line in told:
                LOGGER.warning(line)
            if strict:
                check_drift(str(checkpoint), told)
            keep_expiry(checkpoint, queries, kept.expiry)
            given = (self.sources, self.compiler, rejected, is_live(trigger), figures)
            refused = NO_ANSWERS if is_connect(self.spark) else None
            answers = Answers(kept.job, keep_all=keep_answers, refused=refused)
            runs = Runs(self.spark, checkpoint, kept, *given, partial(check_hold, hold), answers)
            job = Job(queries, running, trigger, runs, checkpoint, hold, recovery, aside, self.tables)
            job.drift = told
            job.indexes = JobIndexes(checkpoint, ask, aggregate, lambda: job.plans)
        except BaseException:
            hold.release()
            raise
        try:
            note_queries(checkpoint, asked)
            note_streams(checkpoint, columns)
            job.at_end(Listener(checkpoint, partial(obey, job), lambda: job.is_active).end)
            note = StatusNote(checkpoint, job.progress, lambda: job.queries, lambda: job.is_active, job.keep_statistics)
            job.at_end(note.end)
            job.when_over(note.over)
            if self.tables.refreshes:
                job.at_end(Refresher(job, self.tables).end)
            groups = GroupOffsets(self.spark, job.topics_read)
            job.at_end(groups.end)
            job.when_over(groups.tell)
        except BaseException:
            job.stop()
            raise
        return job

    def _asked(self) -> dict[str, dict[str, str]]:
        """The registered queries, in parts that can be compared with those of an earlier start."""
        lateness = {name: stream.lateness_us for name, stream in self.streams.items()}
        return {name: query_parts(query, lateness) for name, query in self.queries.items()}

    def _drift(
        self,
        checkpoint: Place,
        queries: Mapping[str, AnyQuery],
        asked: Mapping[str, Mapping[str, str]],
        figures: Mapping[str, Figures],
    ) -> list[str]:
        """What differs from the queries that the checkpoint has run, in words."""
        edits, before = QueryEdits.read(checkpoint), noted_queries(checkpoint)
        names = differing(before, asked, edits)
        runs = dict.fromkeys(query.run for query in queries.values()) if names else {}
        together = {run: [query for query in queries.values() if query.run == run] for run in runs}
        plans = [self.compiler.compile_scan(each, figures=figures_for(each[0], figures)) for each in together.values()]
        firsts = first_windows(self.spark, checkpoint, plans, names)
        return drift(str(checkpoint), before, asked, edits, firsts)

    def _queries_in(
        self, checkpoint: Place, sinks: dict[str, Sink]
    ) -> tuple[dict[str, AnyQuery], dict[str, tuple[AnyQuery, Sink]]]:
        """The queries that run on a checkpoint, and those that do not, since they were dropped or have stopped.

        The sinks of those that came while it ran join `sinks`.
        """
        changes = QueryEdits.read(checkpoint)
        queries = self.compiler.share(self.queries)
        away = {*changes.dropped, *changes.stopped} - (changes.added.keys() - changes.stopped.keys())
        aside = {name: queries.pop(name) for name in away if name in queries}
        for name, way in kept_expiry(changes, queries, self.expiry).items():
            wanted = Wanted((("expiry", way),))
            queries[name] = self.compiler.compile_query(name, self.texts[name], choose=wanted)
        for name, added in changes.added.items():
            plan = self.compiler.compile_query(name, parse_query(added.text), queries.values(), Wanted(added.choose))
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
        queries = join_runs(queries, runs_there(checkpoint))
        aside = join_runs(aside, runs_there(checkpoint, {query.run for query in queries.values()}))
        return queries, {name: (plan, sinks[name]) for name, plan in aside.items()}


def check_sinks(
    sinks: Mapping[str, Sink], queries: Mapping[str, AnyQuery], indexes: Mapping[str, BoundIndex]
) -> dict[str, Sink]:
    """A sink for every query, and none besides; indexes are published by the job itself."""
    published = {name: index_sink(bound) for name, bound in indexes.items()}
    taken = [name for name, sink in published.items() if sinks.get(name, sink) != sink]
    if taken:
        raise SettingsError(f"{taken[0]!r} is an index, which the job publishes itself: leave out its sink")
    every = {**sinks, **published}
    unknown = [name for name in every if name not in queries]
    if unknown:
        raise SettingsError(f"sink {unknown[0]!r} has no query; known queries: {', '.join(queries)}")
    missing = [name for name in queries if name not in every]
    if missing:
        raise SettingsError(
            f"no sink for {', '.join(missing)}: sinks={{'{missing[0]}': windrow.sink('parquet', path=...)}}"
        )
    return every


def check_columns(
    sinks: Mapping[str, Sink], queries: Mapping[str, AnyQuery], shown: Callable[[AnyQuery], pa.Schema]
) -> None:
    """Refuse rows in a folder where another query writes rows of other columns: nobody could read them together."""
    first: dict[tuple[str, str], str] = {}
    for name, sink in sinks.items():
        if sink.format not in FORMATS or sink.path is None or sink.holds == HOLDS_ANSWER:
            continue
        other = first.setdefault(plain_place(sink.path), name)
        differ = None if other == name else differing_columns(shown(queries[name]), shown(queries[other]))
        if differ is not None:
            raise SettingsError(
                f"the rows of {name!r} cannot be in one file with those of {other!r}: {differ}"
                "\nhint: the same columns and types, or another folder"
            )
