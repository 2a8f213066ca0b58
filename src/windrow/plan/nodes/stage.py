"""What a stage runs: windows that are folded over its streams, and pipelines of operators over changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.pipeline import QueryPlan, StreamPlan
from windrow.plan.nodes.regrouped import LeafKey

AnyQuery = QueryPlan | ChangePlan


@dataclass(frozen=True, slots=True)
class StagePlan:
    """All that one shard runs of some queries: what one key can spread.

    Windows are folded over each of `streams`; `changing` are queries over rows that come and go, and `keys` say by what
    the rows of their leaves are spread. Where no key can spread a query, it runs in several stages: `before` is the one
    that comes before this; a stage that `is_followed` by another sends its changes by the keys in `sends`.
    """

    streams: tuple[StreamPlan, ...]
    changing: tuple[ChangePlan, ...] = ()
    keys: tuple[LeafKey, ...] = ()
    static: tuple[tuple[str, pa.Table], ...] = field(default=(), compare=False, repr=False)
    """The tables that pipelines join, as they were read at the start."""

    user_code: tuple[tuple[str, type], ...] = field(default=(), compare=False)
    memory_bytes: int = DEFAULT_BYTES
    before: StagePlan | None = None
    sends: tuple[LeafKey, ...] = ()
    is_followed: bool = False

    @classmethod
    def of(cls, stream: StreamPlan) -> StagePlan:
        """A stage that only folds the windows of one stream."""
        return cls((stream,), user_code=stream.user_code, memory_bytes=stream.memory_bytes)

    @property
    def queries(self) -> tuple[AnyQuery, ...]:
        """All queries that are answered here."""
        return (*(query for stream in self.streams for query in stream.queries), *self.changing)

    @property
    def run(self) -> str:
        """The name of what all its queries run in: see `QueryPlan.stream` and `ChangePlan.stream`."""
        return self.queries[0].stream

    @property
    def stages(self) -> tuple[StagePlan, ...]:
        """From the one that reads the streams to this one."""
        return (self,) if self.before is None else (*self.before.stages, self)

    def stream(self, name: str) -> StreamPlan:
        """What runs over one of its streams."""
        return next(stream for stream in self.streams if stream.stream == name)
