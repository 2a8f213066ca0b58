"""`SUM(x) OVER w ... WINDOW w AS (PARTITION BY k ORDER BY ts)`: each OVER with what its name stands for."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language.spans import error_at
from windrow.language.spelling import did_you_mean

NAMED_WINDOWS = "named_windows"
"""The key under which a query has them while it is read; afterwards there are none."""


def replace_named_windows(select: exp.Expr, text: str) -> None:
    """Put the definitions of WINDOW in the place of their names in a query that has been read."""
    defined = select.args.pop(NAMED_WINDOWS, None) or []
    named: dict[str, exp.Window] = {}
    used = {window.args["alias"].name.lower() for window in defined if window.args.get("alias") is not None}
    for window in defined:
        if window.name.lower() in named:
            raise error_at(window.this, f"two windows are named {window.name!r}", text, "give one another name")
        named[window.name.lower()] = _whole(window, named, text)
    select_list = select.selects if isinstance(select, exp.Select) else []
    for clause in [*select_list, *(select.args.get(key) for key in ("having", "qualify", "order"))]:
        for over in [] if clause is None else clause.find_all(exp.Window):
            if over.args.get("alias") is not None and over.find_ancestor(exp.Select) is select:
                used.add(over.args["alias"].name.lower())
                whole = _whole(over, named, text)
                for part in ("partition_by", "order", "spec", "alias"):
                    over.set(part, whole.args.get(part))
    for window in defined:
        if window.name.lower() not in used:
            way_out = f"SUM(x) OVER {window.name}; the window of a stream stands behind its name: ticks [RANGE 1 HOUR]"
            raise error_at(window.this, f"no OVER names the window {window.name!r}", text, way_out)


def _whole(window: exp.Window, named: Mapping[str, exp.Window], text: str) -> exp.Window:
    """A window with all that it takes from the one that it names."""
    base = window.args.get("alias")
    if base is None:
        return window
    known = named.get(base.name.lower())
    if known is None:
        raise _unknown(base, named, text)
    parts = {part: window.args.get(part) or known.args.get(part) for part in ("partition_by", "order", "spec")}
    for part, words in (("partition_by", "PARTITION BY"), ("order", "ORDER BY"), ("spec", "a frame")):
        if window.args.get(part) and known.args.get(part):
            message = f"the window {base.name!r} has {words} already"
            raise error_at(base, message, text, "leave it out in one of the two")
    copied = {name: _copied(part) for name, part in parts.items() if part}
    return exp.Window(this=window.this.copy(), **copied)


def _copied(part: object) -> object:
    if isinstance(part, list):
        return [item.copy() for item in part]
    return part.copy() if isinstance(part, exp.Expr) else part


def _unknown(base: exp.Expr, named: Mapping[str, exp.Window], text: str) -> QueryError:
    hint = did_you_mean(base.name, list(named)) or "WINDOW w AS (PARTITION BY k ORDER BY x), behind FROM and HAVING"
    return error_at(base, f"unknown window {base.name!r}", text, hint)
