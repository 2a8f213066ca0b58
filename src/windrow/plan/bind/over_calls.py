"""OVER of other functions than rankings, of the rows of a window: the call, its frame, and what type it makes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from windrow.errors import AggregateError
from windrow.language import error_at
from windrow.language.durations import DurationError, microseconds
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import ALIASES, NAMES, unwrapped
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import type_name
from windrow.plan.nodes.aggregates import aggregate
from windrow.plan.nodes.over_calls import Frame

FOLDED = ("COUNT", "SUM", "AVG", "MIN", "MAX", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
"""Aggregates that a frame can be of; with COUNT_IF and BOOL_... as what they are of these."""

RANKINGS = ("row_number", "rank", "dense_rank")
SHIFTS = ("lag", "lead")
EDGES = ("first_value", "last_value", "nth_value")
SHARES = ("ntile", "percent_rank", "cume_dist")
KNOWN = (*SHIFTS, *EDGES, *SHARES, *(name.lower() for name in FOLDED))
_OTHERS = {"first": "first_value", "last": "last_value", "any_value": "first_value"}


@dataclass(frozen=True, slots=True)
class Called:
    """A call of OVER as it is written: its arguments are expressions over the rows."""

    function: str
    arguments: tuple[exp.Expr, ...]
    number: int
    ignore_nulls: bool

    def type_of(self, types: list[pa.DataType], place: exp.Expr, text: str) -> pa.DataType:
        """What it makes of arguments of these types."""
        if self.function == "ntile":
            return pa.int32()
        if self.function in SHARES:
            return pa.float64()
        if self.function in SHIFTS:
            if len(types) == 2 and not _fits(types[1], types[0]):
                what = f"{self.function.upper()} of {type_name(types[0])} with a default that is {type_name(types[1])}"
                raise error_at(place, what, text, f"CAST(... AS {type_name(types[0])})")
            return types[0]
        if self.function in EDGES:
            return types[0]
        try:
            return aggregate(self.function.upper(), "x", types[0]).type
        except AggregateError as error:
            raise error_at(place, f"{self.function.upper()} {error}", text, "CAST(... AS DOUBLE)") from None


def _fits(default: pa.DataType, type: pa.DataType) -> bool:
    """Whether each value of a default is one of the values that LAG finds, too."""
    if default == type or pa.types.is_null(default):
        return True
    if pa.types.is_floating(type):
        return bool(pa.types.is_integer(default) or pa.types.is_floating(default))
    return bool(pa.types.is_integer(type) and pa.types.is_integer(default) and default.bit_width <= type.bit_width)


def call_of(over: exp.Window, scope: Scope) -> Called | None:
    """What is called, if it can be asked of the rows of a window."""
    node = unwrapped(over.this)
    function = _name_of(node)
    if function is None:
        return None
    told = {type(part) for part in over.this.walk()}
    ignore = exp.IgnoreNulls in told or (isinstance(node, exp.AnyValue) and exp.RespectNulls not in told)
    if ignore and function not in (*SHIFTS, *EDGES):
        raise error_at(over, f"{function.upper()} passes over NULLs anyway", scope.text, "leave IGNORE NULLS out")
    if function in ("percent_rank", "cume_dist"):
        refuse_arguments(over, node, function, scope)
    elif function != "ntile":
        _check_one_value(over, node, function, scope)
    condition = over.this.find(exp.Filter)
    arguments = _arguments(node, function)
    if isinstance(node.this, exp.Distinct):
        return None
    if condition is not None:
        if function.upper() not in FOLDED:
            raise error_at(over, f"FILTER with {function.upper()}", scope.text, "CASE WHEN ... THEN x END")
        case = exp.Case(ifs=[exp.If(this=condition.expression.this.copy(), true=arguments[0])])
        arguments = [case]
    return Called(function, tuple(arguments), _number_of(node, function, over, scope), ignore)


def refuse_arguments(over: exp.Window, call: exp.Expr, function: str, scope: Scope) -> None:
    """Refuse what stands in the brackets of a function that takes nothing."""
    if any(call.args.values()):
        name = function.upper()
        raise error_at(over, f"{name} takes no argument", scope.text, f"{name}() OVER (PARTITION BY k ORDER BY x)")


def _check_one_value(over: exp.Window, call: exp.Expr, function: str, scope: Scope) -> None:
    """Refuse calls of none or of several values; what LAG and NTH_VALUE are told besides is none of them."""
    given = call.expressions if isinstance(call, exp.Anonymous) else [call.this, *call.expressions]
    if len(given) == 1 and given[0] is not None:
        return
    hint = (
        "FIRST_VALUE(x) IGNORE NULLS"
        if function in EDGES
        else "COUNT(CASE WHEN x IS NOT NULL AND y IS NOT NULL THEN 1 END)"
    )
    raise error_at(over, f"{function.upper()} OVER takes one value", scope.text, hint)


def is_of_frames(over: exp.Window) -> bool:
    """Whether what is called is an aggregate that the rows of a window are asked for when it ends."""
    node = unwrapped(over.this)
    return (_name_of(node) or "").upper() in FOLDED and not isinstance(node.this, exp.Distinct)


def name_of(node: exp.Expr) -> str:
    """The function that is called, in small letters, whatever stands around the call."""
    node = unwrapped(node)
    name = node.sql_name() if isinstance(node, exp.Func) else ""
    return (node.name if isinstance(node, exp.Anonymous) else name).lower()


def name_of_call(over: exp.Window) -> str:
    """The function as it is written."""
    distinct = "DISTINCT in " if isinstance(unwrapped(over.this).this, exp.Distinct) else ""
    return distinct + name_of(over.this).upper()


def _name_of(node: exp.Expr) -> str | None:
    name = _OTHERS.get(name_of(node), name_of(node))
    if name in (*SHIFTS, *EDGES, *SHARES):
        return name
    known = NAMES.get(type(node)) or ALIASES.get(name.upper())
    return known.lower() if known in FOLDED else None


def _arguments(node: exp.Expr, function: str) -> list[exp.Expr]:
    if function in SHARES:
        return []
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    first = given[0].copy()
    if isinstance(first, exp.Star):
        first = exp.true()
    default = node.args.get("default")
    return [first] if default is None else [first, default.copy()]


def _number_of(node: exp.Expr, function: str, over: exp.Window, scope: Scope) -> int:
    given = {"ntile": "this"}.get(function, "offset")
    found = node.args.get(given) if function in (*SHIFTS, "nth_value", "ntile") else None
    if found is None and function in ("ntile", "nth_value"):
        raise error_at(over, f"{function.upper()} takes a number", scope.text, "NTILE(4), NTH_VALUE(x, 2)")
    if found is None:
        return 1
    least = 0 if function in SHIFTS else 1
    if not isinstance(found, exp.Literal) or found.is_string or not found.this.isdigit() or int(found.this) < least:
        raise error_at(over, f"{function.upper()} takes a whole number from {least}", scope.text, "LAG(x, 2), NTILE(4)")
    return int(found.this)


def frame_of_rows(over: exp.Window, function: str, scope: Scope) -> Frame:
    """The frame of a call; without one, all rows up to those that are equal in the order, or all that there are."""
    spec, order = over.args.get("spec"), over.args.get("order")
    name, text = function.upper(), scope.text
    if function in (*SHIFTS, *SHARES):
        if spec is not None:
            raise error_at(over, f"{name} has no frame", text, "leave ROWS or RANGE out")
        if order is None:
            raise error_at(over, f"{name} needs an order", text, "OVER (PARTITION BY k ORDER BY ts)")
        return Frame()
    if spec is None:
        return Frame() if order is None else Frame(False, None, 0)
    kind = spec.args["kind"]
    if kind not in ("ROWS", "RANGE"):
        raise not_yet(over, f"a frame in {kind}", text, "ROWS, or RANGE")
    if order is None and kind == "ROWS":
        raise error_at(over, "a frame in rows needs an order", text, "OVER (ORDER BY ts ROWS 9 PRECEDING)")
    start = _edge_of(spec.args.get("start"), spec.args.get("start_side"), kind, over, scope)
    end = spec.args.get("end")
    last = 0 if end is None else _edge_of(end, spec.args.get("end_side"), kind, over, scope)
    if kind == "RANGE" and any((start, last)) and (order is None or len(order.expressions) != 1):
        raise error_at(over, "a RANGE of differences has one term of ORDER BY", text, "ORDER BY ts RANGE ...")
    if start is not None and last is not None and start > last:
        raise error_at(over, "a frame that ends before it begins", text, "BETWEEN 1 PRECEDING AND 1 FOLLOWING")
    return Frame(kind == "ROWS", start, last)


def _edge_of(edge: exp.Expr | str | None, side: str | None, kind: str, over: exp.Window, scope: Scope) -> int | None:
    """How far an edge is from the row, before it negative; None without bound."""
    if edge == "CURRENT ROW":
        return 0
    if not isinstance(edge, exp.Expr):
        return None
    sign = -1 if side == "PRECEDING" else 1
    if isinstance(edge, exp.Interval) and kind == "RANGE":
        try:
            return sign * microseconds(edge.this.name, edge.args["unit"].name)
        except DurationError as error:
            raise error_at(edge, error.message, scope.text, error.hint) from None
    if isinstance(edge, exp.Literal) and not edge.is_string and edge.this.isdigit():
        return sign * int(edge.this)
    way_out = "ROWS 9 PRECEDING, RANGE INTERVAL 1 HOUR PRECEDING"
    raise error_at(over, "a frame is so many rows, or a whole number or an interval before", scope.text, way_out)


def check_ordered_by(frame: Frame, types: list[pa.DataType], over: exp.Expr, text: str, interval: bool) -> None:
    """Refuse differences of what has none."""
    if frame.in_rows or not any((frame.start, frame.end)):
        return
    if interval != pa.types.is_timestamp(types[0]) or not (interval or pa.types.is_integer(types[0])):
        message = "a RANGE is so many seconds of a time, or a difference of whole numbers"
        raise error_at(over, message, text, "ORDER BY ts RANGE INTERVAL 1 HOUR PRECEDING, or ROWS 9 PRECEDING")


def with_interval(over: exp.Window) -> bool:
    spec = over.args.get("spec")
    return spec is not None and spec.find(exp.Interval) is not None
