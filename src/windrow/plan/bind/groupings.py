"""GROUP BY as it is written: GROUPING SETS, CUBE and ROLLUP as sets of expressions, ALL as the select list."""

from __future__ import annotations

from itertools import chain, combinations, product

from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.names import is_star
from windrow.plan.bind.order import selected

Sets = list[list[exp.Expr]]

MOST = 256
"""More groupings than these would send every event to as many groups."""

ALWAYS = "always"
"""What every grouping is by, beside what was written: the values of sub-queries."""

OF_WINDOW = "of_window"
"""The keys of the window, which no grouping can be without: they are among those of ALWAYS, too."""

NUMBER = "number"
"""Marks a GROUPING_ID that stands for the number of the grouping: two may be by the same keys."""

_MANY = exp.Rollup | exp.Cube | exp.GroupingSets


def grouped_by(tree: exp.Select, scope: Scope) -> tuple[list[exp.Expr], Sets | None]:
    """The expressions of GROUP BY, and the groupings that it asks for; None where that is one by all of them."""
    given, sets = _written(tree, scope)
    if sets is None:
        given = [node for node in given if not _is_cluster(node, tree, scope)]
    always = [] if tree.args.get("group") is None else tree.args["group"].args.get(ALWAYS) or []
    return [*given, *always], None if sets is None else [[*chosen, *always] for chosen in sets]


def _is_cluster(node: exp.Expr, tree: exp.Select, scope: Scope) -> bool:
    """Whether it is the name of the clusters, of each of which there is a row anyway; no column has it."""
    clusters = tree.args.get("cluster")
    if clusters is None:
        return False
    if isinstance(node, exp.Literal) and not node.is_string:
        node = selected(tree, node, "group", scope.text)
    node = node.unnest()
    named = isinstance(node, exp.Column) and not node.table
    return named and node.name.lower() == clusters.args["alias"].name.lower()


def has_groupings(tree: exp.Select) -> bool:
    """Whether GROUP BY is written as one by several sets of expressions."""
    group = tree.args.get("group")
    if group is None:
        return False
    clauses = any(group.args.get(clause) for clause in ("rollup", "cube", "grouping_sets"))
    return clauses or any(isinstance(node, _MANY) for node in group.expressions)


def _written(tree: exp.Select, scope: Scope) -> tuple[list[exp.Expr], Sets | None]:
    group = tree.args.get("group")
    if group is None:
        return [], None
    if group.args.get("all"):
        return _all(tree, scope), None
    given = list(group.expressions)
    for with_clause, made in (("rollup", _rollup), ("cube", _cube)):
        if group.args.get(with_clause):  # GROUP BY a, b WITH ROLLUP
            return given, _few(made([[node] for node in given]), group, tree, scope)
    if group.args.get("grouping_sets"):  # GROUP BY a, b GROUPING SETS (...)
        sets = [chosen for clause in group.args["grouping_sets"] for chosen in _sets(clause)]
        return given, _few(sets, group, tree, scope)
    if not any(isinstance(node, _MANY) for node in given):
        return given, None
    parts = [_sets(node) for node in given]
    count = 1
    for part in parts:
        count *= len(part)
        if count > MOST:
            raise _too_many(group, tree, scope)
    sets = [list(chain.from_iterable(chosen)) for chosen in product(*parts)]
    return list(chain.from_iterable(sets)), sets


def _all(tree: exp.Select, scope: Scope) -> list[exp.Expr]:
    """All of the select list that names a column and has no aggregate."""
    items = [node.unalias() for node in tree.selects if not is_star(node)]
    return [node.copy() for node in items if node.find(exp.Column) and not calls_in(node, scope)]


def _sets(node: exp.Expr) -> Sets:
    """The sets that one part of GROUP BY stands for."""
    match node:
        case exp.GroupingSets():
            return [chosen for part in node.expressions for chosen in _sets(part)]
        case exp.Rollup():
            return _rollup([_together(part) for part in node.expressions])
        case exp.Cube():
            return _cube([_together(part) for part in node.expressions])
    return [_together(node)]


def _together(node: exp.Expr) -> list[exp.Expr]:
    """The expressions of (a, b), which come and go together."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node.unnest()]


def _rollup(parts: Sets) -> Sets:
    return [list(chain.from_iterable(parts[:count])) for count in range(len(parts), -1, -1)]


def _cube(parts: Sets) -> Sets:
    if 2 ** len(parts) > MOST:
        parts = parts[: MOST.bit_length()]  # still too many: it is said where all are counted
    sizes = range(len(parts), -1, -1)
    return [list(chain.from_iterable(chosen)) for size in sizes for chosen in combinations(parts, size)]


def _few(sets: Sets, group: exp.Expr, tree: exp.Select, scope: Scope) -> Sets:
    if len(sets) > MOST:
        raise _too_many(group, tree, scope)
    return sets


def _too_many(group: exp.Expr, tree: exp.Select, scope: Scope) -> Exception:
    place = next((node for node in group.find_all(exp.Column)), tree)
    hint = "GROUPING SETS ((a, b), (a), ()) names those that are needed"
    return error_at(place, f"GROUP BY asks for more than {MOST} groupings", scope.text, hint)


def told_apart(
    node: exp.Grouping | exp.GroupingId,
    places: list[int | None],
    keys: int,
    sets: tuple[tuple[int, ...], ...] | None,
    number: exp.Expr,
    scope: Scope,
) -> exp.Expr:
    """Which of its arguments, at `places` of the keys, a group is not by: a bit for each, the first the highest.

    `number` is the column with the number of the grouping.
    """
    name = "GROUPING" if isinstance(node, exp.Grouping) else "GROUPING_ID"
    if sets is None:
        message = f"{name} tells groupings apart, and this GROUP BY has one"
        raise error_at(node, message, scope.text, "GROUP BY ROLLUP (a, b)")
    if node.meta.get(NUMBER):
        return number
    if None in places or (name == "GROUPING" and len(places) != 1):
        message = f"{name} takes {'one of the' if name == 'GROUPING' else 'some'} expressions of GROUP BY"
        raise error_at(node, message, scope.text)
    asked = places or list(range(keys))
    bits = [sum((place not in chosen) << i for i, place in enumerate(reversed(asked))) for chosen in sets]
    cases = " ".join(f"WHEN {grouping} THEN {bit}" for grouping, bit in enumerate(bits))
    type = "TINYINT" if name == "GROUPING" else "BIGINT"
    return parse_expression(f"CAST(CASE {expression_sql(number)} {cases} END AS {type})")


def in_all_groupings(group: exp.Expr, window: str, key: str, scope: Scope) -> Exception:
    """A grouping would be without the key of its window."""
    message = f"a {window} is of one key of PARTITION BY, so that no grouping is without it"
    hint = f"leave {key} out of GROUP BY: all groups of a {window} have it"
    return error_at(group, message, scope.text, hint)


def way_out(column: str) -> str:
    """What to do about a column that is neither grouped by nor aggregated."""
    return (
        f"add it to GROUP BY, or take ANY_VALUE({column}), LAST({column}), or of one event"
        f" MIN_BY({column}, ...) or MAX_BY({column}, ...)"
    )
