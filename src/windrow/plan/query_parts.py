"""A query in parts that people can compare: its window, which rows it counts by what, and what it makes of them."""

from __future__ import annotations

from windrow.plan.change_names import asked_text
from windrow.plan.name_parts import quoted, span
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.state_names import aggregate_text, counted_rows, partial_text
from windrow.plan.window_names import window_text
from windrow.plan.windows.row_window import CountWindow

WINDOW, ROWS, AGGREGATES, SHOWN, LATENESS = "window", "rows", "aggregates", "select list", "lateness"
OPERATORS, BELOW = "operators", "stream below"
ALL_STATE_STAYS = {SHOWN, LATENESS}
"""Who changes only these goes on with all state it had."""


def query_parts(query: AnyQuery, lateness_us: dict[str, int]) -> dict[str, str]:
    """What a query is made of, in words that stay the same as long as it does; `lateness_us` is that of each stream."""
    late = ", ".join(f"{quoted(stream)} {span(lateness_us.get(stream, 0))}" for stream in query.sources)
    parts = {LATENESS: late}
    for stream, below in query.below:
        own = query_parts(below, lateness_us)
        parts[f"{BELOW} {quoted(stream)}"] = "; ".join(f"{name} {text}" for name, text in own.items())
    if isinstance(query, ChangePlan):
        return parts | {OPERATORS: f"{asked_text(query)}; {query.emit}"}
    rows = counted_rows(query.stream, query.rows, query.where, query.keys)
    if isinstance(query.window, CountWindow):  # state is of one window
        parts |= {ROWS: f"{window_text(query.window)} {rows}"}
    else:
        parts |= {WINDOW: window_text(query.window), ROWS: f"totals of {rows}" if query.window.grows else rows}
    clusters = [] if query.clusters is None else [partial_text(query.clusters)]
    clusters += [] if query.asked is None else [f"as {query.asked.method}"]
    return parts | {
        AGGREGATES: "; ".join([*map(aggregate_text, query.aggregates), *clusters]),
        SHOWN: _shown(query),
    }


def _shown(query: AnyQuery) -> str:
    assert not isinstance(query, ChangePlan)
    text = ", ".join(f"{output.sql} as {quoted(output.name)}" for output in query.outputs)
    text += "" if query.having is None else f" having {query.having}"
    text += "".join(f" order by {term.sql}{' desc' if term.descending else ''}" for term in query.order)
    text += "" if query.limit is None else f" limit {query.limit}"
    text += "".join(f" {ranking.text}" for ranking in query.rankings)
    text += "" if query.qualify is None else f" qualify {query.qualify}"
    text += "".join(f", each row's {item.sql}" for item in query.items)
    return f"{text} {query.emit}"
