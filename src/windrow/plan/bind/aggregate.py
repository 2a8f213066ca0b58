"""SELECT with aggregates: what is grouped by, what is folded, and what is made of both afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from windrow.language import as_written, error_at, expression_sql, parse_expression
from windrow.plan.bind.bound import BoundAnswers, BoundQuery, BoundRows, Scope
from windrow.plan.bind.calls import RECURRING, calls_in, is_call, resolve, unwrapped
from windrow.plan.bind.clusters import ClusterScope, bind_clusters
from windrow.plan.bind.from_clause import needs_window
from windrow.plan.bind.groupings import grouped_by, way_out
from windrow.plan.bind.level_filters import without_level
from windrow.plan.bind.names import (
    check_new,
    has_variables,
    is_star,
    output_name,
    placed_as,
    substituted,
    unaliased,
    with_parts,
)
from windrow.plan.bind.order import Term, bind_limit, bind_order, check_order, selected
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.clusters import cluster_answer
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.groupings import GroupingSets
from windrow.plan.nodes.query_plan import Output
from windrow.plan.nodes.result_columns import emitted_schema, item_schema, leading_columns, named_columns
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.session_window import SessionWindow


def bind_aggregate(tree: exp.Select, source: BoundRows, scope: Scope) -> BoundAnswers:
    """The windowed aggregation that `tree` makes of the rows of `source`."""
    if source.window is None:
        raise needs_window(source.stream.name, tree.args["from_"].this, scope.text)
    aliases = {node.alias.lower(): node.this for node in tree.selects if isinstance(node, exp.Alias)}
    keys, sets = _keys(tree, source, aliases, scope)
    _check_sets(tree, source, sets, scope)
    keys |= partition_keys(source, scope)
    clusters = bind_clusters(tree, source, scope)
    leading = leading_columns(source.window, scope.emit, clusters is not None)
    lift = _Lift(source, scope, keys, {}, leading, clusters, sets)
    outputs = _outputs(tree, lift, scope)
    having = tree.args.get("having")
    kept = None if having is None else lift(unaliased(having.this, aliases, source.columns))
    terms = bind_order(tree, aliases, lambda node: lift(unaliased(node, aliases, source.columns)), scope.text)
    if clusters is not None and scope.emit != SNAPSHOT:
        lift.aggregates.setdefault(cluster_answer("CID"), len(lift.aggregates))  # tells which cluster has changed
    query = BoundQuery(
        source.stream,
        source.window,
        None if source.where is None else expression_sql(source.where),
        tuple(lift.keys.values()) if sets is None else (*lift.keys.values(), sets),
        tuple(lift.aggregates),
        tuple(Output(name, expression_sql(node)) for name, node in outputs.items()),
        None if kept is None else expression_sql(kept),
        tuple(ordering for ordering, _ in terms),
        bind_limit(tree, scope.text),
        None if clusters is None else clusters.partial(),
        scope.emit,
        source.rows,
    )
    check_outputs(query, outputs, kept, terms, scope)
    return BoundAnswers(query, outputs)


def check_outputs(
    query: BoundQuery, outputs: dict[str, exp.Expr], having: exp.Expr | None, terms: list[Term], scope: Scope
) -> None:
    """Every output has a type, HAVING is a condition, and what ORDER BY names has an order."""
    schema = emitted_schema(query.window, query.keys, query.aggregates)
    if query.items:
        schema = item_schema(schema, query.items)
    for node in outputs.values():
        checked_type(node, schema, scope)
    if having is not None:
        checked_condition(having, schema, scope)
    check_order(terms, schema, scope)


@dataclass(frozen=True, slots=True)
class _Lift:
    """Rewrites expressions over the columns that slide emits: each aggregate and each key becomes its column."""

    source: BoundRows
    scope: Scope
    keys: dict[str, Key]
    aggregates: dict[Aggregate, int]
    leading: tuple[str, ...]
    clusters: ClusterScope | None = None
    sets: GroupingSets | None = None

    def __call__(self, node: exp.Expr) -> exp.Expr:
        return self._lifted(node.copy())

    def _lifted(self, node: exp.Expr) -> exp.Expr:
        of_cluster = None if self.clusters is None else self.clusters.asked(node)
        if of_cluster is not None:
            return self._column_of(of_cluster, node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return placed_as(self._grouping(node), node)
        if is_call(node, self.scope):
            asked, level = without_level(node, self.source, self.scope)
            meant = substituted(asked, self.source.columns, self.scope.text)
            aggregate = self._growing(self._weighed(resolve(meant, self.source.stream.schema, self.scope), node))
            if level is not None:
                aggregate = self._of_one_level(aggregate, level, node)
            return self._column_of(aggregate if self.clusters is None else self.clusters.drawn(aggregate), node)
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in self._told():
            return placed_as(exp.column(node.name.lower()), node)
        key = self._key(node)
        if key is not None:
            return placed_as(exp.column(f"key_{key}"), node)
        if isinstance(node, exp.Column):
            self._check_around(node)
            message = f"{node.name!r} is neither grouped by nor aggregated"
            raise error_at(node, message, self.scope.text, way_out(node.name))
        return with_parts(node, self._lifted)

    def _grouping(self, node: exp.Grouping | exp.GroupingId) -> exp.Expr:
        """Which of its arguments a group is not by: a bit for each, the first the highest, 1 where it is not."""
        name = "GROUPING" if isinstance(node, exp.Grouping) else "GROUPING_ID"
        if self.sets is None:
            message = f"{name} tells groupings apart, and this GROUP BY has one"
            raise error_at(node, message, self.scope.text, "GROUP BY ROLLUP (a, b)")
        given = [self._key(part.unnest()) for part in node.expressions]
        if None in given or (name == "GROUPING" and len(given) != 1):
            message = f"{name} takes {'one of the' if name == 'GROUPING' else 'some'} expressions of GROUP BY"
            raise error_at(node, message, self.scope.text)
        places = given or list(range(len(self.keys)))
        bits = [
            sum((place not in chosen) << i for i, place in enumerate(reversed(places))) for chosen in self.sets.sets
        ]
        cases = " ".join(f"WHEN {number} THEN {bit}" for number, bit in enumerate(bits))
        type = "TINYINT" if name == "GROUPING" else "BIGINT"
        return parse_expression(f"CAST(CASE key_{len(self.keys)} {cases} END AS {type})")

    def _growing(self, aggregate: Aggregate) -> Aggregate:
        """A user's aggregate of what only grows, or of clusters: nothing is taken out of it, so its states are kept."""
        window = self.source.window
        grows = window is not None and window.grows
        if aggregate.partial.kind == "user_rows" and (grows or self.clusters is not None):
            return replace(aggregate, partial=replace(aggregate.partial, kind="user"))
        return aggregate

    def _of_one_level(self, aggregate: Aggregate, level: int, node: exp.Expr) -> Aggregate:
        if self.clusters is not None or aggregate.answer == RECURRING:
            what = "CLUSTER BY" if self.clusters is not None else RECURRING
            raise not_yet(node, f"FILTER by level with {what}", self.scope.text)
        return replace(aggregate, of_level=level)

    def _of_levels(self, aggregate: Aggregate, node: exp.Expr) -> Aggregate:
        """An aggregate that looks at each level by itself."""
        window = self.source.window
        if not isinstance(window, NestedWindow | NestedRows):
            message = "RECURRING looks at the levels of a nested window, and this window has none"
            hint = "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
            raise error_at(node, message, self.scope.text, hint)
        if window.grows or window.every_us is not None:
            what = "levels without bound" if window.grows else "EMIT EVERY"
            raise not_yet(node, f"RECURRING with {what}", self.scope.text)
        if not window.divide:
            message = "RECURRING needs slides of which each is a multiple of the next finer one"
            raise error_at(node, message, self.scope.text)
        if self.clusters is not None:
            raise not_yet(node, "RECURRING with CLUSTER BY", self.scope.text)
        item = unwrapped(node).expressions[0]
        if self._key(item) is None:
            written = as_written(item, self.scope.text) or expression_sql(item)
            message = f"RECURRING({written}) asks of each {written} whether it comes again, and that is not grouped by"
            raise error_at(node, message, self.scope.text, f"GROUP BY {written}")
        return aggregate

    def _weighed(self, aggregate: Aggregate, node: exp.Expr) -> Aggregate:
        """With AGING, sums and counts of whatever type are weighted, and come out as doubles."""
        if aggregate.answer == RECURRING:
            return self._of_levels(aggregate, node)
        if not (isinstance(self.source.window, NestedWindow | NestedRows) and self.source.window.aging):
            return aggregate
        if self.clusters is not None:
            raise not_yet(node, "AGING with CLUSTER BY", self.scope.text)
        if aggregate.answer not in ("SUM", "COUNT", "AVG"):
            message = f"AGING weighs SUM, COUNT and AVG, and this is {aggregate.answer}"
            raise error_at(node, message, self.scope.text, "ask for it in a query without AGING")
        return replace(aggregate, type=pa.float64())

    def _is_cluster(self, column: exp.Column) -> bool:
        return self.clusters is not None and self.clusters.is_alias(column)

    def _told(self) -> tuple[str, ...]:
        """The columns besides keys and aggregates that expressions may name."""
        window = self.source.window
        return () if window is None else named_columns(window, self.scope.emit, self.clusters is not None)

    def _column_of(self, aggregate: Aggregate, node: exp.Expr) -> exp.Expr:
        return placed_as(exp.column(f"agg_{self.aggregates.setdefault(aggregate, len(self.aggregates))}"), node)

    def _check_around(self, column: exp.Column) -> None:
        """An unknown name is said first: of the column, and of the function that it stands in."""
        inside: exp.Expr = column
        while isinstance(inside.parent, exp.Func) and not is_call(inside.parent, self.scope):
            inside = inside.parent
        meant = substituted(inside, self.source.columns, self.scope.text)
        if not calls_in(meant, self.scope):
            checked_type(meant, self.source.stream.schema, self.scope)

    def _kinds(self) -> tuple[type[exp.Expr], ...]:
        """What a key is, so that not every part of a long expression is written out to be compared with the keys."""
        return _kinds_of(tuple(self.keys))

    def _key(self, node: exp.Expr) -> int | None:
        """Which of the keys `node` is."""
        if not isinstance(node, (exp.Column, *self._kinds())) or has_variables(node):
            return None
        columns = list(node.find_all(exp.Column))
        if not columns or calls_in(node, self.scope):
            return None
        if any(column.name.lower() in self.leading or self._is_cluster(column) for column in columns):
            return None
        text = expression_sql(substituted(node, self.source.columns, self.scope.text))
        return list(self.keys).index(text) if text in self.keys else None


@lru_cache(maxsize=256)
def _kinds_of(keys: tuple[str, ...]) -> tuple[type[exp.Expr], ...]:
    return tuple({type(parse_expression(key).unnest()) for key in keys})


def _outputs(tree: exp.Select, lift: _Lift, scope: Scope) -> dict[str, exp.Expr]:
    outputs: dict[str, exp.Expr] = {}
    for node in tree.selects:
        if is_star(node):
            raise error_at(node, "* beside aggregates", scope.text, "name the columns")
        name = output_name(node)
        own = name.lower() in {column.lower() for column in lift.source.columns}
        if name.lower() in lift.leading and not own and node.unalias().name == name:
            continue  # they lead every result anyway
        check_new(name, (*outputs, *lift.leading), node, scope.text)
        outputs[name] = lift(node.unalias())
    return outputs


def partition_keys(source: BoundRows, scope: Scope) -> dict[str, Key]:
    """What the window partitions by: a window holds one key, so that to group by it changes no answer."""
    texts = () if source.window is None else source.window.partition
    parsed = {text: parse_expression(text) for text in texts}
    return {text: Key(text, checked_type(node, source.stream.schema, scope)) for text, node in parsed.items()}


def _keys(
    tree: exp.Select, source: BoundRows, aliases: dict[str, exp.Expr], scope: Scope
) -> tuple[dict[str, Key], GroupingSets | None]:
    """The grouping expressions, by their canonical text, and where there are several groupings, which."""
    keys: dict[str, Key] = {}
    own = {column.lower() for column in source.columns}
    told = set() if source.window is None else set(named_columns(source.window, scope.emit, False)) - own

    def place(node: exp.Expr) -> list[int]:
        if isinstance(node, exp.Literal) and not node.is_string:
            node = selected(tree, node, "group", scope.text)
        else:
            node = unaliased(node, aliases, source.columns).unnest()
        if isinstance(node, exp.Column) and node.name.lower() in told:
            return []  # all rows of an answer are of one window
        for call in calls_in(node, scope):
            raise error_at(call, "an aggregate in GROUP BY", scope.text, "conditions on aggregates go into HAVING")
        meant = substituted(node, source.columns, scope.text)
        type = checked_type(meant, source.stream.schema, scope)
        if pa.types.is_map(type):
            raise error_at(node, "a map cannot be grouped by", scope.text)
        text = expression_sql(meant)
        keys.setdefault(text, Key(text, type))
        return [list(keys).index(text)]

    given, sets = grouped_by(tree, scope)
    for node in given:
        place(node)
    if sets is None:
        return keys, None
    places = [sorted({found for node in chosen for found in place(node)}) for chosen in sets]
    return keys, GroupingSets.of(map(tuple, places))


def _check_sets(tree: exp.Select, source: BoundRows, sets: GroupingSets | None, scope: Scope) -> None:
    """Refuse several groupings where rows are numbered by who gets them, or are in clusters."""
    if sets is None:
        return
    if tree.args.get("cluster"):
        raise not_yet(tree.args["cluster"], "CLUSTER BY with several groupings", scope.text, tree=tree)
    window = source.window
    if isinstance(window, PredicateWindow | SessionWindow) or (window is not None and window.partition):
        hint = "a query for each grouping, or [RANGE 1 HOUR SLIDE 1 MINUTE]"
        what = "several groupings over sessions and windows by key or condition"
        raise not_yet(tree.args["group"], what, scope.text, hint, tree=tree)
