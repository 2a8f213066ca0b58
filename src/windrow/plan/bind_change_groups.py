"""The select list of a query over changes, with GROUP BY, HAVING and DISTINCT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.aggregates import Aggregate, FilledPartial
from windrow.plan.bound import Scope
from windrow.plan.calls import calls_in, is_call, resolve
from windrow.plan.change_sources import Derived, Sources, is_star, plan_column
from windrow.plan.changes import Computed, Distinct, Group, Measure, Node, Project, Select
from windrow.plan.check_from import above
from windrow.plan.names import output_name, placed_as, unaliased, with_parts
from windrow.plan.order import selected
from windrow.plan.refuse import refuse_groupings
from windrow.plan.typing import checked_condition, checked_type

Build = Callable[[Node], Derived]


def bind_select(tree: exp.Select, sources: Sources, scope: Scope) -> Build:
    """What makes answers of the rows of FROM and WHERE; all that it reads of them is asked for at once."""
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    group = tree.args.get("group")
    by = []
    refuse_groupings(tree, scope.text)
    for node in group.expressions if group is not None else []:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = selected(tree, node, "group", scope.text)
        else:
            node = unaliased(node, aliases, sources.visible()).unnest()
        for call in calls_in(node, scope):
            raise error_at(call, "an aggregate in GROUP BY", scope.text, "conditions on aggregates go into HAVING")
        by.append(node)
    keys = [sources.lowered(node) for node in by]
    sources.group_by(by)
    outputs: dict[str, exp.Expr] = {}
    for node in tree.selects:
        parts = sources.expanded(node) if is_star(node) else {output_name(node): node.unalias()}
        for name, part in parts.items():
            if name.lower() in {known.lower() for known in outputs}:
                way_out = "give one of them another name with AS"
                raise error_at(node, f"two columns are named {name!r}", scope.text, way_out)
            outputs[name] = sources.lowered(part)
    having = tree.args.get("having")
    kept = None if having is None else sources.lowered(unaliased(having.this, aliases, sources.visible()))
    grouped = bool(keys) or kept is not None or any(calls_in(node, scope) for node in outputs.values())
    distinct = bool(tree.args.get("distinct"))
    if not grouped:
        sources.read_something()

    higher = above(scope)

    def build(plan: Node) -> Derived:
        if grouped:
            return _finished(*_grouped(plan, keys, outputs, kept, higher), distinct, higher)
        return _finished(plan, outputs, distinct, higher)

    return build


def _grouped(
    plan: Node, keys: list[exp.Expr], outputs: dict[str, exp.Expr], kept: exp.Expr | None, scope: Scope
) -> tuple[Node, dict[str, exp.Expr]]:
    """The groups of `plan`, and the outputs over their columns."""
    known = {expression_sql(key): key for key in keys}
    computed = {text: f"k{i}" for i, (text, key) in enumerate(known.items()) if not isinstance(key, exp.Column)}
    if computed:
        same = [Computed(column.name, expression_sql(plan_column(column.name)), column.type) for column in plan.columns]
        own = [Computed(name, text, checked_type(known[text], plan.schema, scope)) for text, name in computed.items()]
        plan = Project(plan, (*same, *own))
    places = {text: computed.get(text) or key.name for text, key in known.items()}
    lift = _Lift(plan, places, scope)
    lifted = {name: lift(node) for name, node in outputs.items()}
    condition = None if kept is None else lift(kept)
    measures = tuple(Measure(name, aggregate) for aggregate, name in lift.measures.items())
    groups: Node = Group(plan, tuple(places.values()), measures)
    if condition is not None:
        groups = Select(groups, checked_condition(condition, groups.schema, scope))
    return groups, lifted


@dataclass(slots=True)
class _Lift:
    """Rewrites expressions over the columns of a group: each aggregate and each key becomes its column."""

    plan: Node
    places: dict[str, str]
    scope: Scope
    measures: dict[Aggregate, str] = field(default_factory=dict)

    def __call__(self, node: exp.Expr) -> exp.Expr:
        return self._lifted(node.copy())

    def _lifted(self, node: exp.Expr) -> exp.Expr:
        text = expression_sql(node)
        if text in self.places:
            return placed_as(plan_column(self.places[text]), node)
        if is_call(node, self.scope):
            aggregate = resolve(node, self.plan.schema, self.scope)
            if isinstance(aggregate.partial, FilledPartial):
                message = (
                    "a filled series goes on while nothing comes, so it is told at the slides of one stream's window"
                )
                way_out = "FROM stream [RANGE 10 SECONDS SLIDE 1 SECOND], without joins and DISTINCT"
                raise error_at(node, message, self.scope.text, way_out)
            return placed_as(plan_column(self.measures.setdefault(aggregate, f"m{len(self.measures)}")), node)
        if isinstance(node, exp.Column):
            raise error_at(node, "this is neither grouped by nor aggregated", self.scope.text, "add it to GROUP BY")
        return with_parts(node, self._lifted)


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
