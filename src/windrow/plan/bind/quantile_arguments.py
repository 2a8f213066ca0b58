"""The arguments of QUANTILE and APPROX_QUANTILE: what is asked of, and which share of it lies below the answer."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import as_written, error_at, expression_sql
from windrow.plan.bind.bound import Scope

SHARES = frozenset({"QUANTILE", "APPROX_QUANTILE"})
"""The aggregates that take a share."""


def arguments_of(call: exp.Expr) -> list[exp.Expr]:
    """All that a call is given, in the order it is written."""
    values = (value if isinstance(value, list) else [value] for value in call.args.values())
    return [value for given in values for value in given if isinstance(value, exp.Expr)]


def quantile_arguments(call: exp.Expr, name: str, scope: Scope) -> tuple[exp.Expr, float]:
    """The argument and the share, a number from 0 to 1 that is written out."""
    given = arguments_of(call)
    if len(given) != 2:
        raise error_at(call, f"{name} takes a value and a share", scope.text, f"{name}(price, 0.9)")
    argument, share = given[0], given[1].unnest()
    text = as_written(share, scope.text) or expression_sql(share)
    try:
        number = float(text)
    except ValueError:
        hint = "one call for each share: QUANTILE(price, 0.5), QUANTILE(price, 0.9)"
        raise error_at(
            share, f"the share of {name} is a number from 0 to 1, and this is {text}", scope.text, hint
        ) from None
    if not 0 <= number <= 1:
        way_out = f"a percentage is divided by 100: {number / 100:g}" if 2 <= number <= 100 else None
        raise error_at(share, f"the share of {name} is from 0 to 1, and this is {text}", scope.text, way_out)
    return argument, number
