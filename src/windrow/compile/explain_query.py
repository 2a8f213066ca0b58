"""A query over a space as text: what its answers are made of, and which of them are told."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.coarsen_panes import has_levels, nests, panes_pay, stays_fine
from windrow.compile.explain_joined import look_up_lines
from windrow.compile.explain_windows import window_text
from windrow.language import duration_sql
from windrow.plan.nodes.ordering import place_column
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.parts import NestedWindow


def query_lines(query: QueryPlan) -> list[str]:
    """What stands in its columns, and what HAVING, ORDER BY and LIMIT leave of its rows."""
    drawn = {f"key_{i}": key.sql for i, key in enumerate(query.keys)}
    drawn |= {f"agg_{i}": f"{agg.answer} of {agg.partial}" for i, agg in enumerate(query.aggregates)}
    lines = [f"    query {query.name}: at each slide, a row for each group in the window"]
    if isinstance(query.window, NestedWindow):
        lines += _levels(query.window)
    if query.about_us is not None:
        lines.append(f"      slides every {duration_sql(query.window.slide_us or 0)}, {_rounded(query)}")
    if query.asked is not None and query.clusters is not None:
        lines.append(f"      clusters = {query.asked.method}, from the summary of {query.clusters.method}")
    lines += [f"      {name} = {meaning}" for name, meaning in drawn.items()]
    lines += look_up_lines(query)
    if query.having is not None:
        lines.append(f"      having {query.having}")
    lines += [f"      {place_column(i)} = {ranking.text}" for i, ranking in enumerate(query.rankings)]
    lines += [] if query.qualify is None else [f"      qualify {query.qualify}"]
    lines += [f"      {output.name} = {output.sql}" for output in query.outputs]
    if query.order:
        terms = ", ".join(term.sql + (" DESC" if term.descending else "") for term in query.order)
        limit = f", of each window the first {query.limit}" if query.limit is not None else ""
        lines.append(f"      order by {terms}{limit}")
    return lines


def _levels(window: NestedWindow) -> list[str]:
    """Which windows nest, and how their slides go together."""
    assert window.levels is not None
    lines = [f"      level {number} = {window_text(part)}" for number, part in enumerate(window.levels.windows)]
    if window.every_us is not None:
        lines.append(f"      and what has come so far of each, every {duration_sql(window.every_us)}")
    together = "a level slides with all finer ones" if window.levels.divide else "slides do not divide each other"
    return [*lines, f"      {together}: an event is folded once, into panes that are cut at the edges of all levels"]


def granule_lines(space: Space, queries: Sequence[QueryPlan], *, again: bool) -> list[str]:
    """What becomes of the panes that finer windows have left; nothing, where windows do not nest."""
    asked, levels = {fold.window: fold.partials for fold in space.folds}, has_levels(queries)
    finer, widest = ("levels", "level") if levels else ("windows", "window")
    if space.coarsens:
        reach = max(window.range_us or 0 for window in space.windows)
        kept = f"about {space.by_age.panes_in(reach)} instead of {space.cuts.panes_in(reach)}"
        return [f"    granules: panes that finer {finer} have left are merged at the edges of wider ones, {kept}"]
    if space.unbounded or not (levels or nests(asked)):
        return []
    why = stays_fine(asked, again=again) or panes_pay(asked)
    return [f"    granules: panes stay as they are until the widest {widest} leaves them: {why}"]


def _rounded(query: QueryPlan) -> str:
    asked = duration_sql(query.about_us or 0)
    if query.about_us == query.window.slide_us:
        return f"as asked: no other slide is within 5 % of {asked}"
    return f"rounded from about {asked} to a slide that is scheduled already"
