"""Conditions joined by AND or OR, as a tree that is as flat as it can be."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp


def balanced(kind: type[exp.Connector], conditions: Sequence[exp.Expr]) -> exp.Expr:
    """All of `conditions`: whichever way they are grouped, they are written and mean the same.

    A chain of ten thousand would be ten thousand calls deep for everyone who walks along it; this is fourteen deep.

    >>> whole = balanced(exp.And, [exp.column(name) for name in "abcde"])
    >>> whole.sql(), whole.left.sql(), whole.right.sql()
    ('a AND b AND c AND d AND e', 'a AND b AND c', 'd AND e')
    """
    if len(conditions) == 1:
        return conditions[0]
    half = (len(conditions) + 1) // 2
    left, right = conditions[:half], conditions[half:]
    return kind(this=balanced(kind, left), expression=balanced(kind, right))
