"""Expressions beside aggregates, over the columns that slide emits: each aggregate and each key becomes its column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa
from sqlglot import exp

from windrow.language import as_written, error_at, expression_sql, parse_expression
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.calls import RECURRING, calls_in, is_call, unwrapped
from windrow.plan.bind.clusters import ClusterScope
from windrow.plan.bind.groupings import told_apart, way_out
from windrow.plan.bind.level_filters import without_level
from windrow.plan.bind.names import has_variables, placed_as, substituted, with_parts
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.resolve_calls import resolve
from windrow.plan.bind.told_columns import is_told
from windrow.plan.bind.typing import checked_type
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.groupings import GroupingSets
from windrow.plan.nodes.result_columns import named_columns
from windrow.plan.nodes.spaces import Key
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.row_levels import NestedRows


@dataclass(frozen=True, slots=True)
class Lift:
    """Rewrites the expressions of one SELECT, and gathers the aggregates that they ask for."""

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
        if isinstance(node, exp.Column) and is_told(node, self._told(node), self.source.columns):
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
        places = [self._key(part.unnest()) for part in node.expressions]
        sets = None if self.sets is None else self.sets.sets
        window = self.source.window
        grouped = len(self.keys) - (0 if window is None else len(window.partition))  # every grouping has the others
        return told_apart(node, places, grouped, sets, exp.column(f"key_{len(self.keys)}"), self.scope)

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

    def _told(self, column: exp.Column) -> set[str]:
        """The columns besides keys and aggregates that expressions may name; `a.level` may be the stream's."""
        window = self.source.window
        told = () if window is None else named_columns(window, self.scope.emit, self.clusters is not None)
        return set(told) - ({name.lower() for name in self.source.columns} if column.table else set())

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
