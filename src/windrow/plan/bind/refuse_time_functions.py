"""Functions that do not go with windows of ours, or are another one each time: refused where they stand."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import Query, error_at
from windrow.plan.catalog import Catalog

_SPARK_WINDOWS = ("window", "session_window", "window_time")
_CHANCE = (exp.Rand, exp.Randn, exp.Uuid, exp.Shuffle)
_CHANCE_NAMES = ("monotonically_increasing_id", "random", "randstr", "uniform", "spark_partition_id")


def refuse_spark_windows(part: exp.Expr, text: str) -> None:
    """Raise for a call of Spark's own event-time windows, which would make several rows of one."""
    for call in part.find_all(exp.Anonymous):
        if call.name.lower() in _SPARK_WINDOWS:
            way_out = "[RANGE 10 MINUTES SLIDE 1 MINUTE] behind the stream's name gives window_start and window_end"
            raise error_at(call, f"{call.name.upper()} is Spark's own window, and has no meaning here", text, way_out)


def refuse_chance(query: Query, catalog: Catalog) -> Query:
    """The same query; raises for a function that gives another value each time.

    A batch that runs again has to give the same bits.

    `current_timestamp()` is none of them: Spark has one for each batch, and keeps it.
    """
    for node in query.tree.walk():
        name = _chance(node)
        if name is not None:
            message = f"{name} is another one each time: a batch that runs again would answer otherwise"
            raise error_at(
                node, message, query.text, "hash(...) of columns scatters rows, too, and is the same each time"
            )
    return query


def _chance(node: exp.Expr) -> str | None:
    """The name of a function that is another one each time."""
    if isinstance(node, _CHANCE):
        return node.key.upper()
    return node.name.upper() if isinstance(node, exp.Anonymous) and node.name.lower() in _CHANCE_NAMES else None


def wrong_time(time: exp.Expr) -> str | None:
    """What keeps an expression from telling when an event happened, if anything.

    >>> import sqlglot
    >>> wrong_time(sqlglot.parse_one("MAX(ts)")), wrong_time(sqlglot.parse_one("ts"))
    ('MAX is no expression of one event', None)
    """
    for node in time.walk():
        name = node.name if isinstance(node, exp.Anonymous) else "OVER" if isinstance(node, exp.Window) else node.key
        if isinstance(node, exp.AggFunc | exp.Window | exp.UDTF | exp.Explode) or name.lower() in _SPARK_WINDOWS:
            return f"{name.upper()} is no expression of one event"
        if _chance(node) is not None:
            return f"{name.upper()} is another one each time: a batch that runs again would answer otherwise"
    return None
