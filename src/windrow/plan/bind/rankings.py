"""OVER, QUALIFY and DISTINCT of the answers of windows that are folded: what each row gets, and who is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.first_ones import bound_of
from windrow.plan.bind.joins import conjuncts_of
from windrow.plan.bind.names import both, is_star, output_name, unaliased
from windrow.plan.bind.over import OverResult, Overs, WrittenCall
from windrow.plan.bind.over_calls import check_ordered_by, with_interval
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.told_columns import names_told, told_columns
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.nodes.ordering import Ordering, Ranking, holds_map, place_column
from windrow.plan.nodes.over_calls import OverCall
from windrow.plan.nodes.query_plan import QueryPlan


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rankings of one SELECT over windows: expressions with them are `lift`ed to columns that slide emits."""

    tree: exp.Select
    scope: Scope
    overs: Overs
    lift: Callable[[exp.Expr], exp.Expr]

    def __call__(self, node: exp.Expr) -> exp.Expr:
        return self.lift(self.overs.taken_out(node)).transform(_column_of)

    def asked(self, aliases: Mapping[str, exp.Expr], columns: Iterable[str]) -> Asked:
        """What is asked of the rows of a window, once the select list and ORDER BY are known."""
        qualify = self.tree.args.get("qualify")
        chosen = None if qualify is None else self(unaliased(qualify.this, aliases, columns))
        if qualify is not None and not self.overs.rankings:
            hint = "ROW_NUMBER() OVER (...) <= 3, or WHERE"
            raise error_at(qualify.this, "QUALIFY needs a ranking", self.scope.text, hint)
        return Asked(self.tree, self.scope, self.overs, {n: self(part) for n, part in self.overs.parts.items()}, chosen)


@dataclass(frozen=True, slots=True)
class Asked:
    """The rankings of one SELECT, what they are by over the columns that slide emits, and which rows are kept."""

    tree: exp.Select
    scope: Scope
    overs: Overs
    parts: Mapping[str, exp.Expr]
    chosen: exp.Expr | None

    def added_to(self, query: QueryPlan) -> QueryPlan:
        """The query with its rankings; DISTINCT keeps the first of the rows that look alike, of those that qualify."""
        query = self._ranked(query)
        if not self.tree.args.get("distinct"):
            return query
        alike = [self._text(parse_expression(output.sql), output.name, query) for output in query.outputs]
        alike += [] if query.qualify is None else [query.qualify]
        first = f"{place_column(len(query.rankings))} <= 1"
        rankings = (*query.rankings, Ranking("row_number", tuple(alike), (), 1))
        qualify = first if query.qualify is None else f"({query.qualify}) AND {first}"
        return replace(query, rankings=rankings, qualify=qualify)

    def _ranked(self, query: QueryPlan) -> QueryPlan:
        by = {name for ranking in self.overs.rankings for name in _by(ranking)}
        texts = {
            name: self._text(part, part, query) if name in by else expression_sql(part)
            for name, part in self.parts.items()
        }
        rankings: list[Ranking | OverCall] = []
        for ranking in self.overs.rankings:
            partition = tuple(dict.fromkeys(texts[name] for name in ranking.partition))
            order = tuple(Ordering(texts[name], *how) for name, *how in ranking.order)
            if isinstance(ranking, WrittenCall):
                rankings.append(self._called(ranking, partition, order, query))
            else:
                rankings.append(Ranking(ranking.function, partition, order))
        query = replace(query, rankings=tuple(_limited(rankings, self.chosen)))
        if self.chosen is None:
            return query
        return replace(query, qualify=checked_condition(self.chosen, query.numbered, self.scope))

    def _called(
        self, written: WrittenCall, partition: tuple[str, ...], order: tuple[Ordering, ...], query: QueryPlan
    ) -> OverCall:
        if written.order and all(self._is_told(name, query) for name, *_ in written.order):
            message = "rows of one window are beside each other here, and this order is that of windows"
            way_out = "CREATE STREAM answers AS the groups, then OVER (PARTITION BY k ORDER BY window_end) FROM answers"
            raise error_at(written.over, message, self.scope.text, way_out)
        types = [checked_type(self.parts[name], query.emitted, self.scope) for name in written.arguments]
        ordered = [checked_type(self.parts[name], query.emitted, self.scope) for name, *_ in written.order]
        interval = with_interval(written.over)
        check_ordered_by(written.frame, ordered, written.over, self.scope.text, interval)
        called, arguments = written.called, tuple(expression_sql(self.parts[name]) for name in written.arguments)
        type = called.type_of(types, written.over, self.scope.text)
        number, nulls = called.number, called.ignore_nulls
        return OverCall(called.function, arguments, type, partition, order, written.frame, number, nulls)

    def _is_told(self, name: str, query: QueryPlan) -> bool:
        """Whether a part is the same for all rows of a window."""
        columns = {column.name for column in self.parts[name].find_all(exp.Column)}
        return columns <= set(query.leading)

    def _text(self, part: exp.Expr, place: exp.Expr | str, query: QueryPlan) -> str:
        if holds_map(checked_type(part, query.numbered, self.scope)):
            place = self.tree if isinstance(place, str) else place
            message = "a map has no order, and cannot be told from another"
            raise error_at(place, message, self.scope.text, "MAP_ENTRIES(...)")
        return expression_sql(part)


def numbering(tree: exp.Select, scope: Scope, lift: Callable[[exp.Expr], exp.Expr]) -> Numbered:
    return Numbered(tree, scope, Overs(scope, whole=True), lift)


def refuse_numbers_of_events(tree: exp.Select, scope: Scope) -> None:
    """Raise where DISTINCT or OVER is asked of a stream below its window: events have no end to be numbered at."""
    asked = tree.args.get("distinct") or tree.args.get("qualify") or next(_overs_in(tree), None)
    if asked:
        hint = "outside of the brackets, over the answers of the window"
        raise not_yet(asked, "DISTINCT and OVER below such a window", scope.text, hint, tree=tree)


def distinct_as_groups(tree: exp.Select, source: BoundRows, scope: Scope) -> exp.Select:
    """SELECT DISTINCT of columns as their groups, of which a pane keeps each once, rather than all of its rows."""
    told = told_columns(source, scope)
    by = {name: exp.column(exp.to_identifier(name, quoted=True)) for name in source.columns}
    selected: list[exp.Expr] = []
    for node in tree.selects:
        selected += list(by.values()) if is_star(node) else [node]
    grouped = [node.unalias() for node in selected if not names_told(node, told, source.columns)]
    if not grouped or not tree.args.get("distinct") or tree.args.get("qualify") or next(_overs_in(tree), None):
        return tree
    if any(names_told(node, told, source.columns) and output_name(node).lower() not in told for node in selected):
        return tree
    turned = tree.copy()
    turned.set("expressions", [node.copy() for node in selected])
    turned.set("group", exp.Group(expressions=[node.copy() for node in grouped]))
    turned.set("distinct", None)
    return turned


def _overs_in(tree: exp.Select) -> Iterator[exp.Expr]:
    return (over for node in tree.selects for over in node.find_all(exp.Window))


def _column_of(node: exp.Expr) -> exp.Expr:
    return exp.column(place_column(node.this)) if isinstance(node, OverResult) else node


def _by(ranking: Any) -> Iterator[str]:
    """The parts that rows are told apart by, or put in order."""
    yield from ranking.partition
    yield from (name for name, *_ in ranking.order)


def _limited(rankings: Iterable[Ranking | OverCall], qualify: exp.Expr | None) -> Iterable[Ranking | OverCall]:
    """The rankings with the largest number that `qualify` lets through."""
    limits: dict[str, int] = {}
    for condition in () if qualify is None else conjuncts_of(qualify):
        bound = bound_of(condition)
        if bound is not None:
            limits[bound[0]] = min(bound[1], limits.get(bound[0], bound[1]))
    return [
        replace(ranking, limit=limits.get(place_column(i))) if isinstance(ranking, Ranking) else ranking
        for i, ranking in enumerate(rankings)
    ]


def ranked_once(asked: Asked, query: QueryPlan, below: QueryPlan, tree: exp.Select, scope: Scope) -> QueryPlan:
    """The query around one whose answers may be ranked, or limited, already: then it cannot rank them once more."""
    place = tree.args.get("distinct") or next(_overs_in(tree), None)
    if place is None:
        return replace(query, rankings=tuple(_limited(query.rankings, _parsed(query.qualify))))
    if below.rankings or below.limit is not None:
        raise not_yet(place, "a ranking, or DISTINCT, of rows that a sub-query has chosen", scope.text, tree=tree)
    return asked.added_to(query)


def chosen_of(query: QueryPlan, condition: exp.Expr, having: exp.Expr | None) -> tuple[exp.Expr | None, str | None]:
    """HAVING and QUALIFY of answers of which a query around them chooses: after the rankings, where there are some."""
    if not query.rankings:
        return both(having, condition), query.qualify
    return having, expression_sql(both(_parsed(query.qualify), condition))


def _parsed(condition: str | None) -> exp.Expr | None:
    return None if condition is None else parse_expression(condition)
