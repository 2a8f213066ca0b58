"""Queries over changes that run as one pipeline: rows up to an instant in, changes of their answers out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes, joined
from windrow.operators.net import emitted
from windrow.operators.packed import unpacked
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.change_names import asked_text
from windrow.plan.instants import BEFORE_ALL, LATEST_US
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.emission import OPERATIONS, SNAPSHOT
from windrow.plan.nodes.regrouped import Leaf, Regrouped, StageEnd
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.windows.slide_ends import SlideEnds
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.changes.beginnings import Beginnings
from windrow.runtime.changes.sampled import Sampled, at_slides
from windrow.runtime.changes.table_answer import tables_of_joins
from windrow.runtime.late import Answered
from windrow.runtime.reject import TIME
from windrow.storage.blocks import Blocks, PrefixedBlocks, Snapshot

Queries = Mapping[str, ChangePlan]
"""By what they ask; of those that ask the same, one."""


@dataclass(frozen=True, slots=True)
class Together:
    """Queries over the same streams that came at the same time and slide at the same instants: equal parts run once."""

    prefix: str
    slide_us: int | None
    offset_us: int
    streams: tuple[str, ...]
    queries: Queries
    pipeline: Pipeline
    sampled: Mapping[str, Sampled | Beginnings]
    texts: Mapping[str, str]
    every_us: int | None = None

    @classmethod
    def open(
        cls,
        prefix: str,
        queries: Queries,
        plan: StagePlan,
        blocks: Blocks,
        kept: Snapshot | None,
        older: Together | None = None,
    ) -> Together:
        """From the blocks that begin with `prefix`, as `kept` tells of them; without it, from nothing.

        An `older` view of them gives what it has in memory.
        """
        blocks, first = PrefixedBlocks(blocks, prefix), next(iter(queries.values()))
        pipeline = Pipeline(
            {name: query.root for name, query in queries.items()},
            evaluate_text,
            blocks,
            tables=_tables(plan, queries.values()),
            user=dict(plan.user_code),
            snapshot=kept and kept["pipeline"],
            ends=None if first.slide_us is None else SlideEnds(first.slide_us, first.offset_us),
            spread={key.leaf: key.columns for key in plan.keys},
            older=None if older is None else older.pipeline,
        )
        sampled: dict[str, Sampled | Beginnings] = {}
        for name, query in queries.items():
            place = (query, f"answer-{name}", blocks, kept["sampled"].get(name) if kept else None)
            if query.hidden and not isinstance(query.root, StageEnd):
                sampled[name] = Beginnings(*place)
            elif query.emit == SNAPSHOT:
                sampled[name] = Sampled(*place)
        instants = (first.slide_us, first.offset_us)
        texts = {name: asked_text(query) for name, query in queries.items()}
        return cls(prefix, *instants, first.streams, queries, pipeline, sampled, texts, first.every_us)

    @property
    def nbytes(self) -> int:
        """What must be in memory."""
        return self.pipeline.nbytes + sum(sampled.nbytes for sampled in self.sampled.values())

    def settles(self, clocks: Mapping[str, int | None], newest: int | None) -> dict[str, int]:
        """The last instant of each stream to settle; where windows slide, all of them settle at the end of one.

        Without a slide each goes by its own clock, and what is certain is told, whoever is silent.
        """
        if newest is not None or self.slide_us is not None or self.every_us is not None:
            clock = newest + 1 if newest is not None else _slowest([clocks[stream] for stream in self.streams])
            until = BEFORE_ALL if clock is None else min(self.until(clock, newest), LATEST_US)
            return dict.fromkeys(self.streams, until)
        own = {stream: clocks[stream] for stream in self.streams}
        return {
            stream: BEFORE_ALL if clock is None else min(self.until(clock, None), LATEST_US)
            for stream, clock in own.items()
        }

    def until(self, clock: int, newest: int | None) -> int:
        """The last instant to settle: just before the clock, or the last end of a window.

        With `newest` the input has ended there: to the last window that holds it, or until it has expired. What is kept
        for ever counts as no range, and never expires. Where changes are sent now and then, it is when they are.
        """
        slide, offset = self.slide_us, self.offset_us
        reach = max(query.range_us for query in self.queries.values())
        if slide is None:
            settled = clock - 1 if newest is None else max(clock - 1, newest + reach)
            if self.every_us is None:
                return settled
            settled += 0 if newest is None else self.every_us - 1
            return settled // self.every_us * self.every_us
        if newest is not None:
            clock = max(clock, newest + (reach or slide))
        return offset + (clock - offset) // slide * slide

    def advance(
        self, rows: Mapping[Leaf, Sequence[pa.RecordBatch]], until: Mapping[str, int], ended: bool
    ) -> dict[str, Changes]:
        """Take in rows, and settle all instants of each stream up to `until`: the changes of each query.

        Where the input has `ended`, no step waits for more of it.
        """
        later = 0 if self.slide_us is None else 1  # a window with a slide holds events before its end
        arrivals: dict[str | Leaf, Arrivals | Changes] = {}
        for leaf, batches in rows.items():
            if isinstance(leaf, Regrouped):
                arrivals[leaf] = joined([unpacked(batch, len(leaf.columns)) for batch in batches])
                continue
            table = pa.Table.from_batches(batches).combine_chunks()
            arrivals[leaf] = Arrivals(table.column(TIME).to_numpy() + later, table)
        return self.pipeline.advance(arrivals, until, ended=ended)

    def answers(self, name: str, changes: Changes, until: int, ended: bool) -> list[pa.RecordBatch]:
        """What a query sends of the changes up to `until`, where the input may have `ended`."""
        query = self.queries[name]
        if self.slide_us is not None or self.every_us is not None:
            changes = at_slides(changes, query)
        telling = self.sampled.get(name)
        if isinstance(telling, Sampled):
            return telling.answers(changes, until, ended)
        sent = OPERATIONS[query.emit]
        if telling is not None:
            changes = telling.of(changes)
        elif len(sent) == 1 and len(changes):
            changes = changes.keep((changes.weights > 0) == (sent[0] == "+"))
        batches: list[pa.RecordBatch] = emitted(changes, query.shown).cast(query.emitted).to_batches()
        return batches

    def answered(self, stream: str) -> list[Answered]:
        """What has been told of a stream: windows, where queries have a slide, else every instant that is settled."""
        settled = self.pipeline.settled(stream)
        scans = self.pipeline.scans(stream)
        if settled is None or not scans:
            return []
        if self.slide_us is None:
            return [Answered(settled + 1)]
        windows = (TimeWindow(scan.range_us, self.slide_us, self.offset_us) for scan in scans)
        return [Answered(settled, window) for window in windows]

    def save(self, version: int) -> Snapshot:
        """Write changed blocks; returns what `open` needs beside them."""
        self.pipeline.save()
        for sampled in self.sampled.values():
            sampled.save(version)
        return {
            "prefix": self.prefix,
            "roots": list(self.queries),
            "own_keys": True,
            "held": dict(self.texts),
            "uses": {name: list(self.pipeline.spaces_of(name)) for name in self.queries},
            "away": {},
            "pipeline": self.pipeline.snapshot(),
            "sampled": {name: sampled.snapshot() for name, sampled in self.sampled.items()},
        }


def _slowest(clocks: Sequence[int | None]) -> int | None:
    """The clock that is furthest behind; None as long as a stream has none."""
    known = [clock for clock in clocks if clock is not None]
    return min(known) if known and len(known) == len(clocks) else None


def _tables(plan: StagePlan, queries: Iterable[ChangePlan]) -> dict[str, pa.Table]:
    """The tables under the names that joins have for them and their columns."""
    static, user = dict(plan.static), dict(plan.user_code)
    return {name: table for query in queries for name, table in tables_of_joins(query.root, static, user).items()}
