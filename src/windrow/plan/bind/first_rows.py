"""ORDER BY ... LIMIT of rows that come and go: which of them are the first ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Derived, plan_column
from windrow.plan.bind.order import bind_limit, selected
from windrow.plan.bind.over import with_columns
from windrow.plan.nodes.changes import Computed, Node, Project, Ranked, SortKey

Finish = Callable[[dict[str, exp.Expr]], Derived]


@dataclass(frozen=True, slots=True)
class Ordering:
    """ORDER BY and LIMIT of one SELECT: `parts` are what rows are ordered by, to be bound as the select list is."""

    limit: int | None
    terms: tuple[tuple[str, bool, bool], ...] = ()
    parts: Mapping[str, exp.Expr] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: exp.Select, aliases: Mapping[str, exp.Expr], scope: Scope) -> Ordering:
        """Names of the select list, its numbers, or expressions over the rows that it is made of."""
        limit = bind_limit(tree, scope.text)
        if limit is None:
            return cls(None)
        terms, parts = [], {}
        for number, term in enumerate(tree.args["order"].expressions):
            node = term.this
            if isinstance(node, exp.Literal) and not node.is_string:
                node = selected(tree, node, "order", scope.text)
            elif isinstance(node, exp.Column) and not node.table:
                node = aliases.get(node.name.lower(), node)
            for over in node.find_all(exp.Window):
                raise error_at(over, "OVER in ORDER BY", scope.text, "give it a name in the select list of a sub-query")
            parts[f"\0order{number}"] = node
            terms.append((f"\0order{number}", *_how(term)))
        return cls(limit, tuple(terms), parts)

    def first(self, columns: Mapping[str, exp.Expr], finish: Finish, distinct: bool, scope: Scope) -> Derived:
        """The answers that `finish` makes of columns, of which only the first ones are there."""
        outputs = {name: node for name, node in columns.items() if name not in self.parts}
        if self.limit is None:
            return finish(outputs)
        if not distinct:
            made = finish(dict(columns))
            plan = _ranked(made.plan, list(self.terms), self.limit)
            same = [
                Computed(column.name, expression_sql(plan_column(column.name)), column.type)
                for column in made.plan.columns
                if column.name in outputs
            ]
            return Derived(Project(plan, tuple(same)), {name: name for name in outputs})
        made = finish(outputs)
        texts = {expression_sql(node): name for name, node in outputs.items()}
        terms = []
        for name, falls, first in self.terms:
            held = texts.get(expression_sql(columns[name]))
            if held is None:
                message = "rows that DISTINCT has made one are ordered by what the select list has"
                raise error_at(columns[name], message, scope.text, "add it to the select list")
            terms.append((held, falls, first))
        return replace(made, plan=_ranked(made.plan, terms, self.limit))


def first_answers(made: Derived, tree: exp.Expr, scope: Scope) -> Derived:
    """The first answers of a set operator or a query in brackets, by expressions over its columns."""
    if not tree.args.get("limit"):
        return made
    limit = bind_limit(tree, scope.text)  # type: ignore[arg-type]
    assert limit is not None
    terms, parts = [], {}
    for number, term in enumerate(tree.args["order"].expressions):
        node = term.this.copy()
        names = list(made.columns)
        if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
            if not 1 <= int(node.this) <= len(names):
                raise error_at(term.this, f"there is no column {node.this} to order by", scope.text)
            node = plan_column(made.columns[names[int(node.this) - 1]])
        parts[f"\0order{number}"] = node
        terms.append((f"\0order{number}", *_how(term)))
    plan, held = with_columns(made.plan, parts, scope)
    ranked = _ranked(plan, [(held[name], falls, first) for name, falls, first in terms], limit)
    if ranked.columns != made.plan.columns:
        same = [Computed(c.name, expression_sql(plan_column(c.name)), c.type) for c in made.plan.columns]
        ranked = Project(ranked, tuple(same))
    return replace(made, plan=ranked)


def _how(term: exp.Expr) -> tuple[bool, bool]:
    """Whether a term falls, and whether NULL is first."""
    descending, nulls_first = bool(term.args.get("desc")), term.args.get("nulls_first")
    return descending, not descending if nulls_first is None else bool(nulls_first)


def _ranked(plan: Node, terms: list[tuple[str, bool, bool]], limit: int) -> Node:
    return Ranked(plan, (), tuple(SortKey(*term) for term in terms), "row_number", limit)
