"""Queries as a job runs them, without Spark: in shards and stages, cut into tasks and batches, opened anew in between."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

from oracle.judge import plain_rows
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.join_runs import join_runs
from windrow.errors import MemoryLimitError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.operators import row_table, rows_in_blocks
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import NOTHING
from windrow.runtime.answers.finish import finish_part, finish_whole
from windrow.runtime.changes.send_on import passed_on, regrouped
from windrow.runtime.feed import fed
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.reject import TIME
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer
from windrow.runtime.slice.expression_column import expression_column
from windrow.storage import ordered_rows
from windrow.storage.blocks import MemoryBlocks

Tables = Mapping[str, pa.Table]
PLENTY = 10**9


class AnotherTimeError(Exception):
    """A batch that ran again gave something else."""


@dataclass(frozen=True)
class Setting:
    """How a job runs: what must not change any answer."""

    shards: int = 1
    tasks: int = 1
    memory: int = PLENTY
    opens: str = "never"
    """After a batch shards go on in memory ("never"), by another worker ("fresh"), by either, or after a lost attempt."""

    @staticmethod
    def drawn(chance: Random) -> Setting:
        memory = chance.choice([PLENTY, PLENTY, PLENTY, 3_000, 9_000])
        opens = chance.choice(["never", "fresh", "either", "again"])
        return Setting(chance.randint(1, 3), chance.randint(1, 3), memory, opens)

    def with_plenty(self) -> Setting:
        return Setting(self.shards, self.tasks, PLENTY, self.opens)


@contextmanager
def little_blocks() -> Iterator[None]:
    """Few rows fill a block, so that short streams have many."""
    before = ordered_rows.BLOCK_BYTES, rows_in_blocks.PAGE_BYTES, row_table.FEW
    ordered_rows.BLOCK_BYTES, rows_in_blocks.PAGE_BYTES, row_table.FEW = 200, 200, 3
    try:
        yield
    finally:
        ordered_rows.BLOCK_BYTES, rows_in_blocks.PAGE_BYTES, row_table.FEW = before


@dataclass
class Run:
    """The stages of queries that run together, with the state of each shard."""

    plan: StagePlan
    blocks: list[list[MemoryBlocks]]
    snapshots: list[list[bytes | None]]
    shards: list[list[Shard | None]]
    batches: int = 0


@dataclass
class Job:
    """Queries over `events`, batch by batch; `rows` are what each has been told. Queries may come and go in between."""

    texts: Mapping[str, str]
    events: Tables
    setting: Setting
    chance: Random
    lateness: str = "0 seconds"
    tables: Tables = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain: dict[str, object] = {"time": "ts", "lateness": self.lateness, "idle_clock": False}
        catalog = local_catalog(
            self.events, self.tables, **plain | {"aggregates": {}, "clusterings": {}} | dict(self.settings)
        )
        memory, shards = self.setting.memory, self.setting.shards
        self._compiler = Compiler(catalog, self.tables.__getitem__, Wishes(memory, NOTHING, shards * memory, shards))
        self.queries: dict[str, AnyQuery] = {}
        self.rows: dict[str, list[dict]] = {}
        self.known: dict[str, AnyQuery] = {}
        self._runs: dict[str, Run] = {}
        self._past: list[dict[str, pa.Table]] = []
        self.ask(self.texts)

    def ask(self, texts: Mapping[str, str]) -> None:
        """Begin to answer more queries, those that are there go on."""
        for name, text in texts.items():
            self.queries[name] = self._compiler.compile_query(name, parse_query(text), self.queries.values())
            self.rows.setdefault(name, [])
            self.known[name] = self.queries[name]
        self._plan()

    def drop(self, name: str) -> None:
        del self.queries[name]
        self._plan()

    def restart(self, texts: Mapping[str, str]) -> None:
        """Compile all queries anew, in this order, as a script does at the next start."""
        self.queries = {}
        for name, text in texts.items():
            self.queries[name] = self._compiler.compile_query(name, parse_query(text), self.queries.values())
        self._plan()

    @property
    def runs(self) -> set[str]:
        """The names of what runs together."""
        return set(self._runs)

    def run_of(self, name: str) -> str:
        return next(own for own, run in self._runs.items() if any(query.name == name for query in run.plan.queries))

    def clock_of(self, name: str) -> int | None:
        """How far the first stage has come that a query is in."""
        run = self._runs[self.run_of(name)]
        clocks = [
            shard.clock
            for shard, blocks, snapshot in zip(range(99), run.blocks[0], run.snapshots[0])
            for shard in [Shard(run.plan.stages[0], copy.deepcopy(blocks), snapshot)]  # one that is never saved
            if snapshot is not None
        ]
        return max((clock for clock in clocks if clock is not None), default=None)

    def _plan(self) -> None:
        joined = join_runs(self._compiler.share(self.queries), self._there)
        running: dict[str, list[AnyQuery]] = {}
        for query in joined.values():
            running.setdefault(query.run, []).append(query)
        runs = {}
        for name, queries in running.items():
            plan = self._compiler.compile_scan(queries)
            if (run := self._runs.get(name)) is None:
                shards = range(self.setting.shards)
                blocks = [[MemoryBlocks() for _ in shards] for _ in plan.stages]
                run = Run(plan, blocks, [[None for _ in shards] for _ in plan.stages], [])
                run.shards = [[None for _ in shards] for _ in plan.stages]
                if self._past:  # it reads its streams from where they begin
                    whole = {name: pa.concat_tables(past[name] for past in self._past) for name in self.events}
                    self._batch(run, whole)
            run.plan = plan
            run.shards = [[None for _ in stage] for stage in run.shards]
            runs[name] = run
        self._runs = runs

    def _there(self, sources: tuple[str, ...]) -> list[int]:
        there = [run.plan for run in self._runs.values() if run.plan.queries[0].sources == sources]
        return sorted({len(plan.stages) for plan in there})

    def step(self, events: Tables) -> None:
        self._past.append(dict(events))
        for run in self._runs.values():
            self._batch(run, events)

    def flush(self) -> None:
        for run in self._runs.values():
            self._batch(run, None)

    def _batch(self, run: Run, events: Tables | None) -> None:
        numbers = list(range(self.setting.shards))
        payloads = [Payload(shard, 0, 0, None, FLUSH, b"") for shard in numbers]
        if events is not None:
            payloads = self._sliced(run.plan, events)
        told: dict[str, list[pa.Table]] = {}
        for number, stage in enumerate(run.plan.stages):
            sent: list[Payload] = []
            for shard in numbers:
                own = [payload for payload in payloads if payload.shard == shard]
                if not own and run.snapshots[number][shard] is None:
                    continue  # Spark runs no shard that has nothing to do
                outcome = self._outcome(run, number, shard, stage, own)
                sent += passed_on(own, outcome, shard, stage.tells) if stage.is_followed else []
                sent += regrouped(outcome.parts, stage.sends, shard, numbers)
                for feed in stage.feeds:
                    sent += [] if feed.here else fed(feed, outcome, shard, numbers)
                if stage is run.plan:
                    for name, query in self.queries.items():
                        batches = [batch for own_name, batch in outcome.results if own_name == name]
                        if batches and name in stage.tells:
                            told.setdefault(name, []).append(finish_part(pa.Table.from_batches(batches), query))
            payloads = sent
        for name, parts in told.items():
            self.rows[name] += plain_rows(finish_whole(pa.concat_tables(parts), self.queries[name]))
        run.batches += 1

    def _outcome(self, run: Run, number: int, shard: int, stage: StagePlan, own: Sequence[Payload]) -> Outcome:
        opens, kept = self.setting.opens, run.shards[number][shard]
        lost = None
        if opens == "again":
            lost = Shard(stage, copy.deepcopy(run.blocks[number][shard]), run.snapshots[number][shard]).process(own)
        if kept is None or opens == "fresh" or (opens == "either" and self.chance.random() < 0.5):
            older = kept if opens == "either" and self.chance.random() < 0.5 else None
            kept = Shard(stage, run.blocks[number][shard], run.snapshots[number][shard], older)
        outcome = kept.process(own)
        run.snapshots[number][shard], run.shards[number][shard] = kept.save(), kept
        if lost is not None:
            _check_same(lost, outcome)
        return outcome

    def _sliced(self, plan: StagePlan, events: Tables) -> list[Payload]:
        payloads: list[Payload] = []
        first = plan.stages[0]
        for place, stream in enumerate(first.read):
            table = events[stream.stream]
            edges = sorted(self.chance.randint(0, table.num_rows) for _ in range(self.setting.tasks - 1))
            for task, (low, high) in enumerate(zip([0, *edges], [*edges, table.num_rows])):
                rows = table.slice(low, high - low)
                columns = {TIME: rows["ts"].cast(pa.int64())}
                columns |= {
                    expression_column(i): evaluate_text(text, rows) for i, text in enumerate(stream.expressions)
                }
                slicer = Slicer(stream, (place << 16) + task, list(range(self.setting.shards)))
                for batch in pa.table(columns).combine_chunks().to_batches():
                    slicer.add(batch)
                payloads += slicer.payloads()
        return payloads


def _check_same(lost: Outcome, outcome: Outcome) -> None:
    """Rows of one instant may come in another order: what is in memory is not kept in the order of the state."""
    mine, theirs = (
        sorted((name, repr(row)) for name, batch in each.results for row in batch.to_pylist())
        for each in (lost, outcome)
    )
    if mine != theirs:
        raise AnotherTimeError(f"a lost attempt had {mine}, and the next {theirs}")


def cuts(chance: Random, events: Tables) -> Iterator[dict[str, pa.Table]]:
    """The events in batches of any sizes, of each stream as many as there happen to be."""
    places = dict.fromkeys(events, 0)
    most = chance.choice([1, 3, 8, 100])
    while any(places[name] < table.num_rows for name, table in events.items()):
        batch = {}
        for name, table in events.items():
            rows = chance.randint(0, most)
            batch[name] = table.slice(places[name], rows)
            places[name] += rows
        yield batch


def told_by_job(
    text: str, events: Tables, chance: Random, lateness: str, tables: Tables | None = None, **settings: object
) -> list[dict]:
    """The rows of one query in a job that runs somehow; under the least memory that it can do with, if with little."""
    setting, seed = Setting.drawn(chance), chance.random()
    while True:
        again = Random(seed)
        try:
            with little_blocks():
                job = Job({"q": text}, events, setting, again, lateness, tables or {}, settings)
                for batch in cuts(again, events):
                    job.step(batch)
                job.flush()
            return job.rows["q"]
        except MemoryLimitError:
            if setting.memory >= PLENTY:
                raise
            setting = Setting(setting.shards, setting.tasks, setting.memory * 2, setting.opens)
