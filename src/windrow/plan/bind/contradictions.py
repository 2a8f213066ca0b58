"""Conditions that no row can meet: `x > 5 AND x < 3`. Such a query would run for ever and never answer."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import as_written, error_at
from windrow.language.nodes import Emit, PredicateStreamWindow
from windrow.plan.bind.natural_bounds import NaturalBounds, is_backwards
from windrow.plan.bind.possible_values import Possible, note
from windrow.plan.bind.sides_of_conditions import alternatives, conjuncts
from windrow.plan.catalog import Catalog

_MOST = 50
"""How many alternatives of an OR are looked at."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Conditions that must hold together, and what the values that they name can be anyhow."""

    conditions: list[exp.Expr]
    natural: NaturalBounds

    def begin(self, node: exp.Expr) -> Possible:
        """What a value can be before any condition is asked of it."""
        bound, possible = self.natural.of(node), Possible()
        if bound is not None:
            possible.is_beyond(exp.GTE, Decimal(bound.low))
            if bound.high is not None:
                possible.is_beyond(exp.LTE, Decimal(bound.high))
        return possible


def refuse_contradictions(tree: exp.Expr, text: str, catalog: Catalog | None = None) -> None:
    """Raise where a condition that chooses rows, groups or windows holds for none, or leaves a column no value."""
    for asked in _asked(tree, catalog):
        _refuse_never(asked.conditions, text)
        _check(asked, text)


def _asked(tree: exp.Expr, catalog: Catalog | None) -> Iterable[_Asked]:
    """WHERE with the ON of inner joins, HAVING, QUALIFY, FILTER, EMIT WHEN, and what windows begin and end with."""
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        inner = [join for join in joins if not join.side and join.kind not in ("SEMI", "ANTI")]
        ons = [conjuncts(on) for join in inner if (on := join.args.get("on")) is not None]
        where = [] if select.args.get("where") is None else conjuncts(select.args["where"].this)
        of_rows = NaturalBounds(select, catalog, aliases=False)
        if len(inner) == len(joins):
            yield _Asked(where + [condition for on in ons for condition in on], of_rows)
        else:
            yield from (_Asked(each, of_rows) for each in (where, *ons))
        for name in ("having", "qualify"):
            if select.args.get(name) is not None:
                yield _Asked(conjuncts(select.args[name].this), NaturalBounds(select, catalog))
    for filtered in tree.find_all(exp.Filter):
        yield _Asked(conjuncts(filtered.expression.this), NaturalBounds(None, catalog))
    for emit in tree.find_all(Emit):
        if (when := emit.args.get("when")) is not None:
            yield _Asked(conjuncts(when), NaturalBounds(emit.parent, catalog))
    for window in tree.find_all(PredicateStreamWindow):
        yield from (_Asked(conjuncts(each), NaturalBounds(None, catalog)) for each in (window.this, window.expression))


def _refuse_never(conditions: Iterable[exp.Expr], text: str) -> None:
    """Refuse what holds for no row by itself: NULL, and a comparison with it. Who writes FALSE means it."""
    for condition in conditions:
        part = condition.unnest()
        if isinstance(part, exp.Null):
            raise error_at(condition, "no row can meet this condition: it is NULL", text, "leave it out")
        if not isinstance(part, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            continue
        left, right = part.this.unnest(), part.expression.unnest()
        if is_backwards(part):
            message = "no row can meet this condition: a window does not end before it begins"
            raise error_at(condition, message, text, "window_start < window_end holds for all: leave it out")
        if isinstance(left, exp.Null) or isinstance(right, exp.Null):
            message = "no row can meet this condition: what is compared with NULL is unknown"
            raise error_at(condition, message, text, "x IS NULL, or x <=> y where NULL equals NULL")
        if isinstance(part, exp.NEQ | exp.GT | exp.LT) and isinstance(left, exp.Column) and left == right:
            message = f"no row can meet this condition: {left.name!r} is compared with itself"
            raise error_at(condition, message, text, "compare it with another column, or with LAG(x) OVER (...)")


def _check(asked: _Asked, text: str) -> None:
    """Refuse conditions that leave a column no value, or of which one wants NULL and another a value."""
    possible: dict[str, Possible] = {}
    for condition in asked.conditions:
        column = note(condition, possible, asked.begin)
        if column is not None:
            raise _refusal(condition, column, asked, text)
    for condition in asked.conditions:
        choices = [conjuncts(choice) for choice in alternatives(condition)]
        if 1 < len(choices) <= _MOST and not any(_some_left(choice, possible, asked) for choice in choices):
            message = "no row can meet this condition: the others leave none of what stands between its ORs"
            raise error_at(condition, message, text, "leave one of them out")


def _some_left(conditions: Iterable[exp.Expr], possible: dict[str, Possible], asked: _Asked) -> bool:
    """Whether conditions can hold beside those that `possible` has noted."""
    noted = deepcopy(possible)
    return all(note(condition, noted, asked.begin) is None for condition in conditions)


def _refusal(condition: exp.Expr, column: exp.Expr, asked: _Asked, text: str) -> QueryError:
    """What is wrong with a condition that leaves a column nothing: it alone, or beside the others."""
    name = column.name if isinstance(column, exp.Column) else as_written(column, text) or column.sql()
    if note(condition, {}) is not None:
        message = f"no row can meet this condition: it leaves no {name!r}"
        return error_at(condition, message, text, "BETWEEN takes the lower bound first")
    bound = asked.natural.of(column)
    if bound is not None and note(condition, {}, asked.begin) is not None:
        return error_at(condition, f"no row can meet this condition: {name!r} is {bound.said}", text, "leave it out")
    message = f"no row can meet this condition: the others leave no such {name!r}"
    return error_at(condition, message, text, "write OR between them, or leave one of them out")
