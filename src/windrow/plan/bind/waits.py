"""How long rows of a join have to wait for others, and what would keep rows for ever."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from windrow.language import error_at, expression_sql, parse_expression
from windrow.plan.catalog import Stream
from windrow.plan.nodes.changes import Distinct, Group, Node, Project, Ranked, Scan, Select, SetNode, Stamp, Union
from windrow.plan.nodes.joins import Between, Join, TableJoin

_TAKEN_BACK = "a join with rows that an outer join may take back"


@dataclass(frozen=True, slots=True)
class Waits:
    """Tells when the rows of plans over some streams come; an event counts from `late_us` after its time on."""

    streams: Mapping[str, Stream]
    late_us: int

    def between(self, left: Node, right: Node, names: tuple[str, str], low: int | None, high: int | None) -> Between:
        """The condition with how long rows of both sides wait, if that is known and no row is taken back.

        A left row meets right rows up to `low` before its instant, and these come as late as their own instants tell.
        """
        mine, theirs = names
        left_waits = right_waits = None
        if appends(left) and appends(right):
            left_late, right_late = self.lag(left, mine), self.lag(right, theirs)
            left_waits = None if low is None or right_late is None else right_late - low
            right_waits = None if high is None or left_late is None else left_late + high
        return Between(mine, theirs, low, high, left_waits, right_waits)

    def lag(self, plan: Node, column: str) -> int | None:
        """By how much a row comes after the instant in `column`, at most; None if that is not known."""
        match plan:
            case Scan():
                time = self.streams[plan.stream].time
                own = plan.texts[plan.names.index(column)]
                return self.late_us if time is not None and _same(own, time) else None
            case Project(child=child, outputs=outputs):
                node = parse_expression(next(output.sql for output in outputs if output.name == column))
                return self.lag(child, node.name) if isinstance(node, exp.Column) else None
            case Select(child=child) | TableJoin(child=child):
                return self.lag(child, column) if column in child.names else None
            case Union(left=left, right=right, all=True):
                both = (self.lag(left, column), self.lag(right, right.names[left.names.index(column)]))
                return None if None in both else max(both)  # type: ignore[type-var]
            case Join(between=Between() as between):
                return self._lag_of_pair(plan, between, column)
        return None

    def _lag_of_pair(self, join: Join, between: Between, column: str) -> int | None:
        """A pair comes with the later of both, and a row that has none when it has waited."""
        if column == between.left:
            own, waits = self.lag(join.left, column), between.left_waits_us
        elif column == between.right:
            own, waits = self.lag(join.right, column), between.right_waits_us
        else:
            return None
        return None if own is None or waits is None else max(own, waits + 1)


def _same(one: str, other: str) -> bool:
    """Whether two texts are the same expression; names may be in backticks or not."""
    first, second = (expression_sql(parse_expression(text)).replace("`", "").lower() for text in (one, other))
    return first == second


def appends(plan: Node) -> bool:
    """Whether no row is ever taken back, but that its time is over."""
    match plan:
        case Scan():
            return True
        case Group() | Distinct() | Ranked() | Stamp():
            return False
        case Union(all=every) if not every:
            return False
        case SetNode() if not isinstance(plan, Union):
            return False
        case Join(kind=kind, final=final) if kind != "inner" and not final:
            return False
    return all(appends(child) for child in plan.children)


def life_of(plan: Node) -> int | None:
    """How long a row of a plan is there at most; None if for ever, or if that is not known."""
    if isinstance(plan, Scan):
        return plan.range_us
    return life_of(plan.children[0]) if isinstance(plan, Project | Select | TableJoin) else None


def refuse_endless(plan: Node, unwindowed: Mapping[str, exp.Expr], slides: bool, text: str) -> None:
    """Refuse streams without a window whose rows a step would keep for ever; `unwindowed` says where they stand."""
    found = _keeps_for_ever(plan, unwindowed)
    for name in unwindowed if slides else ():
        found = found or (name, "a window that slides")
    if found is not None:
        name, step = found
        place, time, of = unwindowed[name], "ts", "stream"
        if name.startswith("#"):  # no name of a user: the answers of a sub-query, or a stream without duplicates
            of, time = (of, time) if " " in name else ("the stream of answers", "window_end")
            name = place.alias_or_name
        message = f"{of} {name!r} needs a window here: without one {step} would keep its rows for ever"
        near = f"{name}.{time} BETWEEN other.{time} - INTERVAL 10 MINUTES AND other.{time}"
        way_out = f"{name} [RANGE 10 MINUTES], or WINDOW 10 MINUTES, or in a join ON {near}"
        if step == _TAKEN_BACK:
            way_out = f"{name} [RANGE 10 MINUTES], and a window behind each of the others"
        elif step != "the join":
            way_out = f"{name} [RANGE 10 MINUTES], or {name} [RANGE UNBOUNDED], which keeps all that there was"
        raise error_at(place, message, text, way_out)


def _keeps_for_ever(plan: Node, streams: Collection[str]) -> tuple[str, str] | None:
    """The first of these streams, which have no window, whose rows a step would keep for ever, and which step it is."""
    for child in plan.children:
        found = _keeps_for_ever(child, streams)
        if found is not None:
            return found
    held: list[tuple[Node, str]] = []
    if isinstance(plan, Join) and plan.between is not None:
        waits = (plan.between.left_waits_us, plan.between.right_waits_us)
        step = "the join" if all(map(appends, plan.children)) else _TAKEN_BACK
        held = [(side, step) for side, wait in zip(plan.children, waits) if wait is None]
    elif isinstance(plan, Join):
        held = [(side, "the join") for side in plan.children]
    elif isinstance(plan, Group | Distinct | Ranked | Stamp | SetNode) and not (isinstance(plan, Union) and plan.all):
        words = {Group: "GROUP BY", Distinct: "DISTINCT", Ranked: "an order"}
        held = [(side, words.get(type(plan), type(plan).__name__.upper())) for side in plan.children]
    for side, step in held:
        for name in streams_in(side):
            if name in streams:
                return name, step
    return None


def streams_in(plan: Node) -> list[str]:
    """The streams that a plan reads."""
    own = [plan.stream] if isinstance(plan, Scan) else []
    return own + [name for child in plan.children for name in streams_in(child)]
