"""What a stage runs: windows that are folded over its streams, and pipelines of operators over changes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyarrow as pa

from windrow.plan.change_names import asked_text
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Apply, Node
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.regrouped import LeafKey
from windrow.plan.nodes.stream_plan import StreamPlan

AnyQuery = QueryPlan | ChangePlan


def rejects_events(query: AnyQuery) -> bool:
    """Whether a function that remembers, of a query or of what it is made of, leaves out events that it fails with."""
    own = isinstance(query, ChangePlan) and _rejects(query.root)
    return own or any(rejects_events(inner) for _, inner in query.below)


def _rejects(plan: Node) -> bool:
    return (isinstance(plan, Apply) and plan.rejects) or any(map(_rejects, plan.children))


@dataclass(frozen=True, slots=True)
class Feed:
    """A stream whose events are the answers of `query`: in the same shard, or else in the shards of the next stage."""

    query: AnyQuery
    stream: StreamPlan
    here: bool


@dataclass(frozen=True, slots=True)
class StagePlan:
    """All that one shard runs of some queries: what one key can spread.

    Windows are folded over each of `streams`; `changing` are queries over rows that come and go, and `keys` say by what
    the rows of their leaves are spread. Where no key can spread a query, it runs in several stages: `before` is the one
    that comes before this; a stage that `is_followed` by another sends its changes by the keys in `sends`. `feeds` are
    the streams that are made of answers; those that are fed here come after what they are made of. Answers of the
    queries that it `tells` go on, to their readers or to the next stage. `run` is the name that all of it runs under.
    """

    streams: tuple[StreamPlan, ...]
    queries: tuple[AnyQuery, ...] = ()
    """Those that users ask, in whichever stage they are answered."""

    changing: tuple[ChangePlan, ...] = ()
    keys: tuple[LeafKey, ...] = ()
    static: tuple[tuple[str, pa.Table], ...] = field(default=(), compare=False, repr=False)
    """The tables that pipelines join, as they were read at the start."""

    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    memory_bytes: int = DEFAULT_BYTES
    before: StagePlan | None = None
    sends: tuple[LeafKey, ...] = ()
    is_followed: bool = False
    feeds: tuple[Feed, ...] = ()
    tells: tuple[str, ...] = ()
    run: str = ""
    forgets: tuple[str, ...] = ()
    """Names of state that was dropped: it is deleted, where no query asks for it any more."""

    begun: tuple[tuple[str, int], ...] = ()
    """How often the answers of queries have begun anew where sinks hold them, by name, where they have."""

    @classmethod
    def of(cls, stream: StreamPlan) -> StagePlan:
        """A stage that only folds the windows of one stream."""
        return cls(
            (stream,),
            stream.queries,
            user_code=stream.user_code,
            memory_bytes=stream.memory_bytes,
            tells=tuple(query.name for query in stream.queries),
            run=stream.stream,
        )

    @property
    def read(self) -> tuple[StreamPlan, ...]:
        """The streams that are read here, rather than made of answers."""
        made = {feed.stream.stream for feed in self.feeds}
        return tuple(stream for stream in self.streams if stream.stream not in made)

    @property
    def held(self) -> dict[str, str]:
        """What the state of this stage holds, in words, by the name of each part of it."""
        windows = {name: held for stream in self.streams for name, held in stream.held.items()}
        return windows | {query.asked: asked_text(query) for query in self.changing}

    @property
    def stages(self) -> tuple[StagePlan, ...]:
        """From the one that reads the streams to this one."""
        return (self,) if self.before is None else (*self.before.stages, self)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """All tables that are joined in some stage, as they were read."""
        held = [*self.static, *(table for stream in self.streams for table in stream.static)]
        return dict(held) | ({} if self.before is None else self.before.tables)

    @property
    def joined(self) -> dict[str, pa.Table]:
        """The tables that rows of streams are joined with, events or answers, in whichever stage, as they were read."""
        return dict(table for stage in self.stages for stream in stage.streams for table in stream.static)

    def stream(self, name: str) -> StreamPlan:
        """What runs over one of its streams."""
        return next(stream for stream in self.streams if stream.stream == name)


def without_tables(plan: StagePlan) -> StagePlan:
    """The same stages, without the tables that the rows of their streams are joined with."""
    before = None if plan.before is None else without_tables(plan.before)
    streams = tuple(replace(stream, static=()) for stream in plan.streams)
    feeds = tuple(replace(feed, stream=replace(feed.stream, static=())) for feed in plan.feeds)
    return replace(plan, streams=streams, feeds=feeds, before=before)
