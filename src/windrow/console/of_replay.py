"""Queries over sample streams, by replay in this process: the console without Spark's start."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import Event, Lock, Thread
from typing import Any

import pyarrow as pa

from windrow import __version__
from windrow.compile.compile import Wishes, compile_queries
from windrow.compile.explain import explain_plans
from windrow.console.mistakes import mistakes_in, queries_in
from windrow.console.preview import events_for, preview_of
from windrow.console.samples import LATENESS_US, QUERIES, SCHEMAS, Samples
from windrow.console.vocabulary import vocabulary
from windrow.current.answers import Answers
from windrow.current.limits import Limits
from windrow.current.shape import Shape
from windrow.errors import AskError, ChangeError
from windrow.language import Query
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.instants import shown_instant
from windrow.plan.nodes.stage import AnyQuery
from windrow.schedule.costs import schedule_costs
from windrow.serve.history import History
from windrow.serve.metrics import metrics_text
from windrow.serve.overview import overview_of, window_of
from windrow.serve.plan_graph import plan_graph
from windrow.serve.values import epoch
from windrow.spark.job.progress import StreamProgress

STEP_SECONDS, WARM_SECONDS, RECENT_SECONDS = 0.25, 45, 60
MOST_QUERIES = 200
NO_INDEX = "sample streams have no indexes\nhint: CREATE INDEX in the script of a job"


class ReplayBackend:
    """Queries over sample streams, a batch four times a second. Each is replayed by itself, from the recent events."""

    def __init__(self, seed: int = 7) -> None:
        self._samples, self._began = Samples(seed), epoch()
        empty = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
        self._catalog = local_catalog(
            empty, {}, time="ts", lateness="2 seconds", idle_clock=False, aggregates={}, clusterings={}
        )
        self._empty, self._lock, self._ended = empty, Lock(), Event()
        self._answers = Answers(f"replay{int(self._began)}", keep_all=True)
        self._texts: dict[str, str] = {}
        self._running: dict[str, StageReplay] = {}
        self._batch, self._rows, self._rejected = 0, dict[str, int](), dict.fromkeys(SCHEMAS, 0)
        self._events, self._clocks = dict.fromkeys(SCHEMAS, 0), dict[str, int | None]()
        self._spent, self._windows = 0.0, 0
        self._recent = dict(empty)
        self._now = int((self._began - WARM_SECONDS) * 1e6)
        while self._now < self._began * 1e6:  # windows are full when a page opens
            self._grow(self._now + 1_000_000)
        for name, text in QUERIES.items():
            self._start(name, text)
        self._history = History(self._figures)
        Thread(target=self._run, name="windrow replay", daemon=True).start()

    @property
    def answers(self) -> Answers:
        return self._answers

    def close(self) -> None:
        """Replay no more."""
        self._ended.set()
        self._history.close()

    def job(self) -> dict[str, Any]:
        versions = {"windrow": __version__, "python": platform.python_version(), "arrow": pa.__version__}
        return {
            "kind": "replay",
            "running": not self._ended.is_set(),
            "since": self._began,
            "checkpoint": None,
            "queries": len(self._running),
            "versions": versions,
            "settings": {"runs by": "replay, in this process, without Spark", "streams": "made up as the clock goes"},
        }

    def overview(self, since: float) -> dict[str, Any]:
        lateness = dict.fromkeys(SCHEMAS, LATENESS_US)
        with self._lock:
            plans = self._plans()
        places = dict.fromkeys(plans, "answers")
        return overview_of(self._history, plans, lateness, self._answers, places, since, not self._ended.is_set())

    def query(self, name: str) -> dict[str, Any]:
        replayed = self._known(name)
        plan = replayed.query
        return {
            "name": name,
            "text": self._texts[name],
            "streams": plan.sources,
            "window": window_of(plan),
            "sink": "answers",
            "beside": [other for other in self._running if other != name][:50],
            "columns": replayed.shown(name).names,
            "lost": f"{name} answers no more; its answers so far are gone.",
        }

    def plan(self) -> dict[str, Any]:
        with self._lock:
            texts = dict(self._texts)
        plans = list(compile_queries(texts, self._catalog, _no_table, Wishes()).values())
        text = explain_plans(plans, 1, Wishes().keeping, {}, {}, schedule_costs)
        return plan_graph(plans, dict.fromkeys(texts, "answers"), text)

    def catalog(self) -> dict[str, Any]:
        return vocabulary(self._catalog.streams, {})

    def check(self, text: str) -> list[dict[str, Any]]:
        with self._lock:
            running = list(self._plans().values())
        return mistakes_in(text, running, self._planned)

    def preview(self, text: str) -> dict[str, Any]:
        name, query = queries_in(text)[-1]
        plan = self._planned(name, query, ())
        begin, end = query.span
        with self._lock:
            events = events_for(set(plan.sources), self._recent)
        return preview_of(name, text[begin:end], self._catalog.streams, events, {})

    def add(self, text: str) -> list[str]:
        with self._lock:
            found = queries_in(text, self._running)
        if len(self._running) + len(found) > MOST_QUERIES:
            raise ChangeError(f"{MOST_QUERIES} queries are the most that are replayed here\nhint: drop some")
        for name, query in found:
            self._start(name, text[slice(*query.span)])
        return [name for name, _ in found]

    def drop(self, name: str) -> None:
        self._known(name)
        with self._lock:
            self._running.pop(name, None)
            self._texts.pop(name, None)
        self._answers.forget(name)

    def rejected(self) -> dict[str, Any]:
        told = [{"stream": name, "counts": {"late": count}, "rows": None} for name, count in self._rejected.items()]
        return {"streams": told}

    def state_at(self, name: str, horizon: str) -> tuple[dict[str, Any], pa.Table]:
        with self._lock:
            state = self._known(name).state_at(horizon)
        return {"start_us": state.start_us, "end_us": state.end_us}, state.rows

    def indexes(self) -> list[dict[str, Any]]:
        return []

    def scan(self, name: str, key: list[tuple[str, str]]) -> tuple[dict[str, Any], pa.Table]:
        raise AskError(NO_INDEX, missing=True)

    def ask(self, text: str) -> pa.Table:
        raise AskError(NO_INDEX, missing=True)

    def metrics(self) -> str:
        return metrics_text(self._figures())

    def _known(self, name: str) -> StageReplay:
        if name not in self._running:
            known = ", ".join(self._running)
            raise AskError(f"there is no query {name!r}\nhint: running are {known}", missing=True)
        return self._running[name]

    def _plans(self) -> dict[str, AnyQuery]:
        return {name: replayed.query for name, replayed in self._running.items()}

    def _planned(self, name: str, query: Query, beside: Iterable[AnyQuery]) -> AnyQuery:
        return self._replayed(name, query).query

    def _replayed(self, name: str, query: str | Query) -> StageReplay:
        (plan,) = compile_queries({name: query}, self._catalog, _no_table, Wishes()).values()
        return StageReplay(plan, self._catalog.streams, self._empty)

    def _start(self, name: str, text: str) -> None:
        replayed = self._replayed(name, text)
        with self._lock:
            schema, shape = replayed.shown(name), Shape.of(replayed.query)
            self._answers.declare(name, shape, schema, Limits(), asked=True)
            recent, step = self._recent, 2_000_000
            times = {own: table["ts"].cast(pa.int64()).to_numpy() for own, table in recent.items()}
            for end in range(self._now - RECENT_SECONDS * 1_000_000, self._now + step, step):
                chosen = {own: (at >= end - step) & (at < end) for own, at in times.items()}
                batch = {own: table.filter(pa.array(chosen[own])) for own, table in recent.items()}
                self._work_off(name, replayed, batch)
            self._running[name], self._texts[name] = replayed, text

    def _run(self) -> None:
        while not self._ended.wait(STEP_SECONDS):
            with suppress(Exception):  # one step that fails must not end the next
                began = time.perf_counter()
                with self._lock:
                    batch = self._grow(int(epoch() * 1e6))
                    for name, replayed in self._running.items():
                        self._work_off(name, replayed, batch)
                self._spent += time.perf_counter() - began

    def _grow(self, until_us: int) -> dict[str, pa.Table]:
        """The events that have arrived since the last time, which join the recent ones."""
        batch = self._samples.between(self._now, until_us)
        self._now, self._batch = until_us, self._batch + 1
        oldest = pa.scalar(until_us - RECENT_SECONDS * 1_000_000).cast(pa.timestamp("us", tz="UTC"))
        for name, events in batch.items():
            self._events[name] += events.num_rows
            whole = pa.concat_tables([self._recent[name], events])
            self._recent[name] = whole.filter(pa.compute.greater(whole["ts"], oldest))
        return batch

    def _work_off(self, name: str, replayed: StageReplay, batch: Mapping[str, pa.Table]) -> None:
        own = {stream: batch[stream] for stream in replayed.query.sources}
        rows, outcome = replayed.work_off(own)
        for stream, (clock, _) in outcome.clocks.items():
            self._clocks[stream] = clock
        if name in rows:
            self._answers.take(name, rows[name], self._batch)
            self._rows[name] = self._rows.get(name, 0) + rows[name].num_rows
        clocks = [self._clocks.get(stream) for stream in own]
        self._answers.commit([name], self._batch, min((c for c in clocks if c is not None), default=None))
        if name in QUERIES:  # each query meets the same late events
            self._rejected[next(iter(own))] = max(self._rejected[next(iter(own))], 0) + outcome.late
        self._windows += outcome.windows

    def _figures(self) -> dict[str, StreamProgress]:
        """What a job would tell of its streams; steps take as long as they do, and each event waits for the next."""
        age = max(epoch() - self._began, 1.0) + WARM_SECONDS
        rates = {name: count / age for name, count in self._rows.items()}
        return {
            stream: StreamProgress(
                batches=self._batch,
                events=events,
                stream_rate=events / age,
                events_per_second=events / age,
                clock=_instant(self._clocks.get(stream)),
                windows=self._windows,
                rejected={"late": self._rejected[stream]},
                late_in_part=0,
                duplicates=0,
                missing_files=0,
                failed=0,
                dropped=0,
                delay={"p50": STEP_SECONDS / 2, "p99": STEP_SECONDS, "max": STEP_SECONDS},
                groups=0,
                state_bytes=0,
                memory_bytes=0,
                seconds={"slide": self._spent},
                rows=dict(self._rows) if stream == "ticks" else {},
                rows_per_second=rates if stream == "ticks" else {},
                waiting=False,
            )
            for stream, events in self._events.items()
        }


def _no_table(name: str) -> pa.Table:
    raise AskError(f"there is no table {name!r} here")


def _instant(clock: int | None) -> datetime | None:
    return None if clock is None else shown_instant(clock)
