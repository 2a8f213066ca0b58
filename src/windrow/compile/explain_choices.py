"""What a scan has one of, as text: its schedules, the index of its clusters, and which blocks leave memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from windrow.compile.choices import CHOICES, OWN
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.time_window import TimeWindow

ScheduleCosts = Callable[[Sequence[int], Sequence[int]], tuple[str, dict[str, float]]]
"""By slides and offsets: the schedule that is taken, and what each would cost, in tests an instant."""


def choice_lines(plan: StreamPlan) -> list[str]:
    """The ways of a stream that are not of one space alone, each with its cost and those of the others."""
    lines = []
    if any(query.clusters is not None for query in plan.queries):
        lines.append(_line(plan, "index", "each context has what fits it"))
    lines.append(_line(plan, "eviction", "distance"))
    for choice in ("phantoms", "classes"):
        wish = plan.wanted.get(choice)
        lines += [] if wish is None else [f"  {choice}: {wish}, as asked for"]
    return lines


def schedule_line(windows: Sequence[TimeWindow], wish: str | None, costs: ScheduleCosts | None) -> str:
    """Who says which windows of a space slide, what it costs, and what the others would."""
    if costs is None:
        asked = None if wish is None else f"{wish}, as asked for"
        return f"    schedule: {asked or 'the grouped check or the calendar, by the cost of the slides'}"
    taken, found = costs([window.slide_us for window in windows], [window.offset_us for window in windows])
    runs = wish or taken
    others = ", ".join(f"{name} {tests:g}" for name, tests in found.items() if name != runs)
    cost = f" {found[runs]:g}" if runs in found else ""
    why = "as asked for" if wish is not None else "the cheapest"
    if wish is None and found[runs] > min(found.values()):
        why = "as long slides have: one more with little in common would make the others look at every instant between"
    return f"    schedule: {runs}{cost}, {why}; tests an instant of the others: {others}"


def _line(plan: StreamPlan, choice: str, usual: str) -> str:
    wish = plan.wanted.get(choice)
    ways = {way.name: way.cost for way in CHOICES if way.choice == choice and way.name != OWN}
    runs = wish or usual
    cost = f", {ways[runs]}" if runs in ways else ""
    others = "; ".join(f"{name}, {text}" for name, text in ways.items() if name != runs)
    return f"  {choice}: {runs}{', as asked for' if wish is not None else ''}{cost}; others: {others}"
