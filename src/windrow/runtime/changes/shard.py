"""One shard of queries over changes: rows and clocks in, changes of the answers and state out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import MemoryLimitError
from windrow.plan.instants import LATEST_US
from windrow.plan.memory import too_large
from windrow.plan.nodes.change_plan import ChangePlan, ChangesPlan
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.regrouped import Leaf, Part
from windrow.runtime.changes.away import Entry, beside, called_back, let_go, sent_away
from windrow.runtime.changes.together import Together
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import FLUSH, REJECTED, Payload
from windrow.runtime.reject import rejected_of
from windrow.runtime.shard import FORMAT, opened
from windrow.runtime.slice.changes import PROBE, ROWS
from windrow.storage.blocks import Blocks
from windrow.storage.columns import decode

NOTHING_YET = -(1 << 62)
"""An instant before all others: what is settled as long as there is no clock."""


class ChangeShard:
    """The state of one shard of queries over changes, and how a batch changes it. As `Shard`, it reads no clock.

    The clock of the queries is that of the stream that is furthest behind, and what lies before it is settled. A query
    that comes later begins with empty windows, and shares nothing with those that were there.
    """

    def __init__(self, plan: ChangesPlan, blocks: Blocks, snapshot: bytes | None = None) -> None:
        self.plan, self._blocks = plan, blocks
        nothing: dict[str, Any] = {"version": 0, "newest": {}, "clock": None}
        kept: dict[str, Any] = opened(snapshot) if snapshot is not None else nothing
        self.version: int = kept["version"]
        self.clock: int | None = kept["clock"]
        self._newest: dict[str, int] = kept["newest"]
        self._asking: dict[str, list[str]] = {}
        for query in plan.queries:
            self._asking.setdefault(query.asked, []).append(query.name)
        self._moves: int = kept.get("moves", 0)
        self._carried: list[Entry] = []
        self._groups = self._opened(kept.get("together", []))

    @property
    def memory_limit(self) -> int:
        return self.plan.memory_bytes

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
        known = [together.closed for together in self._groups]
        closed = max((instant for instant in known if instant is not None), default=None)  # before it, some are late
        for payload in payloads:
            outcome.count(payload)
            if payload.name.startswith(PROBE) and payload.probe is not None:
                stream = payload.name[len(PROBE) :]
                self._newest[stream] = max(self._newest.get(stream, payload.probe), payload.probe)
            if payload.name == REJECTED:  # an earlier stage has told who is late
                outcome.rejected.append(decode(payload.body))
            elif payload.name.startswith(REJECTED):
                stream = payload.name[len(REJECTED) + 1 :]
                outcome.rejected.append(rejected_of(decode(payload.body), stream, closed))
        before, known_of = self.clock, any(payload.probe is not None for payload in payloads)
        self._advance(flush)
        self._moves += flush or known_of or self.clock != before
        arrivals = self._arrivals(payloads)
        for together in self._groups:
            self._settle(together, arrivals, flush, outcome)
        if self.bytes_in_memory > self.plan.memory_bytes:
            names = [query.name for query in self.plan.queries]
            raise MemoryLimitError(too_large(names, self.bytes_in_memory, self.plan.memory_bytes))
        return outcome

    def forget_blocks(self) -> None:
        """All that operators hold has to be in memory."""

    def save(self) -> bytes:
        """Write changed blocks to the store; returns the snapshot that opens them again."""
        self.version += 1
        saved = {together.prefix: together.save(self.version) for together in self._groups}
        carried = [beside(saved.pop(entry["prefix"], None), entry) for entry in self._carried]
        kept = [*carried, *saved.values()]
        snapshot = {"version": self.version, "clock": self.clock, "newest": self._newest, "together": kept}
        snapshot["moves"] = self._moves
        return json.dumps({"format": FORMAT} | snapshot).encode()

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
        self, together: Together, rows: dict[Leaf, list[pa.RecordBatch]], flush: bool, outcome: Outcome
    ) -> None:
        newest = max(self._newest.values()) if flush and self._newest else None
        until = NOTHING_YET if self.clock is None else min(together.until(self.clock, newest), LATEST_US)
        late, overflows = sum(together.pipeline.late.values()), together.pipeline.overflows
        changed = together.advance(rows, until)
        outcome.late += sum(together.pipeline.late.values()) - late
        outcome.failed += together.pipeline.overflows - overflows
        for name, query in together.queries.items():
            if isinstance(query.root, Part):
                outcome.parts.append((query.name, changed[name]))
            elif self.clock is not None:
                batches = together.answers(name, changed[name], until)
                if query.emit == SNAPSHOT:  # each is one window
                    ends = [batch.column("window_end").cast(pa.int64())[0].as_py() for batch in batches]
                    outcome.answer(name, np.array(ends, np.int64))
                for asking in self._asking[name]:
                    outcome.add(asking, batches)

    def _opened(self, kept: list[dict]) -> list[Together]:
        """The queries by when they came; those that are no more are carried along, unread."""
        waiting = {query.asked: query for query in self.plan.queries}
        opened = []
        for was in kept:
            entry = called_back(was, waiting, self.plan.forgets, self._moves)
            known = {name: waiting.pop(name) for name in entry["roots"] if name in waiting}
            entry = sent_away(entry, known, self.plan.forgets, self._moves, self.clock)
            entry = let_go(was, entry, self._blocks)
            if known:
                opened.append(Together.open(entry["prefix"], known, self.plan, self._blocks, entry))
            if entry["away"]:
                self._carried.append(entry)
        fresh: dict[tuple[int | None, int], dict[str, ChangePlan]] = {}
        for name, query in waiting.items():
            fresh.setdefault((query.slide_us, query.offset_us), {})[name] = query
        for number, queries in enumerate(fresh.values()):
            opened.append(Together.open(f"changes-{self.version}-{number}.", queries, self.plan, self._blocks, None))
        return opened
