"""All queries that run together, as stages: what one key can spread, and what goes from one stage to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from windrow.compile.cut_into_stages import stages_of
from windrow.compile.figures import Figures
from windrow.compile.keep_rows import PARTIALS_FIRST, Keeping
from windrow.compile.plan_changes import by_own_keys, tables_of, users_in
from windrow.compile.plan_stream import plan_stream
from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Scan
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.regrouped import LeafKey
from windrow.plan.nodes.stage import AnyQuery, Feed, StagePlan
from windrow.plan.nodes.stream_plan import SpreadScan, StreamPlan
from windrow.plan.nodes.wanted import NOTHING, Wanted


@dataclass(frozen=True, slots=True)
class StageNeeds:
    """What stages need beside their queries. Where nothing is to be `spread`, all runs in one stage."""

    streams: Mapping[str, Stream]
    tables: Mapping[str, pa.Table]
    code: Mapping[str, type]
    memory_bytes: int = DEFAULT_BYTES
    keeping: Keeping = PARTIALS_FIRST
    wanted: Wanted = NOTHING
    keeps_rejected: bool = False
    live: bool = False
    spread: bool = True
    shards: int | None = None
    """How many DISTRIBUTE BY may name, where all run in one."""
    figures: Figures | None = None


def plan_stages(queries: Sequence[AnyQuery], around: StageNeeds) -> StagePlan:
    """The last of the stages that run for `queries`, with those before it.

    A window is folded where its stream is read, which is the first stage, or where its stream is made of answers. What
    is answered in an earlier stage goes on to the last.
    """
    placed = _Placed(around)
    if around.spread:  # a checkpoint keeps their number, though the queries that have needed them may be gone
        placed.stages = max(query.run_stages for query in queries)
    for query in queries:
        placed.add(query)
    before: StagePlan | None = None
    for number in range(placed.stages):
        before = placed.stage(number, tuple(queries), before)
    assert before is not None
    return before


@dataclass(slots=True)
class _Placed:
    """Which query runs in which stage, and which streams are made there of the answers of which query."""

    around: StageNeeds
    folded: dict[int, dict[str, list[QueryPlan]]] = field(default_factory=dict)
    """By stage and name: to compare each with all others would take as long as to plan them."""

    changing: dict[int, dict[str, ChangePlan]] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)
    """By stream: the stage in which the answers are given that it is made of."""

    made: dict[tuple[str, int], AnyQuery] = field(default_factory=dict)
    """By stream, and the stage that it is read in: the query that it is made of."""

    stages: int = 1

    def add(self, query: AnyQuery) -> int:
        """Place a query, and before it all that its streams are made of; returns the stage that answers it."""
        if isinstance(query, QueryPlan):
            number = 0
            if query.made_of is not None:
                given = self._give(query.stream, query.made_of)
                number = given + (query.stages - query.made_of.stages if self.around.spread else 0)
                self.made.setdefault((query.stream, number), query.made_of)
            there = self.folded.setdefault(number, {}).setdefault(query.name, [])
            if query not in there:
                there.append(query)
        else:
            given_in = [self._give(stream, inner) for stream, inner in query.made_of]
            number = max((given + (1 if self.around.spread else 0) for given in given_in), default=0)
            self.made.update({(stream, number): inner for stream, inner in query.made_of})
            for part in stages_of(query) if self.around.spread else [[query]]:
                self.changing.setdefault(number, {}).update({own.name: own for own in part})
                number += 1
            number -= 1
        self.stages = max(self.stages, number + 1)
        return number

    def stage(self, number: int, queries: tuple[AnyQuery, ...], before: StagePlan | None) -> StagePlan:
        """What runs in the stage of this number."""
        around, folded = self.around, self._folded_in(number)
        changing, keys = by_own_keys(self.changing.get(number, {}).values())
        _, sends = by_own_keys(self.changing.get(number + 1, {}).values())
        read = [name for name in around.streams if around.streams[name].made_of is None]
        here = {name: inner for (name, read_in), inner in self.made.items() if read_in == number}
        next_up = {name: inner for (name, read_in), inner in self.made.items() if read_in == number + 1}
        later = [name for (name, read_in) in self.made if read_in > number]
        wanted = {query.stream for query in folded} | {name for query in changing for name in query.streams}
        fed = [name for (name, read_in) in self.made if read_in <= number]  # later stages follow their clocks
        streams = {name: self._stream(name, folded, keys) for name in (*read, *fed) if name in wanted}
        following = self._folded_in(number + 1)
        feeds = [
            Feed(_called(name, inner), streams[name], True)
            for name, inner in here.items()
            if self.given[name] == number
        ]
        feeds += [
            Feed(_called(name, inner), self._stream(name, following, sends), False)
            for name, inner in next_up.items()
            if self.given[name] <= number
        ]
        users = {name for query in changing for name in users_in(query.root)}
        users |= {name for stream in streams.values() for name, _ in stream.user_code}
        return StagePlan(
            tuple(streams.values()),
            queries,
            changing,
            keys,
            tuple((name, around.tables[name]) for name in _joined(changing)),
            tuple((name, around.code[name]) for name in sorted(users)),
            around.memory_bytes,
            before,
            sends,
            number + 1 < self.stages,
            tuple(feeds),
            (*(query.name for query in queries), *(f"#{name}" for name in later)),
            queries[0].run,
        )

    def _folded_in(self, number: int) -> list[QueryPlan]:
        return [query for alike in self.folded.get(number, {}).values() for query in alike]

    def _give(self, stream: str, inner: AnyQuery) -> int:
        """Have the answers given that a stream is made of; returns the stage that they are given in."""
        if stream not in self.given:
            self.given[stream] = self.add(_called(stream, inner))
        return self.given[stream]

    def _stream(self, name: str, folded: Sequence[QueryPlan], keys: Sequence[LeafKey]) -> StreamPlan:
        made = name in self.given
        stream = Stream(name, pa.schema([]), "window_end") if made else self.around.streams[name]
        scans = [
            SpreadScan(number, key.leaf, key.columns, self.around.shards)
            for number, key in enumerate(keys)
            if isinstance(key.leaf, Scan) and key.leaf.stream == name
        ]
        around = self.around
        plan = plan_stream(
            stream,
            [query for query in folded if query.stream == name],
            around.code,
            around.memory_bytes,
            around.keeping,
            around.wanted,
            scans=scans,
            keeps_rejected=around.keeps_rejected and not made,
            live=around.live and not made,
            figures=None if made else around.figures,
        )
        return replace(plan, static=tuple((table, around.tables[table]) for table in plan.tables))


def _joined(changing: Sequence[ChangePlan]) -> list[str]:
    """The tables that pipelines join."""
    return tables_of(replace(query, made_of=()) for query in changing)


def _called(stream: str, query: AnyQuery) -> AnyQuery:
    """A query by the stream that its answers are for."""
    return replace(query, name=f"#{stream}")
