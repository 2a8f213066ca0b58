"""OVER partitions of rows, after groups and before the select list: rankings, and what else rows have beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import plan_column
from windrow.plan.bind.names import placed_as, with_parts
from windrow.plan.bind.over_calls import KNOWN, Called, call_of, frame_of_rows, name_of_call, refuse_arguments
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_type
from windrow.plan.nodes.changes import Computed, Node, Project, Ranked, SortKey
from windrow.plan.nodes.over_calls import Frame

Function = Literal["row_number", "rank", "dense_rank"]


class OverResult(exp.Expression, exp.Condition):
    """Stands for what OVER has made, until there is a column that holds it; `this` is its number."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


@dataclass(frozen=True, slots=True)
class _Ranking:
    """A ranking as it is written: names of parts, which are expressions over the rows below."""

    function: Function
    partition: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """What is drawn from the rows beside a row, with names of parts as in a ranking; `over` is how it is written."""

    called: Called = field(compare=False)
    text: str
    arguments: tuple[str, ...]
    partition: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]
    frame: Frame
    over: exp.Window = field(compare=False)


@dataclass(slots=True)
class Overs:
    """What OVER makes in one SELECT. `parts` are what it is of and by, to be bound as the select list is.

    Other functions than rankings need the `whole` answer of a window.
    """

    scope: Scope
    whole: bool = False
    parts: dict[str, exp.Expr] = field(default_factory=dict)
    rankings: list[_Ranking | WrittenCall] = field(default_factory=list)

    def taken_out(self, node: exp.Expr) -> exp.Expr:
        """The expression with an OverResult in the place of each OVER."""
        if next(node.find_all(exp.Window), None) is None:
            return node
        return self._taken_out(node.copy())

    def _taken_out(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Window):
            return with_parts(node, self._taken_out)
        ranking = self._ranking(node)
        if ranking not in self.rankings:
            self.rankings.append(ranking)
        return placed_as(OverResult(this=self.rankings.index(ranking)), node)

    def _ranking(self, window: exp.Window) -> _Ranking | WrittenCall:
        text = self.scope.text
        function = _function(window.this)
        if function is None and self.whole:
            return self._called(window)
        if function is None:
            what = f"OVER of {name_of_call(window)} in such a query"
            hint = "of the rows of one stream: a window with SLIDE, [RANGE 10 MINUTES SLIDE 1 MINUTE], or, without a"
            hint += " window, SELECT SUM(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS s FROM stream;"
            hint += " CREATE STREAM name AS ... of a join for others to read"
            raise not_yet(window, what, text, hint)
        refuse_arguments(window, window.this, function, self.scope)
        order = window.args.get("order")
        if order is None:
            raise error_at(window, f"{function.upper()} needs an order", text, "OVER (PARTITION BY k ORDER BY x DESC)")
        if window.args.get("spec") is not None:
            raise error_at(window, f"{function.upper()} has no frame", text, "leave ROWS or RANGE out")
        partition = tuple(self._part(node) for node in window.args.get("partition_by") or [])
        return _Ranking(function, partition, tuple(self.order_terms(order)))

    def _called(self, window: exp.Window) -> WrittenCall:
        called = call_of(window, self.scope)
        if called is None:
            what = f"OVER of {name_of_call(window)} within a window"
            hint = f"{', '.join(map(str.upper, KNOWN))}; or GROUP BY in a sub-query that is joined with the rows"
            raise not_yet(window, what, self.scope.text, hint)
        frame = frame_of_rows(window, called.function, self.scope)
        order = window.args.get("order")
        terms = () if order is None else tuple(self.order_terms(order))
        partition = tuple(self._part(node) for node in window.args.get("partition_by") or [])
        arguments = tuple(self._part(node) for node in called.arguments)
        text = f"{called.function} {called.number} {called.ignore_nulls}"
        return WrittenCall(called, text, arguments, partition, terms, frame, window)

    def order_terms(self, order: exp.Order) -> list[tuple[str, bool, bool]]:
        """The terms of an ORDER BY as names of parts, whether they fall, and whether NULL is first."""
        found = []
        for term in order.expressions:
            descending, nulls_first = bool(term.args.get("desc")), term.args.get("nulls_first")
            first = not descending if nulls_first is None else bool(nulls_first)
            found.append((self._part(term.this), descending, first))
        return found

    def _part(self, node: exp.Expr) -> str:
        text = expression_sql(node)
        name = next((name for name, part in self.parts.items() if expression_sql(part) == text), None)
        name = name or f"\0over{len(self.parts)}"
        self.parts.setdefault(name, node)
        return name

    def added_to(self, plan: Node, parts: Mapping[str, exp.Expr], scope: Scope) -> Node:
        """The rows of `plan` with a number for each ranking; `parts` are over its columns."""
        if not self.rankings:
            return plan
        plan, names = with_columns(plan, parts, scope)
        for i, ranking in enumerate(self.rankings):
            assert isinstance(ranking, _Ranking), "only numbers are kept up to date as rows come and go"
            order = tuple(SortKey(names[part], *how) for part, *how in ranking.order)
            partition = tuple(dict.fromkeys(names[part] for part in ranking.partition))
            plan = Ranked(plan, partition, order, ranking.function, None, over_name(i))
        return plan


def with_columns(plan: Node, parts: Mapping[str, exp.Expr], scope: Scope) -> tuple[Node, dict[str, str]]:
    """The plan with a column for each of `parts`, and their names; what is a column already stays one."""
    names, own = {}, []
    for name, node in parts.items():
        type = checked_type(node, plan.schema, scope)
        if pa.types.is_map(type):
            raise error_at(node, "a map has no order, and cannot be told from another", scope.text)
        names[name] = node.name if isinstance(node, exp.Column) else name
        own += [] if isinstance(node, exp.Column) else [Computed(name, expression_sql(node), type)]
    if not own:
        return plan, names
    same = [Computed(column.name, expression_sql(plan_column(column.name)), column.type) for column in plan.columns]
    return Project(plan, (*same, *own)), names


def over_name(number: Any) -> str:
    return f"\0number{number}"


def resolved(node: exp.Expr) -> exp.Expr:
    """The expression with the columns that hold what OVER has made."""
    if isinstance(node, OverResult):
        return placed_as(plan_column(over_name(node.this)), node)
    return with_parts(node.copy(), resolved) if node.find(OverResult) else node


def _function(node: exp.Expr) -> Function | None:
    name = node.sql_name() if isinstance(node, exp.Func) else ""
    name = (node.name if isinstance(node, exp.Anonymous) else name).lower()
    known: dict[str, Function] = {"row_number": "row_number", "rank": "rank", "dense_rank": "dense_rank"}
    return known.get(name)
