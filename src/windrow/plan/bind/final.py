"""EMIT FINAL: each row once, when nothing that comes later can change it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import error_at
from windrow.plan.bind.waits import life_of
from windrow.plan.nodes.changes import Distinct, Group, Intersect, Minus, Node, Ranked, Scan, SetNode, Stamp, Union
from windrow.plan.nodes.joins import Join


def final_plan(plan: Node, place: exp.Expr, text: str) -> Node:
    """The plan in which rows without a partner come when none can come any more.

    Rows of streams and pairs are final as they come. What a later row could take back is refused if it could do so
    for ever.
    """
    match plan:
        case Group():
            raise _never(place, text, "a group changes with every row that comes", "give the windows a SLIDE")
        case Minus():
            raise _never(place, text, "a row of MINUS goes when one like it comes", "LEFT ANTI JOIN, or NOT EXISTS")
        case Ranked():
            raise _never(place, text, "a row that comes may be before all others", "give the windows a SLIDE")
        case Stamp():
            raise _never(place, text, "the edges of windows come anew at every slide", "leave EMIT FINAL out")
    final = plan.with_children([final_plan(child, place, text) for child in plan.children])
    if isinstance(final, Join) and final.kind != "inner":
        _check_waits(final, place, text)
        return replace(final, final=True)
    joins_above = isinstance(final, Join | Distinct | Intersect) or (isinstance(final, SetNode) and not _is_all(final))
    if joins_above and any(_ends_late(child) for child in final.children):
        message = "a row that comes when its window is over meets no other, and EMIT FINAL would have it so"
        raise error_at(place, message, text, "a.ts BETWEEN b.ts - INTERVAL 10 MINUTES AND b.ts, without windows")
    return final


def _is_all(plan: SetNode) -> bool:
    return isinstance(plan, Union) and plan.all


def _check_waits(join: Join, place: exp.Expr, text: str) -> None:
    """Refuse rows that wait for a partner for ever."""
    between = join.between
    waits = {"left": between and between.left_waits_us, "right": between and between.right_waits_us}
    asked = {"right": ("right",), "full": ("left", "right"), "semi": ()}.get(join.kind, ("left",))
    for side in asked:
        if waits[side] is None and life_of(join.left if side == "left" else join.right) is None:
            why = f"a partner for a row of the {side} side may come at any time"
            raise _never(place, text, why, "give it a window, or a.ts BETWEEN b.ts - INTERVAL 10 MINUTES AND b.ts")


def _ends_late(plan: Node) -> bool:
    """Whether rows come that have waited for a partner until their window was over."""
    own = isinstance(plan, Join) and plan.final and plan.kind != "semi" and _has_ends(plan)
    return own or any(_ends_late(child) for child in plan.children)


def _has_ends(plan: Node) -> bool:
    return (isinstance(plan, Scan) and plan.range_us is not None) or any(_has_ends(child) for child in plan.children)


def _never(place: exp.Expr, text: str, why: str, way_out: str) -> QueryError:
    return error_at(place, f"no row of this query is ever final: {why}", text, way_out)
