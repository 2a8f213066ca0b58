"""What panes keep of their rows: partials, or the values that partials are made of."""

from __future__ import annotations

from windrow.plan.nodes.aggregates import Partial

ROWS, PARTIALS = "rows", "partials"

FROM_VALUES = frozenset(
    {"integer_sum", "float_sum", "decimal_sum", "moments", "min", "max", "truth", "distinct_sketch", "digest"}
)
"""Partials that can be made of the values that are not NULL, whenever they are asked for."""


def other_way(keeps: str) -> str:
    """What panes keep that do not keep `keeps`."""
    return PARTIALS if keeps == ROWS else ROWS


def kept_as(partial: Partial, keeps: str) -> Partial:
    """What panes keep for `partial`: itself, or the values of its argument, which several can be made of.

    >>> print(kept_as(Partial("max", "price"), ROWS), kept_as(Partial("max", "price"), PARTIALS))
    collect(price) max(price)
    """
    if keeps == PARTIALS or partial.kind not in FROM_VALUES:
        return partial
    return Partial("collect", partial.argument, partial.type, partial.filter)
