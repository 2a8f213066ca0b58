"""The pipelines over changes of one shard: rows and clocks in, changes of the answers and state out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.regrouped import Leaf, StageEnd
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.changes.away import Entry, beside, called_back, let_go, sent_away
from windrow.runtime.changes.coming import coming_together, refuse_shared_keys, who_goes_on
from windrow.runtime.changes.together import Together
from windrow.runtime.late import Answered
from windrow.runtime.outcome import Outcome
from windrow.runtime.payload import Payload
from windrow.runtime.reject import refused_rows
from windrow.runtime.slice.scans import ROWS
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode


@dataclass(slots=True)
class Batch:
    """What a batch has brought, the clocks and newest events of the streams that are done, and what pipelines did.

    `told_to` is before which instant all rows of a query have been given that are events of another stream.
    """

    payloads: list[Payload]
    flush: bool = False
    clocks: dict[str, int | None] = field(default_factory=dict)
    newest: dict[str, int | None] = field(default_factory=dict)
    told_to: dict[str, int] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)


class Pipelines:
    """The queries over changes of a shard, and how a batch changes what they hold.

    What lies before a stream's clock is settled. With a slide, the clock of a query is that of the stream that is
    furthest behind; without one it tells what is certain. A query that comes later begins with empty windows, and
    shares nothing with those that were there.
    """

    def __init__(
        self, plan: StagePlan, blocks: Blocks, kept: Snapshot, version: int, older: Pipelines | None = None
    ) -> None:
        """As `kept` has it; what is new is named by the `version` of the shard that it comes to.

        An `older` view of the same state gives what it has in memory.
        """
        self._plan, self._blocks = plan, blocks
        self._told: dict[str, dict[str, list[str]]] = {}  # by pipeline: who hears of what is asked
        self._moves: int = kept.get("moves", 0)
        self._clock: int | None = kept.get("clock")
        self._carried: list[Entry] = []
        known = {} if older is None else {together.prefix: together for together in older._groups}
        self._groups: list[Together] = self._opened(kept.get("together", []), version, known)

    @property
    def queries(self) -> int:
        """How many queries there are that ask for something else than the others."""
        return sum(len(together.queries) for together in self._groups)

    def held(self) -> list[tuple[list[str], int]]:
        """What operators must hold in memory, and for which queries."""
        return [(self._asked_of(together), together.nbytes) for together in self._groups]

    def _asked_of(self, together: Together) -> list[str]:
        """The queries that a pipeline answers, by their names."""
        return [name for names in self._told[together.prefix].values() for name in names]

    def settled(self, stream: str) -> list[Answered]:
        """What queries over a stream have answered of it."""
        return [each for together in self._groups for each in together.answered(stream)]

    def process(self, batch: Batch, outcome: Outcome) -> None:
        """Take in a batch's rows, and tell what has changed up to the clocks of the streams.

        Pipelines whose streams are not all done, since some are made of other answers, wait until they are.
        """
        if not batch.done:
            came = (payload.probe is not None or payload.name.startswith(ROWS) for payload in batch.payloads)
            self._moves += batch.flush or any(came)
        ready = [
            together
            for together in self._groups
            if together.prefix not in batch.done and all(stream in batch.clocks for stream in together.streams)
        ]
        if not ready:
            return
        arrivals = self._arrivals(batch.payloads)
        for together in ready:
            began = outcome.now()
            own = [batch.newest[stream] for stream in together.streams]
            known = [instant for instant in own if instant is not None]
            last = max(known, default=None) if batch.flush else None
            until = together.settles(batch.clocks, last)
            self._settle(together, arrivals, until, outcome, batch.flush)
            batch.done.add(together.prefix)
            slowest = min(until.values())
            if slowest > BEFORE_ALL:
                clocks = (clock for stream in together.streams if (clock := batch.clocks[stream]) is not None)
                self._clock = min(clocks) if last is None else last + 1
                told_to = slowest + 1 if together.slide_us is None else slowest  # windows hold what is before their end
                batch.told_to.update(dict.fromkeys(self._asked_of(together), told_to))
            outcome.spend(self._asked_of(together), began)

    def save(self, version: int) -> Snapshot:
        """Write changed blocks to the store; returns what opens them again."""
        saved: dict[str, Entry] = {
            together.prefix: together.save(version) | {"told": self._told[together.prefix]} for together in self._groups
        }
        carried = [beside(saved.pop(entry["prefix"], None), entry) for entry in self._carried]
        return {"moves": self._moves, "clock": self._clock, "together": [*carried, *saved.values()]}

    def _arrivals(self, payloads: Sequence[Payload]) -> dict[Leaf, list[pa.RecordBatch]]:
        found: dict[Leaf, list[pa.RecordBatch]] = {}
        for payload in payloads:
            if payload.name.startswith(ROWS):
                leaf = self._plan.keys[int(payload.name[len(ROWS) :])].leaf
                found.setdefault(leaf, []).append(decode(payload.body))
        return found

    def _settle(
        self,
        together: Together,
        rows: dict[Leaf, list[pa.RecordBatch]],
        until: dict[str, int],
        outcome: Outcome,
        ended: bool,
    ) -> None:
        """Move a pipeline on, each of its streams `until` an instant."""
        last = max(until.values())
        overflows = together.pipeline.overflows
        changed = together.advance(rows, until, ended)
        outcome.failed += together.pipeline.overflows - overflows
        sources = next(iter(together.queries.values())).sources
        for stream, refused in together.pipeline.take_refused():
            outcome.refused += len(refused.causes)
            outcome.rejected.append(refused_rows(refused, stream if stream in sources else sources[0]))
        for name, query in together.queries.items():
            if isinstance(query.root, StageEnd):
                outcome.parts.append((query.name, changed[name]))
            elif last > BEFORE_ALL:
                batches = together.answers(name, changed[name], last, ended)
                if query.emit == SNAPSHOT:
                    ends = [batch.column("window_end").cast(pa.int64()).to_numpy() for batch in batches]
                    outcome.answer(name, np.unique(np.concatenate(ends)) if ends else np.zeros(0, np.int64))
                for asking in self._told[together.prefix][name]:
                    outcome.add(asking, batches)

    def _opened(self, kept: list[Entry], version: int, older: Mapping[str, Together]) -> list[Together]:
        """The queries by when they came; those that are no more are carried along, unread."""
        waiting = {query.asked: query for query in self._plan.changing}
        names: dict[str, list[str]] = {}
        for query in self._plan.changing:
            names.setdefault(query.asked, []).append(query.name)
        forgets, opened = self._plan.forgets, []
        refuse_shared_keys(kept, waiting)
        for was in kept:
            entry = called_back(was, waiting, forgets, self._moves)
            known = {name: waiting[name] for name in entry["roots"] if name in waiting}
            told = {name: who_goes_on(entry, query, names[name], kept) for name, query in known.items()}
            names |= {name: [one for one in names[name] if one not in told[name]] for name in known}
            known = {name: query for name, query in known.items() if told[name]}
            told = {name: told[name] for name in known}
            waiting = {name: query for name, query in waiting.items() if names[name]}
            entry = sent_away(entry, known, forgets, self._moves, self._clock)
            entry = let_go(was, entry, self._blocks)
            if known:
                self._told[entry["prefix"]] = told
                place = (entry["prefix"], known, self._plan, self._blocks, entry)
                opened.append(Together.open(*place, older.get(entry["prefix"])))
            if entry["away"]:
                self._carried.append(entry)
        for number, queries in enumerate(coming_together(waiting)):
            prefix = f"changes-{version}-{number}."
            self._told[prefix] = {name: names[name] for name in queries}
            opened.append(Together.open(prefix, queries, self._plan, self._blocks, None))
        return opened
