"""Queries as text to what runs for them: read this first. Sessions, replay, `check` and `explain` come through here.

Text is read (`language/`) and bound (`plan/bind/`); `query` then makes a plan of each query, `sharing` lets them share
what they can, and `scan` gives what runs over one scan of their streams.

A rule is a file of this room, and says why it changes a plan: those of one query are called in `plan_query` and
`plan_change`, those of all queries over one scan in `plan_stages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import pyarrow as pa

from windrow.compile.check_wishes import refuse_vain, refuse_wishes
from windrow.compile.derive_streams import derive_streams, refuse_mixed, stream_of
from windrow.compile.keep_rows import Figures, Keeping
from windrow.compile.look_up_tables import look_up_tables
from windrow.compile.plan_changes import plan_change, tables_of
from windrow.compile.plan_query import plan_query
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.compile.refuse_large import refuse_large
from windrow.compile.share_clusters import share_clusters
from windrow.errors import SettingsError
from windrow.language import Query
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.changes import bind_changes
from windrow.plan.bind.over_changes import is_over_changes
from windrow.plan.bind.query import bind
from windrow.plan.catalog import REJECTED_ROWS, Catalog, Stream
from windrow.plan.expiry import read_expiry
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import NOTHING, Wanted

MADE_OF = "#"
"""What a query is called whose answers are only the events of a stream."""

Tables = Callable[[str], pa.Table]
"""Reads a table that does not change, by its name."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What users ask for beside their queries, and how many shards there are to ask it of.

    Without `shards` everything runs in one process, and no plan is cut into stages. `wanted` is what was asked for by
    name, of all queries; partials have `room_bytes` before rows are kept instead.
    """

    memory_bytes: int = DEFAULT_BYTES
    wanted: Wanted = NOTHING
    room_bytes: float = inf
    shards: int | None = None

    @property
    def keeping(self) -> Keeping:
        """How it is decided what panes keep."""
        return Keeping(self.wanted.get("keep"), self.room_bytes)


class Compiler:
    """Compiles queries over what a catalog knows, also of what comes to be known later."""

    def __init__(self, catalog: Catalog, tables: Tables, wishes: Wishes) -> None:
        self.catalog, self._tables, self.wishes = catalog, tables, wishes

    def query(self, name: str, query: Query, beside: Iterable[AnyQuery] = (), choose: Wanted = NOTHING) -> AnyQuery:
        """What one query asks for, to be run beside others; `choose` is asked for it alone, before what all ask."""
        if not name or name == REJECTED_ROWS:
            raise SettingsError(f"no query can be called {name!r}: give it another name")
        query, catalog = derive_streams(query, self.catalog, lambda inner: self.query(MADE_OF, inner))
        if is_over_changes(query.tree, Scope(catalog, query.text)):
            expiry = read_expiry(choose.over(self.wishes.wanted).get("expiry"))
            asked = NOTHING if expiry is None else Wanted((("expiry", expiry.value),))
            bound = bind_changes(query, catalog)
            refuse_mixed(bound.streams, query)
            changes = plan_change(name, bound, expiry, asked)
            refuse_wishes(changes, choose)
            return changes
        folded = [other for other in beside if isinstance(other, QueryPlan)]
        plan = replace(plan_query(name, bind(query, catalog), folded), choose=choose)
        refuse_wishes(plan, choose, folded)
        return plan

    def derived(self, name: str, query: Query) -> Stream:
        """A stream whose events are the answers of a query."""
        return stream_of(name, self.query(MADE_OF, query), query.tree, query.text)

    def sharing(self, queries: Mapping[str, AnyQuery]) -> dict[str, AnyQuery]:
        """The same queries, those that cluster alike with one summary. Wishes that none can have are refused."""
        refuse_vain(list(queries.values()), self.wishes.wanted)
        folded = {name: query for name, query in queries.items() if isinstance(query, QueryPlan)}
        return {**queries, **share_clusters(folded)}

    def scan(
        self,
        queries: Sequence[AnyQuery],
        *,
        keeps_rejected: bool = False,
        live: bool = False,
        figures: Figures | None = None,
    ) -> StagePlan:
        """The last of the stages that run over one scan of the streams that `queries` read.

        `live` is a job that goes on by itself.

        With the `figures` of a stream, windows that cannot fit into memory are refused.
        """
        wishes = self.wishes
        around = StageNeeds(
            self.catalog.streams,
            {name: self._tables(name) for name in tables_of(queries)},
            self.catalog.code,
            wishes.memory_bytes,
            wishes.keeping,
            wishes.wanted,
            keeps_rejected,
            live,
            spread=wishes.shards is not None,
        )
        local = self.catalog.above or self.catalog.engine
        asked = [look_up_tables(query, around.tables, local) for query in queries]
        plan = plan_stages(asked, around)
        if figures is not None and wishes.shards is not None:
            for stream in plan.stages[0].streams:
                refuse_large(stream, wishes.shards, figures)
        return plan
