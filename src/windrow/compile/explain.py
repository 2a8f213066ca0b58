"""Plans as text: what runs, what is kept, and why it was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType

from windrow.compile.choose_maintenance import FoldingCost, alternatives
from windrow.compile.choose_phantoms import COMBINE, can_share
from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.compile.explain_changes import explain_changes
from windrow.compile.explain_choices import ScheduleCosts, choice_lines, schedule_line
from windrow.compile.explain_joined import joined_lines, look_up_lines
from windrow.compile.explain_rows import row_space_lines, row_state_line
from windrow.compile.explain_stages import explain_stages, feeds_of, made_lines
from windrow.compile.explain_summary import summary
from windrow.compile.keep_rows import PARTIALS_FIRST, Figures, Keeping
from windrow.compile.nest_windows import nest_windows
from windrow.language import duration_sql
from windrow.language.durations import UNITS_US
from windrow.plan.bind.typing import type_name
from windrow.plan.memory import size_text
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.emission import CORRECTED
from windrow.plan.nodes.kept import kept_as
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan, texts_in
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.timing import Timing
from windrow.plan.windows.parts import NestedWindow, level_of
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.time_window import TimeWindow
from windrow.plan.windows.uneven import CalendarWindow, CumulateWindow

MOST_WINDOWS = 20
"""So many windows and queries of a space are told one by one."""


def explain_plans(
    plans: Sequence[StagePlan],
    shards: int,
    keeping: Keeping = PARTIALS_FIRST,
    figures: Mapping[str, Figures] = MappingProxyType({}),
    ways: Mapping[str, str] = MappingProxyType({}),
    schedules: ScheduleCosts | None = None,
) -> str:
    """The text of all that runs: for each stream its scan, for each space its panes, for each query its results.

    `figures` are what is measured, and `ways` how rows come from their files, by stream; `schedules` knows what each
    would cost. It begins with a summary in three lines.
    """
    texts = ["\n".join(summary(plans))]
    for plan in plans:
        staged = explain_stages(plan, plans)
        texts += ["\n".join(staged)] if staged else []
        for number, stage in enumerate(plan.stages):
            made = feeds_of(plan, number)
            for stream in (stream for stream in stage.streams if stream.spaces or stream.stream in made):
                first = [f"stream {stream.stream}: one scan, {_timing(stream)}"]
                first += [f"  {ways[stream.stream]}"] if stream.stream in ways else []
                first = made_lines(plan, stream, number) if stream.stream in made else first
                known = figures.get(stream.stream, Figures())
                texts.append(_stream(first, stream, shards, keeping, known, schedules))
        texts += [explain_changes(plan, shards, ways)] if any(stage.changing for stage in plan.stages) else []
    return "\n\n".join(texts)


def _stream(
    first: list[str],
    plan: StreamPlan,
    shards: int,
    keeping: Keeping,
    figures: Figures,
    schedules: ScheduleCosts | None,
) -> str:
    if not plan.spaces:
        return "\n".join(first)
    lines, users = first, _users(plan)
    lines += [f"  evaluates {text}{_once(users.get(text, []))}" for text in plan.expressions]
    lines += joined_lines(plan)
    for space in plan.spaces:
        kept = keeping.lines(space, figures) if isinstance(space, Space) else []
        lines += _space(space, plan.queries_of(space), shards, kept, plan.wanted)
        if isinstance(space, Space):
            lines.append(schedule_line(space.windows, plan.wanted.get("schedule"), schedules))
    lines += choice_lines(plan)
    lines.append(f"  a shard keeps at most {size_text(plan.memory_bytes)} in memory; the rest is read when needed")
    return "\n".join([*lines, *_phantoms(plan)])


def _users(plan: StreamPlan) -> dict[str, list[str]]:
    """The queries that need each row expression."""
    users: dict[str, list[str]] = {}
    for query in plan.queries:
        for text in set(texts_in(query.where, query.keys, query.window, query.partials)):
            users.setdefault(text, []).append(query.name)
    return users


def _once(queries: Sequence[str]) -> str:
    return f", once for {_named(queries)}" if len(queries) > 1 else ""


def _named(names: Sequence[str]) -> str:
    """Some names, and how many more there are.

    >>> _named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _timing(plan: StreamPlan) -> str:
    if plan.timing is Timing.ARRIVAL:
        return "timed by arrival; a heartbeat where a window ends"
    lateness = f"lateness {duration_sql(plan.lateness_us) if plan.lateness_us else 'none'}"
    if plan.correct_us:
        lateness += f"; windows are answered again, as - and +, up to {duration_sql(plan.correct_us)} after their end"
    if plan.ahead_us is not None:
        lateness += f"; events more than {duration_sql(plan.ahead_us)} ahead of their batch are rejected"
    return lateness + ("; an idle clock, which goes on while no event comes" if plan.timing is Timing.IDLE else "")


def _space(
    space: Space | RowSpace, queries: Sequence[QueryPlan], shards: int, kept: Sequence[str], wanted: Wanted
) -> list[str]:
    names = [query.name for query in queries]
    asked = {wish for query in queries if (wish := query.choose.over(wanted).get("maintenance")) is not None}
    shared = f", shared by {len(names)} queries: {_named(names)}" if len(names) > 1 else ""
    lines = [f"  space {space.name}{shared}"]
    if len(names) > 1:
        lines.append("    shared because they count the same rows by the same keys: an event is folded once for all")
    if space.rows is not None:
        lines.append(f"    rows: of {space.stream} joined with {', '.join(space.rows.tables)}")
    if space.where is not None:
        lines.append(f"    where {space.where}")
    keys = ", ".join(f"{key.sql} {type_name(key.type)}" for key in space.keys)
    spread = f"spread over {shards} shards by hash" if shards > 1 else "in one shard"
    lines.append(f"    group by {keys}: {spread}" if keys else "    one group, in one shard")
    lines += _rows(space, shards, asked) if isinstance(space, RowSpace) else _shared(space, queries, kept, asked)
    told = [query for query in queries if not isinstance(query.window, NestedRows)]
    nested = [query for query in queries if isinstance(query.window, NestedRows)]
    for query in nested:
        level = level_of(query.window, space.window)  # type: ignore[arg-type, union-attr]
        lines.append(f"    level {level} of query {query.name}")
        told += [query] if level == 0 else []  # told once
    for query in told[:MOST_WINDOWS]:
        lines += _query(query)
    if len(queries) > MOST_WINDOWS:
        lines.append(f"    and {len(queries) - MOST_WINDOWS} more queries")
    return lines


def _shared(space: Space, queries: Sequence[QueryPlan], kept: Sequence[str], asked: Set[str]) -> list[str]:
    """How windows over time are folded from the panes that they share."""
    lines = [f"    panes: {_panes(space)}", "    each pane keeps, for each group:"]
    lines += [f"      {partial}{_once(_asking(partial, space, queries))}" for partial in space.partials]
    lines += [f"    {line}" for line in kept]
    shown, cuts = space.folds[:MOST_WINDOWS], space.cuts
    sharing = Counter(partial for fold in space.folds for partial in fold.partials)
    chains = nest_windows({fold.window: fold.partials for fold in space.folds})
    again = any(query.emit == CORRECTED for query in queries)
    for fold in shown:
        ways = [
            alternatives(p, fold.window, cuts, chains.get((fold.window, p)), sharing[p], again=again)
            for p in fold.partials
        ]
        lines += [f"    window {window_text(fold.window)}", *_ways(fold.partials, fold.maintenance, ways, asked)]
    if len(space.folds) > len(shown):
        lines.append(f"    and {len(space.folds) - len(shown)} more windows, folded likewise")
    lines.append("    state: panes in blocks of RocksDB; a batch touches the newest, the leaving, and O(log) of a tree")
    return lines


def _rows(space: RowSpace, shards: int, asked: Set[str]) -> list[str]:
    """How windows over rows are folded."""
    ways = [row_alternatives(partial, space.window) for partial in space.partials]
    lines = [*row_space_lines(space, shards), "    each row keeps, for each group:"]
    return [*lines, *_ways(space.partials, space.maintenance, ways, asked), f"    state: {row_state_line(space)}"]


def _asking(partial: Partial, space: Space, queries: Sequence[QueryPlan]) -> list[str]:
    """The queries that need what a pane keeps."""
    return [query.name for query in queries if partial in {kept_as(asked, space.keeps) for asked in query.partials}]


def _ways(
    partials: Sequence[Partial],
    maintenance: Sequence[str],
    alternatives: Sequence[list[FoldingCost]],
    asked: Set[str],
) -> list[str]:
    """How partials are folded, those that are alike together, what the other ways would have cost, what was asked."""
    lines = []
    by_way: dict[str, list[int]] = {}
    for number, chosen in enumerate(maintenance):
        by_way.setdefault(chosen, []).append(number)
    for chosen, alike in by_way.items():
        ways = alternatives[alike[0]]
        best = next(way for way in ways if way.name == chosen)
        others = "; ".join(str(way) for way in ways if way.name != chosen)
        costs = f"{best.merges:g} merges a slide" + ("" if best.worst is None else f", {best.worst:g} at worst")
        lines.append(f"      {', '.join(str(partials[number]) for number in alike)}")
        told = ", as asked for" if best.shown in asked else ""
        lines.append(f"        {chosen if chosen == 'held' else best.shown}{told}: {best.why}; {costs}")
        lines += [f"        others: {others}"] if others else []
        vain = [wish for wish in sorted(asked) if wish not in {way.shown for way in ways}]
        lines += [f"        {wish} was asked for, and cannot be right here" for wish in vain]
    return lines


def _phantoms(plan: StreamPlan) -> list[str]:
    """Which spaces may be fed from one finer grouping."""
    able = [space for space in plan.time_spaces if can_share(space)]
    if len(able) < 2:
        return []
    lines = [
        f"  {len(able)} spaces may be fed from finer entries that no query asked for, by the keys of several of them"
    ]
    lines.append("    and the classes of rows that their predicates tell apart: done for those of a chunk of events")
    lines.append(f"    whose entries, counted there, times {COMBINE:g} are fewer than the events that it saves to fold")
    return lines


def _query(query: QueryPlan) -> list[str]:
    drawn = {f"key_{i}": key.sql for i, key in enumerate(query.keys)}
    drawn |= {f"agg_{i}": f"{agg.answer} of {agg.partial}" for i, agg in enumerate(query.aggregates)}
    lines = [f"    query {query.name}: at each slide, a row for each group in the window"]
    if isinstance(query.window, NestedWindow):
        lines += _levels(query.window)
    if query.about_us is not None:
        lines.append(f"      slides every {duration_sql(query.window.slide_us or 0)}, {_rounded(query)}")
    lines += [f"      {name} = {meaning}" for name, meaning in drawn.items()]
    lines += look_up_lines(query)
    if query.having is not None:
        lines.append(f"      having {query.having}")
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


def _rounded(query: QueryPlan) -> str:
    asked = duration_sql(query.about_us or 0)
    if query.about_us == query.window.slide_us:
        return f"as asked: no other slide is within 5 % of {asked}"
    return f"rounded from about {asked} to a slide that is scheduled already"


def window_text(window: TimeWindow) -> str:
    """A window as it is written.

    >>> window_text(TimeWindow(range_us=None, slide_us=60_000_000))
    '[RANGE UNBOUNDED SLIDE 1 MINUTE]'
    """
    reach = "UNBOUNDED" if window.range_us is None else duration_sql(window.range_us)
    offset = f" OFFSET {duration_sql(window.offset_us)}" if window.offset_us else ""
    if isinstance(window, CalendarWindow) and window.ends is not None and window.starts is not None:
        reach, slide = _by_calendar(window.starts.back_months, window.starts.back_days), window.ends
        offset = f" OFFSET {duration_sql(slide.offset_us)}" if slide.offset_us else ""
        return f"[RANGE {reach} SLIDE {_by_calendar(slide.months, slide.days)}{offset} IN '{slide.zone}']"
    if isinstance(window, CumulateWindow):
        return f"[RANGE {reach} SLIDE {duration_sql(window.slide_us)}{offset} CUMULATE]"
    if window.is_early:
        return f"{window_text(window.closes)[:-1]} EMIT EVERY {duration_sql(window.slide_us)}], while it fills"
    return f"[RANGE {reach} SLIDE {duration_sql(window.slide_us)}{offset}]"


def _by_calendar(months: int, days: int) -> str:
    """
    >>> _by_calendar(12, 0), _by_calendar(0, 7)
    ('1 YEAR', '1 WEEK')
    """
    if not months:
        return duration_sql(days * UNITS_US["DAY"])
    unit, length = ("YEAR", months // 12) if months % 12 == 0 else ("MONTH", months)
    return f"{length} {unit}{'' if length == 1 else 'S'}"


def _panes(space: Space) -> str:
    """How time is cut."""
    if len(space.windows) > 1:
        cuts = space.cuts
        slides = sorted({comb.slide_us for comb in cuts.combs})
        shown = ", ".join(duration_sql(slide) for slide in slides[:4]) + (", ..." if len(slides) > 4 else "")
        return f"cut at the edges of {len(space.windows)} windows, which lie every {shown}, not at a common divisor"
    window = space.windows[0]
    if window.calendars:
        return f"about {space.cuts.panes_in(window.range_us or 0)} a window, cut where days begin"
    if window.range_us is None:
        return f"{duration_sql(window.slide_us)} each, folded once and let go"
    count, rest = space.cuts.panes_in(window.range_us), window.range_us % window.slide_us
    if rest == 0:
        return f"{count} a window, {duration_sql(window.slide_us)} each"
    gap = "; events in the first of the two lie in no window" if window.has_gaps else ""
    return f"{count} a window, by turns {duration_sql(window.slide_us - rest)} and {duration_sql(rest)}{gap}"
