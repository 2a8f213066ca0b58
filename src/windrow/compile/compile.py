"""Compiles SQL text to the stages that run for it: read this first. Sessions, replay, `check` and `explain` come here.

Text is read (`language/`), goes through RULES.written and is bound (`plan/bind/bind.py`). Each query then goes through
RULES.bound, beside those that came before it; the queries of one scan share what they can, and are cut into stages
(`plan_stages.py`). All rules stand in `rules.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import pyarrow as pa

from windrow.compile.bind_alike import BoundAlike
from windrow.compile.check_wishes import refuse_vain
from windrow.compile.derive_streams import derive_streams, stream_of
from windrow.compile.figures import Figures, figures_for
from windrow.compile.join_runs import join_runs
from windrow.compile.plan_changes import tables_of
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.compile.refuse_large import refuse_large
from windrow.compile.refuse_shards import refuse_shards
from windrow.compile.rule import Arriving
from windrow.compile.rules import RULES
from windrow.compile.wishes import Tables, Wishes
from windrow.compile.within_windows import within_windows
from windrow.errors import QueryError, SettingsError
from windrow.language import Query, parse_query
from windrow.language.nodes import STREAM_WINDOW, StreamWindow
from windrow.plan.bind.bind import bind
from windrow.plan.catalog import REJECTED_ROWS, Catalog, Stream
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery, StagePlan
from windrow.plan.nodes.wanted import NOTHING, Wanted

__all__ = ["Compiler", "Tables", "Wishes", "compile_queries", "plan_query"]

MADE_OF = "#"
"""The name of a query whose answers only feed another stream; no sink sees it."""


def compile_queries(
    texts: Mapping[str, str | Query],
    catalog: Catalog,
    tables: Tables,
    wishes: Wishes,
    derived: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, StagePlan]:
    """Queries by name to the stages that run for them: for each set that runs together, the last of its stages.

    `derived` are streams whose events are the answers of queries, by name.
    """
    compiler, queries = Compiler(catalog, tables, wishes), dict[str, AnyQuery]()
    for name, text in derived.items():
        compiler.catalog = compiler.catalog.with_stream(compiler.derive_stream(name, parse_query(text)))
    for name, asked in texts.items():
        parsed = parse_query(asked) if isinstance(asked, str) else asked
        queries[name] = compiler.compile_query(name, parsed, queries.values())
    return compiler.compile_all(queries)


def plan_query(
    name: str, bound: AnyQuery, beside: Iterable[AnyQuery] = (), choose: Wanted = NOTHING, wanted: Wanted = NOTHING
) -> AnyQuery:
    """A bound query as it runs beside others; `choose` is asked for it alone, before what is `wanted` of all."""
    others = beside if isinstance(beside, Collection) else tuple(beside)
    query, arriving = replace(bound, name=name), Arriving(others, choose, wanted)
    for rule in RULES.bound:
        query = rule(query, arriving)
    return query


class Compiler:
    """Compiles queries one at a time. The catalog may grow between two calls."""

    def __init__(self, catalog: Catalog, tables: Tables, wishes: Wishes) -> None:
        self.catalog, self._tables, self.wishes, self._alike = catalog, tables, wishes, BoundAlike()

    def compile_query(
        self, name: str, query: Query, beside: Iterable[AnyQuery] = (), choose: Wanted = NOTHING
    ) -> AnyQuery:
        """What one query asks for, to be run beside others; `choose` is asked for it alone, before what all ask."""
        if not name or name == REJECTED_ROWS:
            raise SettingsError(f"no query can be called {name!r}: give it another name")
        bound = self._alike.bound(query, self.catalog, self._bind)
        return plan_query(name, bound, beside, choose, self.wishes.wanted)

    def derive_stream(self, name: str, query: Query) -> Stream:
        """A stream whose events are the answers of a query."""
        return stream_of(name, self._told(query), query.tree, query.text)

    def _told(self, query: Query) -> AnyQuery:
        """A query whose answers others read: which of its rows are told is chosen of the answers of each window."""
        plan = self.compile_query(MADE_OF, query)
        if isinstance(plan, QueryPlan) and (plan.rankings or plan.order) and plan.clusters is None:
            return plan_query(MADE_OF, self._bind(query, of_rows=True), wanted=self.wishes.wanted)
        return plan

    def columns_of(self, query: Query) -> pa.Schema:
        """The columns of what a query tells of events, as they are emitted; refuses one over answers."""
        plan = self.compile_query(MADE_OF, query)
        if plan.below:
            raise QueryError("its rows are the answers of a query, and no events")
        return plan.emitted

    def check_branch(self, query: Query) -> None:
        """Refuse a branch of a SPLIT that reads what its stream has not, before any query reads the branch."""
        tree = query.tree.copy()
        window = parse_query("SELECT 1 FROM s [RANGE 1 SECOND]").tree.find(StreamWindow)
        tree.args["from_"].this.set(STREAM_WINDOW, window)
        streams = self.catalog.streams.items()
        plain = {name: replace(stream, correct_us=0, shed_us=None) for name, stream in streams}
        within = Compiler(replace(self.catalog, streams=plain), self._tables, self.wishes)
        within.compile_query(MADE_OF, replace(query, tree=tree))

    def share(self, queries: Mapping[str, AnyQuery]) -> dict[str, AnyQuery]:
        """The same queries, those that cluster alike with one summary. Wishes that none can have are refused."""
        refuse_vain(list(queries.values()), self.wishes.wanted)
        for rule in RULES.together:
            queries = rule(queries)
        return dict(queries)

    def compile_all(
        self, queries: Mapping[str, AnyQuery], figures: Mapping[str, Figures] = MappingProxyType({})
    ) -> dict[str, StagePlan]:
        """For each set of `queries` that runs together, the last of its stages; `figures` are what is measured."""
        running: dict[str, list[AnyQuery]] = {}
        for query in join_runs(self.share(queries)).values():
            running.setdefault(query.run, []).append(query)
        known = {run: figures_for(together[0], figures) for run, together in running.items()}
        return {run: self.compile_scan(together, figures=known[run]) for run, together in running.items()}

    def _bind(self, query: Query, *, of_rows: bool = False) -> AnyQuery:
        for rule in RULES.written:
            query = rule(query, self.catalog)
        plan_of = partial(self.compile_query, MADE_OF)
        query, catalog = within_windows(query, self.catalog, plan_of, of_rows=of_rows)
        query, catalog = derive_streams(query, catalog, self._told)
        return bind(query, catalog)

    def check(
        self,
        queries: Mapping[str, AnyQuery],
        figures: Mapping[str, Figures] = MappingProxyType({}),
        shards: int | None = None,
    ) -> None:
        """Refuse what shows only where queries are put together, such as a shard that there is not.

        By what the `figures` of a run tell, what has no room in one of the `shards` is refused, too. Queries
        that are joined with tables are left out: these would have to be read.
        """
        running: dict[str, list[AnyQuery]] = {}
        for query in join_runs(self.share(queries)).values():
            if not tables_of([query]):
                running.setdefault(query.run, []).append(query)
        for together in running.values():
            known = figures_for(together[0], figures)
            refuse_large(self.compile_scan(together, figures=known, shards=shards), known, self._parts(shards))

    def _parts(self, shards: int | None) -> int:
        return shards or self.wishes.in_one or self.wishes.shards or 1

    def compile_scan(
        self,
        queries: Sequence[AnyQuery],
        *,
        keeps_rejected: bool = False,
        live: bool = False,
        figures: Figures | None = None,
        shards: int | None = None,
    ) -> StagePlan:
        """Compiles queries that share one scan of their streams; returns the last stage, which holds those before it.

        `live` is a job that goes on by itself, `shards` what its checkpoint has, where there is one. By the `figures`
        of a stream it is chosen what panes keep, and windows that cannot fit into memory are refused.
        """
        wishes, tables = self.wishes, {name: self._tables(name) for name in tables_of(queries)}
        around = StageNeeds(
            self.catalog.streams,
            tables,
            self.catalog.code,
            wishes.memory_bytes,
            wishes.keeping,
            wishes.wanted,
            keeps_rejected,
            live,
            spread=wishes.shards is not None,
            shards=wishes.in_one,
            figures=figures,
        )
        local = self.catalog.above or self.catalog.engine
        for rule in RULES.scanned:
            queries = [rule(query, tables, local) for query in queries]
        plan = plan_stages(queries, around)
        refuse_shards(plan, self._parts(shards))
        return plan
