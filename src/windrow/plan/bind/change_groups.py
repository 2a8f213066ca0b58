"""The select list of a query over changes, with GROUP BY, HAVING and DISTINCT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from windrow.language import as_written, error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in, is_call
from windrow.plan.bind.change_clusters import ChangeClusters, ClusterResult, bind_change_clusters
from windrow.plan.bind.change_sources import Derived, plan_column
from windrow.plan.bind.check_from import above
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.first_rows import Ordering
from windrow.plan.bind.groupings import ALWAYS, OF_WINDOW, Sets, grouped_by, in_all_groupings, told_apart, way_out
from windrow.plan.bind.lower_columns import Sources
from windrow.plan.bind.names import check_new, has_variables, is_star, output_name, placed_as, unaliased, with_parts
from windrow.plan.bind.order import selected
from windrow.plan.bind.over import Overs, resolved
from windrow.plan.bind.over_changes import aggregates
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.resolve_calls import resolve
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.nodes.aggregates import ROWS, Aggregate, FilledPartial
from windrow.plan.nodes.changes import ClusterGroup, Computed, Distinct, Group, Measure, Node, Project, Select
from windrow.plan.nodes.clusters import cluster_answer
from windrow.plan.nodes.each_grouping import NUMBER, EachGrouping

Build = Callable[[Node], Derived]


def bind_select(tree: exp.Select, sources: Sources, scope: Scope) -> Build:
    """What makes answers of the rows of FROM and WHERE; all that it reads of them is asked for at once."""
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    clusters = bind_change_clusters(tree, sources, scope)
    taken_out = _as_it_is if clusters is None else clusters.taken_out

    def meant(nodes: list[exp.Expr]) -> list[exp.Expr]:
        found = [_key(node, tree, aliases, sources, scope) for node in nodes]
        return [node for node in found if not sources.is_led(node)]  # all rows of an answer are of one window

    given, written = grouped_by(tree, scope)
    if written is not None and clusters is not None:
        raise not_yet(tree.args["cluster"], "CLUSTER BY with several groupings", scope.text, tree=tree)
    by = meant(given)
    keys = [sources.lowered(node) for node in by]
    sets = None if written is None else [[sources.lowered(node) for node in meant(chosen)] for chosen in written]
    named = 0 if written is None else _named(tree, meant, sources, scope)
    sources.group_by(by)
    grouped = aggregates(tree, scope)
    outputs: dict[str, exp.Expr] = {}
    led: dict[int, str] = {}
    overs = Overs(scope)
    for place, node in enumerate(tree.selects):
        parts = sources.expanded(node) if is_star(node) else {output_name(node): node.unalias()}
        for name, part in parts.items():
            check_new(name, (*outputs, *led.values()), node, scope.text)
            part = taken_out(overs.taken_out(part))
            if name.lower() in EDGES and sources.is_led(part) and part.name.lower() == name.lower():
                led[place] = name.lower()
            else:
                outputs[name] = sources.lowered(part, of_groups=grouped)
    having = tree.args.get("having")
    condition = None if having is None else taken_out(unaliased(having.this, aliases, sources.visible()))
    kept = None if condition is None else sources.lowered(condition, of_groups=True)
    distinct = bool(tree.args.get("distinct"))
    qualify = tree.args.get("qualify")
    chosen = None if qualify is None else overs.taken_out(unaliased(qualify.this, aliases, sources.visible()))
    chosen = None if chosen is None else taken_out(chosen)
    if qualify is not None and not overs.rankings:
        raise error_at(qualify.this, "QUALIFY needs a ranking", scope.text, "ROW_NUMBER() OVER (...) <= 3, or WHERE")
    ordering = Ordering.of(tree, aliases, scope)
    after = {**overs.parts, **({_CHOSEN: chosen} if chosen is not None else {}), **ordering.parts}
    hidden = {name: sources.lowered(taken_out(part), of_groups=grouped) for name, part in after.items()}
    constants = bool(keys) or kept is not None or any(_has_argument(node, scope) for node in outputs.values())
    if not grouped or constants:
        sources.read_something()  # a constant is computed of each row, and rows without columns are no rows

    higher = above(scope)

    def build(plan: Node) -> Derived:
        columns = {**outputs, **hidden}
        if grouped:
            plan, columns = _grouped(plan, keys, sets, named, columns, kept, sources, higher, clusters)
        plan = overs.added_to(plan, {name: columns[name] for name in overs.parts}, higher)
        if chosen is not None:
            plan = Select(plan, checked_condition(resolved(columns[_CHOSEN]), plan.schema, higher))
        shown = {name: resolved(columns[name]) for name in (*outputs, *ordering.parts)}
        finished = ordering.first(shown, lambda chosen: _finished(plan, chosen, distinct, higher), distinct, higher)
        return replace(finished, windows=sources.windows, led=led)

    return build


_CHOSEN = "\0qualify"
"""The condition of QUALIFY among the columns that nobody sees."""


def _named(tree: exp.Select, meant: Callable[[list[exp.Expr]], list[exp.Expr]], sources: Sources, scope: Scope) -> int:
    """How many keys GROUP BY names; the others are in every grouping, so that none of it may be one of the window."""
    group = tree.args["group"]
    given, _ = grouped_by(tree, scope)
    always = group.args.get(ALWAYS) or []
    texts = {expression_sql(sources.lowered(node)) for node in meant(given[: len(given) - len(always)])}
    for key in group.args.get(OF_WINDOW) or []:
        if texts & {expression_sql(sources.lowered(node)) for node in meant([key])}:
            raise in_all_groupings(group, "window", key.name or expression_sql(key), scope)
    return len(texts)


def _key(node: exp.Expr, tree: exp.Select, aliases: dict[str, exp.Expr], sources: Sources, scope: Scope) -> exp.Expr:
    """What is grouped by, be it written as a place or as an alias of the select list."""
    if isinstance(node, exp.Literal) and not node.is_string:
        node = selected(tree, node, "group", scope.text)
    else:
        node = unaliased(node, aliases, sources.visible()).unnest()
    for call in calls_in(node, scope):
        raise error_at(call, "an aggregate in GROUP BY", scope.text, "conditions on aggregates go into HAVING")
    return node


def _has_argument(node: exp.Expr, scope: Scope) -> bool:
    """Whether an aggregate in `node` is of something, and not of rows as COUNT(*) is."""
    return any(not isinstance(call.unalias().this, exp.Star) for call in calls_in(node, scope))


def _grouped(
    plan: Node,
    keys: list[exp.Expr],
    sets: Sets | None,
    named: int,
    outputs: dict[str, exp.Expr],
    kept: exp.Expr | None,
    sources: Sources,
    scope: Scope,
    clusters: ChangeClusters | None,
) -> tuple[Node, dict[str, exp.Expr]]:
    """The groups of `plan`, and the outputs over their columns."""
    known = {expression_sql(key): key for key in keys}
    computed = {text: f"k{i}" for i, (text, key) in enumerate(known.items()) if not isinstance(key, exp.Column)}
    if computed:
        same = [Computed(column.name, expression_sql(plan_column(column.name)), column.type) for column in plan.columns]
        own = [Computed(name, text, checked_type(known[text], plan.schema, scope)) for text, name in computed.items()]
        plan = Project(plan, (*same, *own))
    places = {text: computed.get(text) or key.name for text, key in known.items()}
    for text, name in places.items():
        if pa.types.is_map(plan.schema.field(name).type):
            raise error_at(known[text], "a map cannot be grouped by", scope.text)
    kinds = tuple({type(key) for key in known.values()})
    by = tuple(places.values())
    each = None
    if sets is not None:
        order = list(known)
        chosen = tuple(tuple(sorted({order.index(expression_sql(key)) for key in one})) for one in sets)
        plan = each = EachGrouping(plan, by, chosen)
        by = each.grouped
        places = dict(zip(order, by))
    lift = _Lift(plan, places, {edge.name for edge in sources.edges_above}, scope, kinds, clusters, each, named)
    lifted = {name: lift(node) for name, node in outputs.items()}
    condition = None if kept is None else lift(kept)
    if clusters is not None:
        lift.measures.setdefault(cluster_answer("CID"), f"m{len(lift.measures)}")  # tells clusters apart
    if not by and not lift.measures:
        lift.measures[ROWS] = "m0"  # a group without columns would be no row
    measures = tuple(Measure(name, aggregate) for aggregate, name in lift.measures.items())
    groups: Node = Group(plan, by, measures)
    if clusters is not None:
        groups = ClusterGroup(plan, by, measures, clusters=clusters.partial(plan))
    if sources.windows is not None:
        groups = sources.windows.stamped(groups, sources.edges_above)
    if condition is not None:
        groups = Select(groups, checked_condition(condition, groups.schema, scope))
    return groups, lifted


@dataclass(slots=True)
class _Lift:
    """Rewrites expressions over the columns of a group: each aggregate and each key becomes its column."""

    plan: Node
    places: dict[str, str]
    edges: set[str]
    scope: Scope
    kinds: tuple[type[exp.Expr], ...]
    clusters: ChangeClusters | None = None
    each: EachGrouping | None = None
    named: int = 0
    measures: dict[Aggregate, str] = field(default_factory=dict)

    def __call__(self, node: exp.Expr) -> exp.Expr:
        return self._lifted(node.copy())

    def _lifted(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, self.kinds) and not has_variables(node) and (text := expression_sql(node)) in self.places:
            return placed_as(plan_column(self.places[text]), node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            found = [list(self.places).index(text) if text in self.places else None for text in _texts(node)]
            sets = None if self.each is None else self.each.sets
            return placed_as(told_apart(node, found, self.named, sets, plan_column(NUMBER), self.scope), node)
        if isinstance(node, ClusterResult) and self.clusters is not None:
            return self._measured(self.clusters.asked[node.this], node)
        if is_call(node, self.scope):
            aggregate = resolve(node, self.plan.schema, self.scope)
            if isinstance(aggregate.partial, FilledPartial):
                message = (
                    "a filled series goes on while nothing comes, so it is told at the slides of one stream's window"
                )
                hint = "FROM stream [RANGE 10 SECONDS SLIDE 1 SECOND], without joins and DISTINCT"
                raise error_at(node, message, self.scope.text, hint)
            return self._measured(aggregate if self.clusters is None else self.clusters.drawn(aggregate), node)
        if isinstance(node, exp.Column) and node.name in self.edges:
            return node
        if isinstance(node, exp.Column):
            written = (as_written(node, self.scope.text) or node.name).split(".")[-1].strip("`")
            message = f"{written!r} is neither grouped by nor aggregated"
            raise error_at(node, message, self.scope.text, way_out(written))
        return with_parts(node, self._lifted)

    def _measured(self, aggregate: Aggregate, node: exp.Expr) -> exp.Expr:
        return placed_as(plan_column(self.measures.setdefault(aggregate, f"m{len(self.measures)}")), node)


def _texts(node: exp.Expr) -> list[str]:
    return [expression_sql(part.unnest()) for part in node.expressions]


def _as_it_is(node: exp.Expr) -> exp.Expr:
    return node


def _finished(plan: Node, outputs: dict[str, exp.Expr], distinct: bool, scope: Scope) -> Derived:
    """The select list as columns of a plan."""
    columns = []
    for name, node in outputs.items():
        type = checked_type(node, plan.schema, scope)
        if distinct and (pa.types.is_map(type) or pa.types.is_null(type)):
            raise error_at(node, "DISTINCT cannot tell such values apart", scope.text)
        columns.append(Computed(name, expression_sql(node), type))
    made: Node = Project(plan, tuple(columns))
    made = Distinct(made) if distinct else made
    return Derived(made, {name: name for name in outputs})
