"""One shard of queries over changes: rows and clocks in, changes of the answers and state out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from windrow.errors import MemoryLimitError
from windrow.operators.changes import Changes, joined
from windrow.operators.net import emitted
from windrow.operators.packed import unpacked
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.change_plan import ChangePlan, ChangesPlan
from windrow.plan.changes import Node, TableJoin
from windrow.plan.emission import OPERATIONS, SNAPSHOT
from windrow.plan.memory import too_large
from windrow.plan.regroup import Leaf, Part, Regrouped
from windrow.plan.spaces import hashed
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import FLUSH, REJECTED, Payload
from windrow.runtime.reject import rejected_of
from windrow.runtime.sampled import Sampled, at_slides
from windrow.runtime.slice import TIME
from windrow.runtime.slice_changes import PROBE, ROWS
from windrow.storage.blocks import Blocks, PrefixedBlocks
from windrow.storage.columns import decode


@dataclass(slots=True)
class _Together:
    """Queries that came at the same time and slide at the same instants: equal parts of them run once."""

    prefix: str
    slide_us: int | None
    offset_us: int
    queries: dict[str, ChangePlan]  # by what they ask; of those that ask the same, one
    pipeline: Pipeline
    sampled: dict[str, Sampled] = field(default_factory=dict)


class ChangeShard:
    """The state of one shard of queries over changes, and how a batch changes it. As `Shard`, it reads no clock.

    The clock of the queries is that of the stream that is furthest behind, and what lies before it is settled. A query
    that comes later begins with empty windows, and shares nothing with those that were there.
    """

    def __init__(self, plan: ChangesPlan, blocks: Blocks, snapshot: bytes | None = None) -> None:
        self.plan, self._blocks = plan, blocks
        nothing: dict[str, Any] = {"version": 0, "newest": {}, "clock": None}
        kept: dict[str, Any] = json.loads(snapshot) if snapshot is not None else nothing
        self.version: int = kept["version"]
        self.clock: int | None = kept["clock"]
        self._newest: dict[str, int] = kept["newest"]
        self._asking: dict[str, list[str]] = {}
        for query in plan.queries:
            self._asking.setdefault(_hashed(query), []).append(query.name)
        self._groups = self._opened(kept.get("together", []))

    @property
    def groups(self) -> int:
        return sum(len(together.queries) for together in self._groups)

    @property
    def bytes_in_memory(self) -> int:
        """What operators hold: the rows of joins, sets and windows that answer at every event are all in memory."""
        return sum(together.pipeline.nbytes for together in self._groups)

    def process(self, payloads: Sequence[Payload]) -> Outcome:
        """Take in a batch's rows, and tell what has changed up to the clock."""
        payloads = sorted(payloads, key=lambda payload: (payload.task, payload.part))
        outcome = Outcome()
        flush = any(payload.name == FLUSH for payload in payloads)
        closed = self._closed()
        for payload in payloads:
            outcome.untimed += payload.untimed
            outcome.unreadable += payload.unreadable
            outcome.failed += payload.failed
            if payload.name.startswith(PROBE) and payload.probe is not None:
                stream = payload.name[len(PROBE) :]
                self._newest[stream] = max(self._newest.get(stream, payload.probe), payload.probe)
            if payload.name == REJECTED:  # an earlier stage has told who is late
                outcome.rejected.append(decode(payload.body))
            elif payload.name.startswith(REJECTED):
                stream = payload.name[len(REJECTED) + 1 :]
                outcome.rejected.append(rejected_of(decode(payload.body), stream, closed))
        self._advance(flush)
        arrivals = self._arrivals(payloads)
        for together in self._groups:
            self._settle(together, arrivals, flush, outcome)
        if self.bytes_in_memory > self.plan.memory_bytes:
            names = [query.name for query in self.plan.queries]
            raise MemoryLimitError(too_large(names, self.bytes_in_memory, self.plan.memory_bytes))
        return outcome

    def save(self) -> bytes:
        """Write changed blocks to the store; returns the snapshot that opens them again."""
        self.version += 1
        kept = []
        for together in self._groups:
            together.pipeline.save()
            for sampled in together.sampled.values():
                sampled.save(self.version)
            kept.append(
                {
                    "prefix": together.prefix,
                    "roots": list(together.queries),
                    "pipeline": together.pipeline.snapshot(),
                    "sampled": {name: sampled.snapshot() for name, sampled in together.sampled.items()},
                }
            )
        return json.dumps(
            {"version": self.version, "clock": self.clock, "newest": self._newest, "together": kept}
        ).encode()

    def _closed(self) -> int | None:
        """Events before it are late for some query."""
        found = [(together.pipeline.settled, together.slide_us is not None) for together in self._groups]
        return max((settled + (not slides) for settled, slides in found if settled is not None), default=None)

    def _advance(self, flush: bool) -> None:
        """Move the clock to that of the slowest stream; at the end of the input just beyond all events."""
        if flush and self._newest:
            reached = max(self._newest.values()) + 1
            self.clock = reached if self.clock is None else max(self.clock, reached)
            return
        if any(stream not in self._newest for stream, _ in self.plan.streams):
            return
        clock = min(self._newest[stream] - lateness for stream, lateness in self.plan.streams)
        self.clock = clock if self.clock is None else max(self.clock, clock)

    def _arrivals(self, payloads: Sequence[Payload]) -> dict[Leaf, list[pa.RecordBatch]]:
        found: dict[Leaf, list[pa.RecordBatch]] = {}
        for payload in payloads:
            if payload.name.startswith(ROWS):
                leaf = self.plan.keys[int(payload.name[len(ROWS) :])].leaf
                found.setdefault(leaf, []).append(decode(payload.body))
        return found

    def _settle(
        self, together: _Together, rows: dict[Leaf, list[pa.RecordBatch]], flush: bool, outcome: Outcome
    ) -> None:
        slide = together.slide_us
        later = 0 if slide is None else 1  # a window with a slide holds events before its end
        arrivals: dict[str | Leaf, Arrivals | Changes] = {}
        for leaf, batches in rows.items():
            if isinstance(leaf, Regrouped):
                arrivals[leaf] = joined([unpacked(batch, len(leaf.columns)) for batch in batches])
                continue
            table = pa.Table.from_batches(batches).combine_chunks()
            arrivals[leaf] = Arrivals(table.column(TIME).to_numpy() + later, table)
        until = self._until(together, flush)
        late, overflows = sum(together.pipeline.late.values()), together.pipeline.overflows
        changed = together.pipeline.advance(arrivals, until)
        outcome.late += sum(together.pipeline.late.values()) - late
        outcome.failed += together.pipeline.overflows - overflows
        for name, query in together.queries.items():
            changes = changed[name]
            if isinstance(query.root, Part):
                outcome.parts.append((query.name, changes))
                continue
            if slide is not None:
                changes = at_slides(changes, query)
            if query.emit == SNAPSHOT:
                batches = together.sampled[name].answers(changes, until) if self.clock is not None else []
                outcome.windows += len(batches)
            else:
                sent = OPERATIONS[query.emit]
                if len(sent) == 1:
                    changes = changes.keep((changes.weights > 0) == (sent[0] == "+")) if len(changes) else changes
                batches = emitted(changes, query.root.names).cast(query.emitted).to_batches()
            for asking in self._asking[name]:
                outcome.add(asking, batches)

    def _until(self, together: _Together, flush: bool) -> int:
        """The last instant to settle: just before the clock, or the last end of a window."""
        slide, offset = together.slide_us, together.offset_us
        if self.clock is None:
            return -(1 << 62)
        if slide is None:
            return self.clock - 1
        reached = self.clock
        if flush:  # to the last window that holds the newest event
            reach = max(query.range_us for query in together.queries.values())
            reached = max(reached, max(self._newest.values()) + (reach or slide))
        return offset + (reached - offset) // slide * slide

    def _opened(self, kept: list[dict]) -> list[_Together]:
        """The queries by when they came; of those that are no more, what only they held is deleted."""
        waiting = {_hashed(query): query for query in self.plan.queries}
        opened = []
        for entry in kept:
            known = {name: waiting.pop(name) for name in entry["roots"] if name in waiting}
            held = set(entry["pipeline"]["operators"])
            if known:
                opened.append(self._together(entry["prefix"], known, entry))
                held -= opened[-1].pipeline.held
            for space in held:
                self._blocks.delete_all(f"{entry['prefix']}{space}")
        fresh: dict[tuple[int | None, int], dict[str, ChangePlan]] = {}
        for name, query in waiting.items():
            fresh.setdefault((query.slide_us, query.offset_us), {})[name] = query
        for number, queries in enumerate(fresh.values()):
            opened.append(self._together(f"changes-{self.version}-{number}.", queries, None))
        return opened

    def _together(self, prefix: str, queries: dict[str, ChangePlan], kept: dict | None) -> _Together:
        blocks = PrefixedBlocks(self._blocks, prefix)
        assert self.plan.evaluate is not None
        pipeline = Pipeline(
            {name: query.root for name, query in queries.items()},
            self.plan.evaluate,
            blocks,
            tables=_tables(self.plan, queries.values()),
            user=dict(self.plan.user_code),
            snapshot=kept and kept["pipeline"],
        )
        sampled = {
            name: Sampled(query, f"answer-{name}", blocks, kept["sampled"].get(name) if kept else None)
            for name, query in queries.items()
            if query.emit == SNAPSHOT
        }
        first = next(iter(queries.values()))
        return _Together(prefix, first.slide_us, first.offset_us, queries, pipeline, sampled)


def _hashed(query: ChangePlan) -> str:
    """A name for what a query asks: by its plan, not by its own name."""
    return hashed(query.root, query.emit, query.slide_us, query.offset_us)


def _tables(plan: ChangesPlan, queries: Iterable[ChangePlan]) -> dict[str, pa.Table]:
    """The tables under the names that joins have for them and their columns."""
    static = dict(plan.static)
    found: dict[str, pa.Table] = {}

    def look(node: Node) -> None:
        if isinstance(node, TableJoin):
            prefix, _, name = node.table.partition(":")
            table = static[name]
            found[node.table] = table.rename_columns([f"{prefix}_{column}" for column in table.column_names])
        for child in node.children:
            look(child)

    for query in queries:
        look(query.root)
    return found
