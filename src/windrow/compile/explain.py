"""Plans as text: what runs, what is kept, and why it was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from windrow.compile.choose_phantoms import COMBINE, can_share
from windrow.compile.explain_changes import explain_changes
from windrow.compile.explain_choices import ScheduleCosts, choice_lines, schedule_line
from windrow.compile.explain_joined import joined_lines
from windrow.compile.explain_space import once, space_lines
from windrow.compile.explain_stages import explain_stages, feeds_of, made_lines
from windrow.compile.explain_summary import summary
from windrow.compile.figures import Figures, figures_for
from windrow.compile.keep_rows import PARTIALS_FIRST, Keeping
from windrow.language import duration_sql
from windrow.plan.memory import size_text
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import Space
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan, texts_in
from windrow.plan.timing import Timing


def explain_plans(
    plans: Sequence[StagePlan],
    shards: int,
    keeping: Keeping = PARTIALS_FIRST,
    figures: Mapping[str, Figures] = MappingProxyType({}),
    ways: Mapping[str, str] = MappingProxyType({}),
    schedules: ScheduleCosts | None = None,
) -> str:
    """The text of all that runs: for each stream its scan, for each space its panes, for each query its results.

    `figures` are what is measured, by run, and `ways` how rows come from their files, by stream; `schedules`
    knows what each would cost. It begins with a summary in three lines.
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
                known = figures_for(plan.queries[0], figures)
                texts.append(_stream(first, stream, shards, keeping, known, schedules))
        if any(stage.changing for stage in plan.stages):
            texts.append(explain_changes(plan, shards, ways, figures_for(plan.queries[0], figures)))
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
    lines += [f"  evaluates {text}{once(users.get(text, []))}" for text in plan.expressions]
    lines += joined_lines(plan)
    for space in plan.spaces:
        kept = keeping.lines(space, figures) if isinstance(space, Space) else []
        lines += space_lines(space, plan.queries_of(space), shards, kept, plan.wanted)
        if isinstance(space, Space | RowPanes):
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


def _timing(plan: StreamPlan) -> str:
    shed = ""
    if plan.shed is not None:
        shed = f"; rows are left out by their hash while the delay is above {duration_sql(plan.shed.above_us)}"
    if plan.timing is Timing.ARRIVAL:
        return "timed by arrival; a heartbeat where a window ends" + shed
    lateness = f"lateness {duration_sql(plan.lateness_us) if plan.lateness_us else 'none'}"
    if plan.correct_us:
        lateness += f"; windows are answered again, as - and +, up to {duration_sql(plan.correct_us)} after their end"
    if plan.ahead_us is not None:
        lateness += f"; events more than {duration_sql(plan.ahead_us)} ahead of their batch are rejected"
    idle = ""
    if plan.timing is Timing.IDLE:
        idle = f"; an idle clock, which goes on while no event comes{plan.clock}"
    return lateness + idle + shed


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
