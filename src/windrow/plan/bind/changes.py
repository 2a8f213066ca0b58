"""Joins, set operators, DISTINCT and windows without a slide: from syntax to a plan over changes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from windrow.language import Query, deep, emit_of, error_at, expression_sql, query_window_of, window_of
from windrow.language import TimeWindow as WrittenWindow
from windrow.language.nodes import EACH_EVENT, StreamFunction
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.change_groups import bind_select
from windrow.plan.bind.change_sources import Base, Derived, Source, Static
from windrow.plan.bind.check_from import check_aliases, check_conditions, check_leading, join_kind, without_partner
from windrow.plan.bind.clusters import refuse_cluster_calls
from windrow.plan.bind.column_aliases import renamed
from windrow.plan.bind.common_slide import common_slide
from windrow.plan.bind.distribution import bind_distribution, without_shard
from windrow.plan.bind.edges import Windows, longest
from windrow.plan.bind.emitted import (
    check_condition,
    check_without_slide,
    every_of,
    refuse_empty,
    refuse_pace,
    with_condition,
    with_empty,
)
from windrow.plan.bind.final import final_plan
from windrow.plan.bind.first_ones import first_ones
from windrow.plan.bind.first_rows import first_answers
from windrow.plan.bind.from_clause import Named, bind_stream, named_by_with, read_from
from windrow.plan.bind.is_table import is_table, reads_tables
from windrow.plan.bind.join_keys import keys_of_streams, keys_of_table, kind_with_table
from windrow.plan.bind.joined_queries import ONE_ROW
from windrow.plan.bind.joins import JoinStep, all_of, bind_joins, conjuncts_of, refuse_impossible
from windrow.plan.bind.lower_columns import Sources
from windrow.plan.bind.names import check_qualifiers
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.bind.plain_select import is_plain, names_edges
from windrow.plan.bind.project_rows import filtered, projected
from windrow.plan.bind.refuse import (
    not_yet,
    refuse_clauses_over_changes,
    refuse_sub_queries,
    window_over_changes,
    window_over_sub_query,
)
from windrow.plan.bind.stream_first import stream_first
from windrow.plan.bind.stream_functions import bind_function
from windrow.plan.bind.sub_queries import SubQueries
from windrow.plan.bind.table_queries import FOR_EVER, over_tables, table_of
from windrow.plan.bind.using_columns import coalesced_columns, named_naturally, with_coalesced
from windrow.plan.bind.waits import Waits, life_of, refuse_endless
from windrow.plan.bind.widen import cast_columns, check_edges_of_sides, types_of_sides
from windrow.plan.bind.within_window import window_within, within_window
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.change_plan import ChangePlan, leading_names
from windrow.plan.nodes.changes import Intersect, Minus, Node, Scan, Select, Single, Union
from windrow.plan.nodes.distributed import SHARD
from windrow.plan.nodes.emission import CHANGES, FINAL, SNAPSHOT
from windrow.plan.nodes.joins import Between, Join, TableJoin
from windrow.plan.nodes.query_plan import UNNAMED
from windrow.plan.nodes.regrouped import leaves_in
from windrow.plan.nodes.result_columns import window_columns

_SETS = {exp.Union: Union, exp.Except: Minus, exp.Intersect: Intersect}


@deep
def bind_changes(query: Query, catalog: Catalog) -> ChangePlan:
    """The plan of a query over changes."""
    refuse_pace(query)
    refuse_empty(query)
    emit = emit_of(query.tree)
    slide_us, offset_us = common_slide(query.tree, query.text)
    if emit == FINAL and slide_us is not None:
        emit = SNAPSHOT  # nothing that comes later changes the answer of a window that has ended
    scope = Scope(catalog, query.text, emit or SNAPSHOT)
    binder = _Binder(scope, slide_us=slide_us, offset_us=offset_us)
    tree, hidden = with_condition(query, scope)
    derived = binder.relation(tree, {}, None)
    check_condition(derived.plan, hidden, query)
    emit = emit or (CHANGES if slide_us is None else SNAPSHOT)
    if slide_us is None:
        check_without_slide(emit, derived.plan, query)
    plan = first_ones(derived.plan)
    refuse_endless(plan, binder.unwindowed, slide_us is not None, scope.text)
    if emit == FINAL and not query.tree.args["emit"].meta.get(EACH_EVENT):
        plan = final_plan(plan, query.tree.args["emit"], scope.text)
    within = window_within([*binder.streams.values()])
    leading = leading_names(emit) if within is None else window_columns(within)
    check_leading(query.tree, derived.columns, leading, scope)
    plan = plan if within is None else within_window(plan, binder.streams, within)
    reach, unbounded = max(length or 0 for length in binder.ranges), None in binder.ranges
    every_us, plan = every_of(query, slide_us), with_empty(plan, query)
    instants = (slide_us, offset_us, reach, unbounded)
    read = [binder.streams[name] for name in sorted(binder.streams)]
    made_of = tuple((stream.name, stream.made_of) for stream in read if stream.made_of is not None)
    streams = tuple(stream.name for stream in read)
    how = ChangePlan(UNNAMED, streams, plan, emit, *instants, made_of=made_of, every_us=every_us, hidden=hidden)
    return replace(how, within=within)


@dataclass(slots=True)
class _Binder:
    scope: Scope
    streams: dict[str, Stream] = field(default_factory=dict)
    ranges: list[int | None] = field(default_factory=list)
    slide_us: int | None = None
    offset_us: int = 0
    unwindowed: dict[str, exp.Expr] = field(default_factory=dict)
    """Where streams are named that have no window."""

    sub_queries: int = 0
    """How many stood outside FROM so far, by which they are named."""

    def relation(self, tree: exp.Expr, named: Named, window: object) -> Derived:
        """The answers of a query as a relation; `window` is that of streams that have none of their own."""
        window = query_window_of(tree) or window
        named = named_by_with(tree, named)
        refuse_clauses_over_changes(tree, self.scope.text)
        if isinstance(tree, exp.Subquery):
            return first_answers(self.relation(tree.this, named, window), tree, self.scope)
        for kind, node in _SETS.items():
            if isinstance(tree, kind):
                left, right = (self.relation(side, named, window) for side in (tree.this, tree.expression))
                check_edges_of_sides(tree, left, right, self.scope.text)
                types = types_of_sides(tree, left, right, self.scope.text)
                mine, theirs = (cast_columns(side.plan, types) for side in (left, right))
                plan = node(mine, theirs, all=not tree.args.get("distinct"))
                made = Derived(plan, left.columns, longest((left.windows, right.windows)), left.led)
                return first_answers(made, tree, self.scope)
        if not isinstance(tree, exp.Select):
            raise not_yet(tree, type(tree).__name__.upper(), self.scope.text)
        return self._select(tree, named, window)

    def _select(self, tree: exp.Select, named: Named, window: object) -> Derived:
        read_from(tree, self.scope.text)
        tree = stream_first(tree, lambda table: is_table(table, named, self.scope), self.scope.text)
        tables = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or [])]
        check_aliases(tables, self.scope)
        bound = [(table.alias_or_name, self._source(table, named, window)) for table in tables]
        tree = named_naturally(tree, [list(source.columns) for _, source in bound], self.scope.text)
        self._distribute(tree, bound)
        refuse_cluster_calls(tree, {name for _, source in bound for name in source.columns}, self.scope)
        tree = self._without_sub_queries(tree, bound, named, window)
        written = tree.args.get("joins") or []
        outer = without_partner([join_kind(join, self.scope) for join in written])
        names = [list(source.columns) for _, source in bound]
        coalesced = coalesced_columns(written, [alias for alias, _ in bound], names)
        tree = with_coalesced(tree, coalesced)
        sources = Sources(bound, outer, self.scope, coalesced)
        where = tree.args.get("where")
        conjuncts = [] if where is None else conjuncts_of(where.this)
        for call in (call for conjunct in conjuncts for call in calls_in(conjunct, self.scope)):
            raise error_at(call, "an aggregate in WHERE", self.scope.text, "conditions on aggregates go into HAVING")
        steps, rest = bind_joins(sources, written, conjuncts, self.scope)
        selected = bind_select(tree, sources, self.scope)  # so that all that is read is known
        rest = [sources.lowered(conjunct) for conjunct in rest]
        plan = self._node(sources, 0, tree)
        for number, step in enumerate(steps, start=1):
            plan = self._join(plan, sources, number, step, tree)
        if rest:
            check_conditions(rest, plan.columns, self.scope)
            plan = Select(plan, expression_sql(all_of(rest)))
        return selected(plan)

    def _distribute(self, tree: exp.Select, bound: list[tuple[str, Source]]) -> None:
        """Let the events of the only stream of a SELECT go where its DISTRIBUTE BY says."""
        clause = tree.args.get("distribute")
        if clause is None:
            return
        source = bound[0][1]
        if aggregates(tree, self.scope) or tree.args.get("distinct") or not isinstance(source, Base) or len(bound) > 1:
            message = "DISTRIBUTE BY says where each event of one stream goes; groups and joins go by their own keys"
            raise error_at(clause, message, self.scope.text, "SELECT ... FROM stream WHERE ... DISTRIBUTE BY sid % 4")
        bound[0] = (bound[0][0], self._distributed(tree, source))

    def _distributed(self, select: exp.Select, source: Base) -> Base:
        """The same events, of which DISTRIBUTE BY of `select` says where they go, if it has one."""
        by = bind_distribution(select, source.columns, source.stream.schema, self.scope)
        if by is not None and source.by is not None:
            way_out = "leave one of the two DISTRIBUTE BY out"
            raise not_yet(select.args["distribute"], "a stream that is distributed twice", self.scope.text, way_out)
        return source if by is None else replace(source, by=by)

    def _without_sub_queries(
        self, tree: exp.Select, bound: list[tuple[str, Source]], named: Named, window: object
    ) -> exp.Select:
        """The query with sub-queries outside FROM as joins, whose sources come among those that are `bound`."""

        def sources_of(inner: exp.Select) -> dict[str, Source]:
            others = named_by_with(inner, named)
            tables = [read_from(inner, self.scope.text), *(join.this for join in inner.args.get("joins") or [])]
            reach = query_window_of(inner) or window
            return {table.alias_or_name: self._source(table, others, reach) for table in tables}

        def columns_of(inner: exp.Select) -> dict[str, list[str]]:
            return {alias: list(source.columns) for alias, source in sources_of(inner).items()}

        def lacks_window(inner: exp.Select) -> bool:
            return any(isinstance(source, Base) and source.unwindowed for source in sources_of(inner).values())

        around = {alias: list(source.columns) for alias, source in bound}
        written = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or [])]
        taken = SubQueries(
            around,
            columns_of,
            self.scope,
            self.sub_queries,
            lambda table: is_table(table, named, self.scope),
            lacks_window,
        )
        tree = taken.taken_out(tree)
        self.sub_queries += len(taken.joins)
        known = dict(zip(written, (source for _, source in bound)))
        tables = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or [])]
        bound[:] = [(table.alias_or_name, known.get(table) or self._source(table, named, window)) for table in tables]
        refuse_clauses_over_changes(tree, self.scope.text)
        refuse_sub_queries(tree, self.scope.text)
        return tree

    def _join(self, left: Node, sources: Sources, number: int, step: JoinStep, tree: exp.Select) -> Node:
        residual = None if not step.residual else expression_sql(all_of(step.residual))
        source = sources.named[number][1]
        if isinstance(source, Static):
            if source.one_row:
                for name in ("n", "v"):
                    sources.lowered(exp.column(name, table=sources.named[number][0]))
            read = tuple(dict(sorted(source.reads.items())).values())
            table = f"t{number}:{source.name}"
            left, on = keys_of_table(left, step, self.scope, read)
            check_conditions(step.residual, (*left.columns, *read), self.scope)
            kind = kind_with_table(step, self.scope)
            joined = TableJoin(left, table, read, on, kind, residual, tuple(step.null_safe), source.made)
            if not source.one_row:
                return joined
            return Single(joined, *(source.reads[source.columns[name]].name for name in ("n", "v")))
        right = self._node(sources, number, tree)
        if SHARD in left.names and SHARD in right.names:  # pairs meet by their keys, wherever both were sent
            right = without_shard(right)
        left, right, on = keys_of_streams(left, right, step, self.scope)
        check_conditions(step.residual, (*left.columns, *right.columns), self.scope)
        between = None if step.apart is None else self._between(left, right, step)
        return Join(left, right, on, step.kind, residual, tuple(step.null_safe), between)

    def _between(self, left: Node, right: Node, step: JoinStep) -> Between:
        """How far apart the instants of a pair may be, and how long rows wait for each other."""
        assert step.apart is not None
        low, high = step.apart.low_us, step.apart.high_us
        waits = Waits(self.streams, 0 if self.slide_us is None else 1)
        refuse_impossible(step, life_of(left), life_of(right), self.scope.text)
        between = waits.between(left, right, step.names, low, high)
        known = (between.left_waits_us, between.right_waits_us)
        read = [leaf.stream for side in (left, right) for leaf in leaves_in(side) if isinstance(leaf, Scan)]
        before_end = any(self.streams[name].made_of is not None for name in read)  # when an answer happens
        self.ranges += [max(wait + 1 + before_end, 0) for wait in known if wait is not None]
        return between

    def _node(self, sources: Sources, number: int, tree: exp.Select) -> Node:
        source = sources.named[number][1]
        if isinstance(source, Static):
            way_out = "put a stream first, and join the table to it; or read the table as a stream, [RANGE UNBOUNDED]"
            raise not_yet(tree.args["from_"].this, "a query that begins with a table", self.scope.text, way_out)
        plan = source.node(self.scope) if isinstance(source, Base) else source.plan
        return plan if source.windows is None else source.windows.stamped(plan, sources.edges.get(number, ()))

    def _source(self, table: exp.Expr, named: Named, window: object) -> Source:
        source = self._renamed(self._unnamed_source(table, named, window), table)
        if table.meta.get(ONE_ROW):
            if isinstance(source, Static):
                return replace(source, one_row=True)
            assert isinstance(source, Derived)
            return replace(source, plan=Single(source.plan, "n", "v"))
        return source

    def _renamed(self, source: Source, place: exp.Expr) -> Source:
        names: Any = renamed(source.columns, place, self.scope.text)  # what a name stands for depends on the source
        return replace(source, columns=names)

    def _unnamed_source(self, table: exp.Expr, named: Named, window: object) -> Source:
        """What `table` names, with the names that its columns have by themselves."""
        if isinstance(table.this, StreamFunction):
            return bind_function(table.this, self.relation(table.this.args["query"], named, window), self.scope)
        own = window_of(table) if isinstance(table, exp.Table | exp.Subquery) else None
        holder = table if isinstance(table, exp.Subquery) else named.get(table.name.lower())
        if holder is not None:
            body, others = holder.this, {name: query for name, query in named.items() if query is not holder}
            if own is None and reads_tables(body, others, self.scope):
                made = table_of(self._over_tables().relation(body, others, FOR_EVER), body, self.scope)
                return made if holder is table else self._renamed(made, holder)
            source: Source | None = self._rows(body, others, own, window) if is_plain(body, self.scope) else None
            if source is None and own is not None:
                raise window_over_sub_query(table, self.scope.text)
            source = self.relation(body, others, window) if source is None else source
            if holder is table:
                return source
            return self._renamed(source, holder)
        if not isinstance(table, exp.Table):
            raise not_yet(table, "this in FROM", self.scope.text, "FROM s [RANGE 1 HOUR SLIDE 1 MINUTE]")
        if is_table(table, named, self.scope):
            schema = self.scope.catalog.tables[table.name]
            return Static(table.name, schema, {name: name for name in schema.names})
        bound = bind_stream(table, list(named), self.scope)
        return self._base(Base(bound.stream, bound.columns, None, None), table, own or window)

    def _over_tables(self) -> _Binder:
        """Binds queries over tables alone, whose rows are there for ever."""
        return _Binder(over_tables(self.scope))

    def _rows(self, body: exp.Expr, named: Named, own: object, window: object) -> Base | None:
        """A sub-query that only computes columns and filters rows: the stream below it, seen so.

        None where it is over answers, or names an edge of its windows.
        """
        select = body.unnest()
        assert isinstance(select, exp.Select)
        refuse_clauses_over_changes(select, self.scope.text)
        table = select.args["from_"].this
        if own is not None and window_of(table) is not None:
            raise window_over_sub_query(table, self.scope.text)
        source = self._source(table, named, own or window)
        if not isinstance(source, Base) or (own is None and names_edges(select, source)):
            return None
        check_qualifiers(select, source.columns, self.scope.text)
        source = self._distributed(select, source)
        rows = filtered(select, BoundRows(source.stream, dict(source.columns), source.where, None), self.scope)
        rows = projected(select, rows, self.scope)
        return replace(source, columns=rows.columns, where=rows.where)

    def _base(self, base: Base, table: exp.Table, written: object) -> Base:
        self.streams[base.stream.name] = base.stream
        if written is None:
            self.unwindowed.setdefault(base.stream.name, table)
            self.ranges.append(None)
            return replace(base, unwindowed=True)
        if not isinstance(written, WrittenWindow) or written.emit_every_us is not None:
            raise window_over_changes(written, table, self.scope.text)
        self.ranges.append(written.range_us)
        told = self.slide_us is not None and self.scope.emit == SNAPSHOT
        within = bool(base.stream.tells_window)
        windows = Windows(self.slide_us or 0, self.offset_us, written.range_us, within) if told else None
        return replace(base, range_us=written.range_us, windows=windows)
