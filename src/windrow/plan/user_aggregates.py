"""What a user's aggregate must be, before any query names it."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.errors import SettingsError, WindrowError
from windrow.language import Windrow
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.bind.calls import ALIASES, RECURRING
from windrow.plan.bind.clusters import CALLS
from windrow.plan.nodes.aggregates import FILLED


def check_aggregate(name: object, implementation: object) -> None:
    """Refuse a name that no query could call it by, and a class that lacks a method."""
    if not isinstance(name, str) or not name.isidentifier():
        raise SettingsError(f"an aggregate cannot be called {name!r}: a name has letters, digits and _, and no others")
    if is_built_in(name):
        raise SettingsError(f"{name.upper()} is a function already: give the aggregate another name, as my_{name}")
    missing = Abilities.of(implementation).missing
    if missing:
        raise SettingsError(f"aggregate {name!r} lacks {', '.join(missing)}")


def is_built_in(name: str) -> bool:
    """Whether the language itself has a function, or a word, of that name, which a call would mean.

    >>> [is_built_in(name) for name in ("sum", "Mad", "upper", "select", "geo_mean")]
    [True, True, True, True, False]
    """
    if name.upper() in (*ALIASES, *FILLED, RECURRING, *CALLS):
        return True
    try:
        call = sqlglot.parse_one(f"{name}(x)", dialect=Windrow)
    except (SqlglotError, WindrowError):
        return True
    return not isinstance(call, exp.Anonymous)


def wrong_result(name: str, returns: object, why: str) -> SettingsError:
    """The error for a type that answers cannot have."""
    shown = repr(returns) if isinstance(returns, str) else getattr(returns, "__name__", None) or str(returns)
    return SettingsError(f"aggregate {name!r} cannot return {shown}: {why}; a type is written as in SQL, 'DOUBLE'")
