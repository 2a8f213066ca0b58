"""FILTER (WHERE level <= 1): an aggregate of what one level holds, beside those of a coarser one."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.names import both
from windrow.plan.bind.refuse import not_yet
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.row_levels import NestedRows

LEVEL = "level"


def without_level(call: exp.Expr, source: BoundRows, scope: Scope) -> tuple[exp.Expr, int | None]:
    """A call without what its FILTER says of levels, and the level whose rows it is of, if it says one.

    A row is of the finest level that holds it. So `level <= 1` are the rows of the window of level 1, and `level = 0`
    those of the finest.
    """
    if not isinstance(call, exp.Filter) or LEVEL in {column.lower() for column in source.columns}:
        return call, None
    condition = call.expression.this.unnest()
    rest: exp.Expr | None = None
    found: int | None = None
    for part in list(condition.flatten()) if isinstance(condition, exp.And) else [condition]:
        if any(column.name.lower() == LEVEL for column in part.find_all(exp.Column)):
            level = _level(part.unnest(), scope)
            found = level if found is None else min(found, level)
        else:
            rest = both(rest, part)
    if found is None:
        return call, None
    _check(call, source, scope)
    if rest is None:
        return call.this, found
    kept = call.copy()
    kept.expression.set("this", rest)
    return kept, found


def _level(condition: exp.Expr, scope: Scope) -> int:
    """The coarsest level whose rows meet a condition."""
    left, right = condition.args.get("this"), condition.args.get("expression")
    if isinstance(left, exp.Column) and isinstance(right, exp.Literal) and right.name.isdigit():
        number = int(right.name)
        if isinstance(condition, exp.LTE) or (isinstance(condition, exp.EQ) and number == 0):
            return number
        if isinstance(condition, exp.LT) and number > 0:
            return number - 1
    message = "a FILTER asks for the rows that a level holds: level = 0, or level <= a number"
    raise error_at(condition, message, scope.text, "SUM(x) FILTER (WHERE level <= 1)")


def _check(call: exp.Expr, source: BoundRows, scope: Scope) -> None:
    window = source.window
    if not isinstance(window, NestedWindow | NestedRows):
        message = "level is of nested windows, and this window has none"
        hint = "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
        raise error_at(call, message, scope.text, hint)
    if not window.divide:
        message = "to compare levels, each slide must be a multiple of the next finer one"
        raise error_at(call, message, scope.text, "then all finer levels slide with a level")
    for clause, there in (
        ("AGING", bool(window.aging)),
        ("EMIT EVERY", window.every_us is not None),
        ("levels without bound", window.grows),
    ):
        if there:
            raise not_yet(call, f"FILTER by level with {clause}", scope.text)
