"""What slicers read of the events of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from windrow.language import parse_expression
from windrow.plan.nodes.groupings import plain_keys
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing

JOINED_FIRST = "it evaluates expressions over them and a table"
BY_NAME = "files are read by the tasks that fold their rows; Spark lists the names"


@dataclass(frozen=True, slots=True)
class Asked:
    """What slicers read of an event: row expressions, perhaps the event as JSON, perhaps when its batch arrived.

    An event that is true for none of `wheres` is in no window; without any, every one may be. Those of the expressions
    that are `keys` may come as dictionaries.
    """

    texts: tuple[str, ...]
    keeps_rejected: bool
    arrives: bool
    wheres: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


def asked_of(plan: StreamPlan) -> Asked:
    """What the slicers of `plan` read of an event."""
    arrives = plan.timing is Timing.IDLE or plan.ahead_us is not None
    wheres = [space.where for space in plan.spaces]
    known = tuple(where for where in wheres if where is not None)
    others = plan.scans or plan.joined  # which want all rows, as they are
    keys = (
        () if plan.row_spaces or others else tuple(key.sql for space in plan.spaces for key in plain_keys(space.keys))
    )
    decide = len(known) == len(wheres) and not others
    return Asked(plan.expressions, plan.keeps_rejected, arrives, known if decide else (), keys)


def columns_of(texts: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """The columns that expressions read, as they are declared."""
    known = {name.lower(): name for name in names}
    found: dict[str, None] = {}
    for text in texts:
        for node in parse_expression(text).find_all(exp.Column):
            named = (known.get(part.name.lower()) for part in node.parts)
            found.update((name, None) for name in named if name is not None)
    return tuple(found)


def way_told(way: object) -> str:
    """How the rows of files come to the slicers, in words: a text is why they come through Spark."""
    if isinstance(way, str):
        return f"rows come through Spark: {way}"
    return BY_NAME
