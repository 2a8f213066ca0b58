"""GROUPING SETS, CUBE and ROLLUP in windows by key and from condition to condition: each is within a window."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import LevelsWindow, PredicateWindow, SessionWindow, Window, window_of
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.groupings import ALWAYS, OF_WINDOW, has_groupings
from windrow.plan.bind.is_table import is_table


def has_groupings_of_keys(select: exp.Expr, scope: Scope) -> bool:
    """Whether a SELECT asks for several groupings of a window that map tasks cannot repeat rows for.

    A row would be counted once for each grouping, or open a window in each; so the groupings are made of the rows that
    a window has collected. Where streams are joined, they are of the pairs.
    """
    if not isinstance(select, exp.Select) or not has_groupings(select):
        return False
    first = select.args.get("from_")
    window = None if first is None else window_of(first.this)
    if window is None or isinstance(window, SessionWindow):
        return False
    named = {common.alias.lower() for common in select.root().find_all(exp.CTE)}
    if not all(is_table(join.this, named, scope) for join in select.args.get("joins") or []):
        return False
    return isinstance(window, PredicateWindow) or bool(_keys(window))


def add_keys(select: exp.Select) -> None:
    """Group by the keys of the window, too, which all groups of it have: they may be selected as in any window."""
    source = select.args["from_"].this
    window = window_of(source)
    assert window is not None
    keys = [key.copy() for key in _keys(window)]
    for key in keys:
        for column in key.find_all(exp.Column):
            column.set("table", exp.to_identifier(source.alias_or_name, quoted=True))
    if not keys:
        return
    group = select.args.get("group") or exp.Group(expressions=[])
    select.set("group", group)
    group.set(ALWAYS, [*(group.args.get(ALWAYS) or []), *keys])
    group.set(OF_WINDOW, [key.copy() for key in keys])


def _keys(window: Window) -> tuple[exp.Expr, ...]:
    part = window.levels[0] if isinstance(window, LevelsWindow) else window
    keys: tuple[exp.Expr, ...] = getattr(part, "partition_by", ())
    return keys
