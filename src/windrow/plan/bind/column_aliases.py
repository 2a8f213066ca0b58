"""`AS t(a, b)` behind a source, or `WITH t(a, b) AS (...)`: other names for its columns, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from sqlglot import exp

from windrow.language import error_at

Meaning = TypeVar("Meaning")


def renamed(columns: Mapping[str, Meaning], source: exp.Expr, text: str) -> dict[str, Meaning]:
    """The columns of `source`, a table, a sub-query or a name of WITH, by the names that its alias gives them.

    >>> from windrow.language import parse_query
    >>> table = parse_query("SELECT a FROM s [RANGE 1 HOUR] AS t(a, b)").tree.find(exp.Table)
    >>> renamed({"x": 1, "y": 2}, table, "")
    {'a': 1, 'b': 2}
    """
    alias = source.args.get("alias")
    written: list[exp.Expr] = alias.args.get("columns") or [] if isinstance(alias, exp.TableAlias) else []
    if not written:
        return dict(columns)
    assert isinstance(alias, exp.TableAlias)
    if len(written) != len(columns):
        given = f"{len(written)} name{'s' * (len(written) > 1)}"
        message = f"{alias.name!r} has {len(columns)} columns, and {given} for them"
        raise error_at(alias, message, text, f"columns: {', '.join(columns)}")
    names: dict[str, Meaning] = {}
    for name, meaning in zip(written, columns.values(), strict=True):
        if name.name.lower() in {known.lower() for known in names}:
            raise error_at(name, f"two columns are named {name.name!r}", text, "give one of them another name")
        names[name.name] = meaning
    return names
