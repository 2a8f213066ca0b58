"""OVER as it is written: which function is called, over which frame, and what of it cannot be answered."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import error_at
from windrow.language.durations import DurationError, microseconds
from windrow.plan.bind.over_calls import RANKINGS, name_of
from windrow.plan.bind.refuse import not_yet

EVER = 2**62
"""As many rows, or microseconds, before as a frame has that begins with the first event."""


def parts_of(tree: exp.Select) -> list[exp.Expr]:
    """Where OVER may stand: in the select list and in QUALIFY."""
    return [node for node in (*tree.selects, tree.args.get("qualify")) if node is not None]


def frames_in(node: exp.Expr) -> list[exp.Window]:
    """The OVERs that are no rankings."""
    return [over for over in node.find_all(exp.Window) if name_of(over.this) not in RANKINGS]


def check_over(over: exp.Window, time: str, keys: list[exp.Expr], text: str) -> None:
    """Refuse what is not in order of the events' times, or by other keys than the rest."""
    if name_of(over.this) in ("lag", "lead") and isinstance(over.this, exp.IgnoreNulls | exp.RespectNulls):
        nulls = "IGNORE" if isinstance(over.this, exp.IgnoreNulls) else "RESPECT"
        what = f"{name_of(over.this).upper()} with {nulls} NULLS"
        hint = "LAST(x) IGNORE NULLS OVER (... ROWS 9 PRECEDING), or a sub-query in FROM without the NULLs"
        raise not_yet(over, what, text, hint)
    order = over.args.get("order")
    if order is None and over.args.get("spec") is None:
        message = "OVER without an order is of all rows of its partition, and those of a stream never end"
        raise error_at(
            over, message, text, f"ORDER BY {time} for those up to each event, or a window behind the stream"
        )
    terms = order.expressions if order is not None else []
    one = terms[0].this if len(terms) == 1 else None
    if not isinstance(one, exp.Column) or one.name != time or terms[0].args.get("desc"):
        message = f"OVER with a frame is in order of the events' times, which is {time!r} here"
        raise error_at(over, message, text, f"OVER (PARTITION BY k ORDER BY {time} ROWS 9 PRECEDING)")
    if (over.args.get("partition_by") or []) != keys:
        raise error_at(over, "all OVER of a query have the same PARTITION BY", text, "two queries")
    for key in keys:
        if not isinstance(key, exp.Column):
            raise not_yet(key, "PARTITION BY of more than columns", text, "PARTITION BY k")


def frame_of(over: exp.Window, text: str) -> tuple[str, int]:
    """Whether a frame is in rows or in time, and how many rows, or microseconds, before its own row it begins.

    One may begin with the first event, which is EVER before: so does OVER without a frame, up to those of the same
    instant, as SQL has it.
    """
    spec = over.args.get("spec")
    if name_of(over.this) in ("lag", "lead"):
        if spec is not None:
            raise error_at(over, f"{name_of(over.this).upper()} has no frame", text, "leave ROWS or RANGE out")
        return "ROWS", 0
    if spec is None:
        return "RANGE", EVER
    end = spec.args.get("end")
    start, side = spec.args.get("start"), spec.args.get("start_side")
    if end is not None and spec.args.get("end_side") == "PRECEDING":
        message = "a frame that ends before the row itself"
        raise not_yet(over, message, text, "end it with CURRENT ROW and take the row out: SUM(x) OVER (...) - x")
    if (end is not None and end != "CURRENT ROW") or side == "FOLLOWING":
        message = "a frame that reaches forward would be answered when what follows has come, which may be never"
        raise error_at(over, message, text, "end it with CURRENT ROW; LEAD(x) is answered with the next row")
    if start == "CURRENT ROW":
        return spec.args["kind"], 0
    if not isinstance(start, exp.Expr):
        return spec.args["kind"], EVER
    if spec.args["kind"] == "ROWS":
        if not isinstance(start, exp.Literal) or start.is_string or not start.this.isdigit():
            raise error_at(start, "a frame has a whole number of rows", text, "ROWS 9 PRECEDING")
        return "ROWS", int(start.this)
    if spec.args["kind"] != "RANGE" or not isinstance(start, exp.Interval):
        raise error_at(over, "a frame is in ROWS, or in a RANGE of time", text, "RANGE INTERVAL 1 HOUR PRECEDING")
    try:
        return "RANGE", microseconds(start.this.name, start.args["unit"].name)
    except DurationError as error:
        raise error_at(start, error.message, text, error.hint) from None


def shift_of(over: exp.Window, text: str) -> tuple[str, int]:
    """LAG or LEAD, and how many rows before or after the own one it asks for."""
    offset = over.this.args.get("offset")
    if offset is None:
        return name_of(over.this), 1
    if not isinstance(offset, exp.Literal) or offset.is_string or not offset.this.isdigit():
        raise error_at(over, f"{name_of(over.this).upper()} takes a whole number of rows", text, "LAG(x, 2)")
    return name_of(over.this), int(offset.this)
