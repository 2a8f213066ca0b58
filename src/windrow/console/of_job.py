"""A job on Spark, as the console asks it."""

from __future__ import annotations

import glob
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from windrow import __version__
from windrow.console.mistakes import mistakes_in, queries_in
from windrow.console.preview import MOST_EVENTS, events_for, preview_of
from windrow.console.vocabulary import vocabulary
from windrow.control import add_script
from windrow.current.answers import Answers
from windrow.errors import AskError, SettingsError
from windrow.indexes.asking import key_range
from windrow.indexes.published import PublishedIndex
from windrow.serve.history import History
from windrow.serve.index_keys import about_index, read_key
from windrow.serve.metrics import metrics_text
from windrow.serve.overview import overview_of, window_of
from windrow.serve.plan_graph import plan_graph
from windrow.serve.values import epoch, json_rows, json_value
from windrow.session import Session
from windrow.spark.job.job import Job
from windrow.spark.job.job_indexes import JobIndexes
from windrow.spark.sinks.keep_answers import rejected_name
from windrow.spark.sources.named_files import NamedFiles


class JobBackend:
    """A running job and the session that started it. From the moment it is asked, all answers are kept."""

    def __init__(self, session: Session, job: Job, texts: Mapping[str, str] | None = None) -> None:
        self._session, self._job, self._texts, self._began = session, job, dict(texts or {}), epoch()
        job.answers.keep_all = True
        self._history = History(job.progress)

    @property
    def answers(self) -> Answers:
        return self._job.answers

    def close(self) -> None:
        """Look at nothing any more."""
        self._history.close()

    def job(self) -> dict[str, Any]:
        spark = self._session.spark
        return {
            "kind": "job",
            "running": self._job.is_active,
            "since": self._began,
            "checkpoint": self._job.checkpoint,
            "queries": len(self._job.queries),
            "process": os.getpid(),
            "versions": {
                "windrow": __version__,
                "spark": spark.version,
                "python": platform.python_version(),
                "arrow": pa.__version__,
            },
            "settings": {
                "master": spark.sparkContext.master,
                "shards": str(self._session.shards),
                "memory of a shard": f"{self._session.memory_bytes:,} bytes",
                "started with": " ".join(os.path.basename(part) for part in sys.argv[:3]),
                **{str(name): str(value) for name, value in self._session.settings.items()},
            },
        }

    def overview(self, since: float) -> dict[str, Any]:
        lateness = {name: stream.lateness_us for name, stream in self._session.streams.items()}
        running = self._job.is_active
        plans, sinks = self._job.plans, self._places()
        return overview_of(self._history, plans, lateness, self.answers, sinks, since, running)

    def query(self, name: str) -> dict[str, Any]:
        plans = self._job.plans
        if name not in plans:
            raise AskError(f"there is no query {name!r}\nhint: running are {', '.join(plans)}", missing=True)
        plan = plans[name]
        sharing = [other for other, own in plans.items() if other != name and own.run == plan.run]
        return {
            "name": name,
            "text": self._texts.get(name),
            "streams": plan.sources,
            "window": window_of(plan),
            "sink": self._places().get(name, ""),
            "beside": sharing[:50],
            "columns": [*plan.leading, *plan.shown],
            "lost": _lost(name, len(plans)),
        }

    def plan(self) -> dict[str, Any]:
        runs = self._job.runs
        return plan_graph(runs, self._places(), self._session.explain_runs(runs))

    def catalog(self) -> dict[str, Any]:
        return vocabulary(self._session.streams, self._session.tables)

    def check(self, text: str) -> list[dict[str, Any]]:
        return mistakes_in(text, list(self._job.plans.values()), self._session.plan)

    def preview(self, text: str) -> dict[str, Any]:
        name, query = queries_in(text)[-1]
        plan = self._session.plan(name, query)
        begin, end = query.span
        streams = self._session.streams
        events = events_for(set(plan.sources), self._recent(plan.sources))
        tables = {own: self._session.table_rows(own) for own in plan.joined_tables}
        return preview_of(name, text[begin:end], streams, events, tables)

    def add(self, text: str) -> list[str]:
        queries = dict(queries_in(text, self._job.queries))
        names = add_script(self._job, text)
        self._texts |= {name: text[slice(*queries[name].span)] for name in names if name in queries}
        return names

    def drop(self, name: str) -> None:
        if name not in self._job.queries:
            raise AskError(f"there is no query {name!r}", missing=True)
        self._job.drop(name)

    def rejected(self) -> dict[str, Any]:
        told = []
        for stream, figures in self._history.latest.items():
            name = rejected_name(stream)
            rows = json_rows(self.answers.answer(name).table) if self.answers.wants(name) else None
            told.append({"stream": stream, "counts": json_value(figures["rejected"]), "rows": rows})
        return {"streams": told}

    def state_at(self, name: str, horizon: str) -> tuple[dict[str, Any], pa.Table]:
        state = self._job.state_at(name, horizon)
        return {"start_us": state.start_us, "end_us": state.end_us}, state.rows.toArrow()

    def indexes(self) -> list[dict[str, Any]]:
        return [about_index(*index.manifest()) for index in self._indexes().all()]

    def scan(self, name: str, key: list[tuple[str, str]]) -> tuple[dict[str, Any], pa.Table]:
        found = self._index(name).find(lambda facts: key_range(facts, read_key(facts, key)))
        return about_index(found.manifest, found.facts), found.rows

    def ask(self, text: str) -> pa.Table:
        return self._indexes().ask(text)

    def _indexes(self) -> JobIndexes:
        if self._job.indexes is None:
            raise AskError("this job has no indexes\nhint: CREATE INDEX in its script", missing=True)
        return self._job.indexes

    def _index(self, name: str) -> PublishedIndex:
        try:
            return self._indexes().named(name)
        except SettingsError as error:
            raise AskError(str(error), missing=True) from None

    def metrics(self) -> str:
        return metrics_text(self._job.progress())

    def _places(self) -> dict[str, str]:
        return {name: sink.shown for name, sink in self._job.sinks.items()}

    def _recent(self, streams: tuple[str, ...]) -> dict[str, pa.Table]:
        """The newest events of streams whose files are on this machine."""
        found = {}
        for name in streams:
            files = self._session.sources[name].files
            if isinstance(files, NamedFiles):
                events = newest_events(dict(files.options).get("path", ""), self._session.streams[name].schema)
                if events is not None:
                    found[name] = events
        return found


def newest_events(path: str, schema: pa.Schema) -> pa.Table | None:
    """The events in the newest Parquet files of a folder."""
    folder = path.removeprefix("file://")
    files = glob.glob(f"{folder}/**/*.parquet", recursive=True) if os.path.isdir(folder) else glob.glob(folder)
    newest = sorted((file for file in files if os.path.isfile(file)), key=os.path.getmtime, reverse=True)
    parts: list[pa.Table] = []
    for file in newest[:20]:
        if sum(part.num_rows for part in parts) >= MOST_EVENTS:
            break
        try:
            parts.append(pq.read_table(file, columns=schema.names, partitioning=None).cast(schema))
        except (pa.ArrowException, OSError):
            continue
    return pa.concat_tables(reversed(parts)) if parts else None


def _lost(name: str, count: int) -> str:
    if count == 1:
        return f"{name} is the only query: the job cannot run without one"
    return (
        f"{name} answers no more, and the panes that only it keeps are deleted with the next batch."
        " Rows that its sink holds stay there. Added again, it answers from the first window that begins then."
    )
