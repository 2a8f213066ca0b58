"""ROW_NUMBER and RANK of the events of a stream in order of their times: how many came before, so no row is kept."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.compile.chosen_events import chosen_events
from windrow.compile.over_frames import parts_of
from windrow.language import Query, parse_expression
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.over_calls import name_of
from windrow.plan.catalog import Catalog

_COUNTED = {
    "row_number": "COUNT(*) OVER (ROWS UNBOUNDED PRECEDING)",
    "rank": "COUNT(*) OVER (RANGE UNBOUNDED PRECEDING) - COUNT(*) OVER (RANGE CURRENT ROW) + 1",
}


def over_numbers(query: Query, catalog: Catalog) -> Query:
    """The query with a count for each number that events of a stream without a window have by their times.

    >>> from windrow.expressions.local_engine import LocalEngine
    >>> from windrow.language import expression_sql, parse_query
    >>> from windrow.plan.catalog import Stream
    >>> import pyarrow as pa
    >>> clicks = Stream("clicks", pa.schema({"ts": pa.timestamp("us"), "user": pa.string()}), "ts")
    >>> catalog = Catalog(LocalEngine(), streams={"clicks": clicks})
    >>> query = parse_query("SELECT user FROM clicks QUALIFY ROW_NUMBER() OVER (PARTITION BY user ORDER BY ts) = 1")
    >>> print(expression_sql(over_numbers(query, catalog).tree.args["qualify"]))
    QUALIFY (COUNT(*) OVER (PARTITION BY user ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) = 1
    """
    if not any(name_of(over.this) in _COUNTED for over in query.tree.find_all(exp.Window)):
        return query
    tree = query.tree.copy()
    for select in tree.find_all(exp.Select):
        clause = select.args.get("from_")
        if clause is None or select.args.get("joins") or select.args.get("group"):
            continue
        events = chosen_events(clause.this, tree, catalog)
        if events is None or not events.time:
            continue
        for part in parts_of(select):
            for over in list(part.find_all(exp.Window)):
                if over.parent_select is select and _by_time(over, events.time):
                    over.replace(_counted(over))
    return replace(query, tree=tree)


def _by_time(over: exp.Window, time: str) -> bool:
    """Whether a number is by the times of the events, the first one with 1."""
    order = over.args.get("order")
    term = order.expressions[0] if order is not None and len(order.expressions) == 1 else None
    named = over.args.get("alias") is not None or over.args.get("spec") is not None or any(over.this.args.values())
    if term is None or named or name_of(over.this) not in _COUNTED or term.args.get("desc"):
        return False
    return isinstance(term.this, exp.Column) and term.this.name == time


def _counted(over: exp.Window) -> exp.Expr:
    made = exp.paren(parse_expression(_COUNTED[name_of(over.this)]))
    for count in made.find_all(exp.Window):
        count.set("partition_by", [key.copy() for key in over.args.get("partition_by") or []])
        count.set("order", over.args["order"].copy())
        placed_as(count, over)
    return placed_as(made, over)
